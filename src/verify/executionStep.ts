import type { VerificationStep } from "../api/types.ts";
import {
  decodeArgs,
  decodeFunctionsRequest,
  REQUEST_DATA_VERSION,
  withBeaconWord,
  type FunctionsRequest,
} from "../chainlink/functionsRequest.ts";
import { messageOf } from "../lib/errors.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { truncateUtf8 } from "../lib/truncateUtf8.ts";
import { toWord } from "../lib/uint256.ts";
import type { Hex } from "viem";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import type { RunSource, SourceRun, Touch } from "./runSource.ts";
import { describeResult } from "./describeResult.ts";
import { findMachineName } from "./machineName.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/** Runs of a source: two that differ show that it is not deterministic. */
const RUNS = 2;
const TOUCH_NAMES: Readonly<Record<Touch, string>> = {
  time: "the time",
  randomness: "randomness",
  http: "HTTP",
  imports: "imported modules",
};

export interface ExecutionOptions {
  /** Runs a source; it gets no network here, whatever the nodes allowed. */
  readonly run: RunSource;
  /** Longest result that the network's nodes report, in bytes. */
  readonly maxResponseBytes: number;
  /** Fairness key: callers take turns when runs wait. */
  readonly caller: string;
  /** What is left of the time for runs, in ms; once it is spent, no further source is started. */
  readonly budget: { leftMs: number };
}

/** What a report delivered: a result or the text of an error, the other one empty. */
interface Delivered {
  readonly result: Hex;
  readonly error: Hex;
}

/** Checks the result of a function request, see {@link checkExecution}. */
export async function checkFunctionExecution(
  request: Pick<OracleEventOf<"OracleRequest">, "data" | "dataVersion" | "requestId">,
  delivered: Delivered,
  options: ExecutionOptions & {
    /** Of the round of drand that the request waited for. */
    readonly signature?: Uint8Array | undefined;
  },
): Promise<VerificationStep> {
  let parsed: FunctionsRequest;
  try {
    parsed = decodeFunctionsRequest(fromHexText(request.data));
  } catch (error) {
    return notApplicableStep("execution", `there is nothing to run: ${messageOf(error)}`);
  }
  const { codeLocation, language, secrets } = parsed;
  if (request.dataVersion !== REQUEST_DATA_VERSION || codeLocation !== 0 || language !== 0)
    return notApplicableStep("execution", "the request is not for inline JavaScript");
  if (secrets !== undefined)
    return notApplicableStep("execution", "the source needs secrets that only the nodes can decrypt");
  const { signature } = options;
  const { requestId } = request;
  const bytesArgs =
    signature === undefined ? parsed.bytesArgs : withBeaconWord(parsed.bytesArgs, { signature, requestId });
  return await checkExecution({ ...parsed, bytesArgs }, delivered, options);
}

/**
 * Checks the result of a preset, see {@link checkExecution}.
 *
 * @param preset.source UTF-8
 * @param delivered absent without a report: the step then tells the only result that can follow from the word
 */
export async function checkPresetExecution(
  preset: { readonly source: Hex; readonly args: Uint8Array; readonly word: bigint },
  delivered: Delivered | undefined,
  options: ExecutionOptions,
): Promise<VerificationStep> {
  const source = new TextDecoder().decode(fromHexText(preset.source));
  let args: readonly string[];
  try {
    args = decodeArgs(preset.args);
  } catch (error) {
    return notApplicableStep("execution", `there is nothing to run: ${messageOf(error)}`);
  }
  return await checkExecution({ source, args, bytesArgs: [toWord(preset.word)] }, delivered, options);
}

/**
 * Runs a source again, with its arguments, and compares the result with the one that the report delivered.
 *
 * A source that used HTTP, imports, time or randomness can't be reproduced, whatever the result: one that returns "LOSE" when its HTTP
 * request fails does so here too, where every request fails, and would thus confirm an operator who let it fail. A source that used none
 * of them in the repeat behaves the same wherever it runs as the nodes run it, so a different result is a failure, unless the source can
 * tell the machine or the environment from a node's. A step that is not applicable leaves the result unconfirmed.
 */
