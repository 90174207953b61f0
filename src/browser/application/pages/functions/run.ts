import {
  ApiError,
  type DryRunView,
  FunctionFailedError,
  type FunctionResult,
  type LabelParams,
  type RequestView,
  type SimulateParams,
  type SimulateResult,
  type TycheClient,
} from "../../../../client/index.ts";
import { findDryRun, findLineOf } from "../../../../text/failure.ts";
import type { Draft } from "./draft.ts";

/** What the panel under the editor shows. */
export type Run =
  | { readonly kind: "none" }
  | {
      readonly kind: "dry";
      readonly result?: DryRunResult;
      /** Whether the draft was meant to run on chain; a source that fails here is not sent. */
      readonly isCheck?: boolean;
    }
  | {
      readonly kind: "chain";
      readonly dappId: string;
      readonly network: string;
      readonly id?: string;
      readonly states: RequestView["timeline"];
      readonly result?: FunctionResult;
      /** Line of the source that threw the error, from 1, as far as it is known. */
      readonly line?: number | undefined;
    }
  | { readonly kind: "problem"; readonly message: string; readonly details: readonly string[] };

/** What a dry run gave, as far as it is known: of a request that failed its dry run, earlier versions kept only the error. */
export type DryRunResult = Pick<SimulateResult, "success" | "result" | "parsedResult" | "err"> &
  Partial<SimulateResult>;

/** Where a run failed, to be marked in the editor. */
export interface Failure {
  readonly line: number;
  readonly column?: number | undefined;
  readonly message: string;
}

/** Runs a draft off chain; yields what to show as it becomes known. */
export async function* dryRun(
  client: TycheClient,
  call: Draft & Pick<SimulateParams, "secretValues">,
  signal: AbortSignal,
): AsyncGenerator<Run> {
  yield { kind: "dry" };
  yield { kind: "dry", result: await client.simulate(call, { signal }) };
}

/**
 * Runs a draft on its network; yields every state as it arrives, then the result. Throws a {@link FunctionFailedError} with what the dry run
 * found if that refuses the source.
 */
export async function* runOnChain(
  client: TycheClient,
  { dappId, ...call }: Draft & LabelParams & { readonly dappId: string },
  signal: AbortSignal,
): AsyncGenerator<Run> {
  let run: Run & { readonly kind: "chain" } = { kind: "chain", dappId, network: call.network, states: [] };
  yield run;
  const request = await client.submit.runFunction(call, { signal, dryRunsFirst: true });
  run = { ...run, id: request.id };
  for await (const event of request.stream({ signal })) {
    run =
      event.type === "state"
        ? { ...run, states: [...run.states, event] }
        : { ...run, result: event.result, line: findLineOf(call, event.result.err)?.number };
    yield run;
  }
}

/** Describes an error for display. A source that failed the dry run is shown as its result. */
export function describeFailedCall(error: unknown): Run {
  if (error instanceof FunctionFailedError && error.id === undefined) {
    const { message, console, consoleTruncated, details, line, column } = error;
    const { timeMs, memoryBytes = 0, httpRequests = 0 } = error;
    const place = line === undefined || column === undefined ? {} : { line, column };
    const measured = timeMs === undefined ? {} : { timeMs, memoryBytes, httpRequests };
    const captured = { console, consoleTruncated, details, ...place, ...measured };
    return { kind: "dry", isCheck: true, result: { ...NOTHING, err: message, ...captured } };
  }
  const message = error instanceof Error ? error.message : String(error);
  const rest = error instanceof ApiError ? error.details.filter((one) => !message.includes(one.message)) : [];
  const details = rest.map(({ path, message: text }) => (path === "" ? text : `${path.slice(1)}: ${text}`));
  return { kind: "problem", message, details };
}

/** Returns what came of a function's request, as if it had just been run. */
export function runOf({ id, dappId, network, params, timeline, outcome, error, dryRun }: RequestView): Run {
  if (error !== null) {
    const { reason, ...place } = findDryRun(error.message) ?? {};
    return reason === undefined
      ? { kind: "problem", message: error.message, details: [] }
      : { kind: "dry", isCheck: true, result: { ...NOTHING, err: reason, ...place, ...dryRun } };
  }
  if (outcome === null || !("parsedResult" in outcome) || "vrfv2Hash" in outcome) return { kind: "none" };
  const { source } = params as { readonly source: string };
  const line = findLineOf({ source }, outcome.err)?.number;
  return { kind: "chain", dappId, network, id, states: timeline, result: outcome, line };
}

/** Returns what came of a call that its dry run refused. */
export function runOfRefused(run: DryRunView): Run {
  return { kind: "dry", isCheck: true, result: { ...NOTHING, ...run } };
}

/** Returns the position of a failure, if the run knows one. */
export function findFailure(run: Run): Failure | undefined {
  if (run.kind === "chain" && run.result !== undefined && run.line !== undefined)
    return { line: run.line, message: run.result.err };
  if (run.kind !== "dry" || run.result?.line === undefined) return undefined;
  const { line, column, err } = run.result;
  return { line, column, message: err };
}

const NOTHING = { success: false, result: "0x", parsedResult: "" } as const;
