import type { RunRequest, RunResult } from "../../sandbox/index.ts";
import {
  decodeFunctionsRequest,
  REQUEST_DATA_VERSION,
  type FunctionsRequest,
} from "../chain/functionsRequest.ts";
import { messageOf } from "../lib/errors.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { truncateUtf8 } from "../lib/truncateUtf8.ts";
import type { OracleEventOf } from "./contracts.ts";
import { compareStep, failedStep, notApplicableStep, type VerificationStep } from "./verification.ts";

/** Runs of a source: two that differ show that it is not deterministic. */
const RUNS = 2;
/** What may give another value each time, or needs what only the nodes had then. Asked only when a result differs. */
const IMPURE =
  /\b(Date|Temporal|Intl|performance|random|crypto|getRandomValues|randomUUID|fetch|makeHttpRequest|import|require|Deno|process|setTimeout|setInterval|memory|stack)\b/;

/** Options of {@link checkExecution}. */
export interface ExecutionOptions {
  /** Runs a source in a sandbox; sources get no network here, whatever the nodes allowed. */
  readonly run: (request: RunRequest) => Promise<RunResult>;
  /** Longest result that the network's nodes report, in bytes. */
  readonly maxResponseBytes: number;
  /** Fairness key of the sandbox. */
  readonly caller: string;
  /** Once this aborts no further source is started. */
  readonly deadline: AbortSignal;
}

/**
 * Runs the source of a request again, with its arguments, and compares with what the report delivered. A source that is not a pure
 * function of its arguments can't be checked so; that is said and is no failure.
 */
export async function checkExecution(
  request: Pick<OracleEventOf<"OracleRequest">, "data" | "dataVersion">,
  delivered: { readonly result: `0x${string}`; readonly error: `0x${string}` },
  options: ExecutionOptions,
): Promise<VerificationStep> {
  const expected = describe(delivered);
  let parsed: FunctionsRequest;
  try {
    parsed = decodeFunctionsRequest(fromHexText(request.data));
  } catch (error) {
    return notApplicableStep("execution", `there is nothing to run: ${messageOf(error)}`);
  }
  const { codeLocation, language, secrets, source, args, bytesArgs } = parsed;
  if (request.dataVersion !== REQUEST_DATA_VERSION || codeLocation !== 0 || language !== 0)
    return notApplicableStep("execution", "the request is not for inline JavaScript");
  if (secrets !== undefined)
    return notApplicableStep("execution", "the source needs secrets that only the nodes can decrypt");

  const found = new Set<string>();
  let isCut = false;
  for (let i = 0; i < RUNS && !isCut; i += 1) {
    if (options.deadline.aborted)
      return notApplicableStep(
        "execution",
        "running the sources again took too long; name this request by its id",
      );
    const { maxResponseBytes, caller } = options;
    const limits = { maxResponseBytes, maxHttpRequests: 0 };
    const run = await options.run({ source, args, bytesArgs, limits, caller, group: caller });
    isCut ||= !run.ok && ["timeout", "memory", "sandbox"].includes(run.error.kind);
    found.add(
      run.ok
        ? describe({ result: toHexText(run.bytes), error: "0x" })
        : describe({ result: "0x", error: toHexText(truncateUtf8(run.error.message, maxResponseBytes)) }),
    );
  }
  const compared = [{ what: "result of the source", expected, found: [...found].join(" or ") }];
  if (found.size === 1 && found.has(expected))
    return compareStep(
      "execution",
      `the source gives this result again, in ${RUNS} of ${RUNS} runs`,
      compared,
    );
  const reason =
    found.size > 1
      ? "the source gives another result each time"
      : isCut
        ? "the source ran into a limit of time or memory here"
        : IMPURE.exec(source)?.[0];
  if (reason === undefined)
    return failedStep("execution", "the source gives another result than the report", compared);
  const detail = reason.includes(" ")
    ? reason
    : `the source uses ${reason}, so that it may depend on more than its arguments`;
  return notApplicableStep("execution", `can't be checked again: ${detail}`, compared);
}

function describe({
  result,
  error,
}: {
  readonly result: `0x${string}`;
  readonly error: `0x${string}`;
}): string {
  return error === "0x" ? result : `error ${JSON.stringify(Buffer.from(fromHexText(error)).toString())}`;
}