async function checkExecution(
  { source, args, bytesArgs }: Pick<SourceRun, "source" | "args" | "bytesArgs">,
  delivered: Delivered | undefined,
  options: ExecutionOptions,
): Promise<VerificationStep> {
  const found = new Map<string, Delivered>();
  const touched = new Set<Touch>();
  let isCut = false;
  let isApproximate = false;
  for (let i = 0; i < RUNS && !isCut; i += 1) {
    if (options.budget.leftMs <= 0)
      return notApplicableStep(
        "execution",
        "running the sources again took too long; name this request by its id",
      );
    const { maxResponseBytes, caller, budget } = options;
    const startMs = performance.now();
    const run = await options.run({ source, args, bytesArgs, maxResponseBytes, caller });
    budget.leftMs -= performance.now() - startMs;
    if (run.kind === "skipped") return notApplicableStep("execution", `not repeated here: ${run.reason}`);
    for (const one of run.touched) touched.add(one);
    isApproximate ||= run.isApproximate === true;
    isCut = run.kind === "cut";
    const given: Delivered | undefined =
      run.kind === "result"
        ? { result: toHexText(run.bytes), error: "0x" }
        : run.kind === "error"
          ? { result: "0x", error: toHexText(truncateUtf8(run.message, maxResponseBytes)) }
          : undefined;
    if (given !== undefined) found.set(describe(given), given);
  }
  const reason = reasonAgainst({ touched, isCut, isUnsteady: found.size > 1 });
  // The results of such runs say nothing about the report.
  if (reason !== undefined)
    return notApplicableStep("execution", `the result can't be reproduced: ${reason}`);
  const differing = isApproximate
    ? "it runs here in an environment that it can tell from a node's; `tyche verify` decides"
    : machineReason(source);
  if (delivered === undefined) return foretell([...found.values()][0], differing);
  const expected = describe(delivered);
  const compared = [{ what: "result of the source", expected, found: [...found.keys()].join(" or ") }];
  if (found.has(expected))
    return compareStep(
      "execution",
      `the source ${delivered.error === "0x" ? "gives this result" : "fails with this error"} again, in ${RUNS} of ${RUNS} runs`,
      compared,
    );
  const different = "the source gives another result than the report";
  if (differing === undefined) return failedStep("execution", different, compared);
  return notApplicableStep("execution", `${different}; ${differing}`, compared);
}

/** Tells the result that a report can only have, before there is one. */
function foretell(given: Delivered | undefined, differing: string | undefined): VerificationStep {
  const result = given?.error === "0x" ? describeResult(given.result) : given && describe(given);
  const detail = `with this word, the source gives ${result}`;
  return notApplicableStep(
    "execution",
    differing === undefined ? detail : `${detail} here, but ${differing}`,
  );
}

function machineReason(source: string): string | undefined {
  const name = findMachineName(source);
  return name === undefined ? undefined : `it uses ${name}, which may differ from machine to machine`;
}

/** Says why runs of a source can't be compared with the nodes' run; `undefined` if they can. */
function reasonAgainst({
  touched,
  isCut,
  isUnsteady,
}: {
  readonly touched: ReadonlySet<Touch>;
  readonly isCut: boolean;
  readonly isUnsteady: boolean;
}): string | undefined {
  if (touched.size > 0) {
    const names = [...touched].map((one) => TOUCH_NAMES[one]).join(" and ");
    return `the source used ${names}, so its result can depend on more than its arguments`;
  }
  if (isCut) return "the source ran into a limit of time or memory here";
  return isUnsteady ? "the source gives another result in every run" : undefined;
}

/** Describes all bytes of both; the text is only for the reader. */
function describe({ result, error }: Delivered): string {
  if (error === "0x") return result;
  const text = `error ${error}, ${JSON.stringify(new TextDecoder().decode(fromHexText(error)))}`;
  return result === "0x" ? text : `${result} and ${text}`;
}
