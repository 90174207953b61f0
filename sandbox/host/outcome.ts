import type { RunLimits } from "../limits.ts";
import {
  CRASH_TEXT,
  ENDED_TEXT,
  TIMEOUT_TEXT,
  type RunError,
  type RunResult,
  type RunUsage,
} from "../run.ts";
import type { Job } from "./job.ts";
import type { ResultMessage } from "./messages.ts";
import type { Death } from "./worker.ts";

/**
 * Creates a run's result from its child's message, which is checked again against the run's limits.
 * @param explain What the host knows about a failed run, used if the source's error has no detail.
 */
export function resultOf(
  message: ResultMessage,
  limits: RunLimits,
  usage: RunUsage,
  explain: Explain,
): RunResult {
  const error = message.error ?? tooLong(message.body, limits);
  if (error === null) return { ok: true, bytes: new Uint8Array(message.body), ...usage };
  const detail = error.detail ?? detailOf(error, limits, explain);
  return { ok: false, error: detail === undefined ? error : { ...error, detail }, ...usage };
}

/** Keeps a run's secrets out of its error, and fails a run that tried to send one where it may not go. */
export function guarded({ guard }: Pick<Job, "guard">, result: RunResult): RunResult {
  const breach = guard.breach();
  if (breach !== undefined) {
    const { console, consoleTruncated, timeMs, memoryBytes, httpRequests, touched } = result;
    const usage = { console, consoleTruncated, timeMs, memoryBytes, httpRequests, touched };
    return { ok: false, error: { kind: "thrown", ...breach }, ...usage };
  }
  if (result.ok) return result;
  const { message, detail, stack, ...error } = result.error;
  const { mask } = guard;
  return {
    ...result,
    error: {
      ...error,
      message: mask(message),
      ...(detail === undefined ? {} : { detail: mask(detail) }),
      ...(stack === undefined ? {} : { stack: mask(stack) }),
    },
  };
}

/** What the host knows about a run. */
export interface Explain {
  /** The hint of its last failed host call. */
  readonly hint: () => string | undefined;
  /** What its host calls in flight are waiting for. */
  readonly waitsFor: () => string | undefined;
}

function tooLong(body: Uint8Array, { maxResponseBytes }: RunLimits): RunError | null {
  if (body.length <= maxResponseBytes) return null;
  return { kind: "result", message: `response >${maxResponseBytes} bytes` };
}

function detailOf(error: RunError, limits: RunLimits, explain: Explain): string | undefined {
  switch (error.kind) {
    case "thrown":
      return explain.hint();
    case "timeout":
      return describeTimeout(limits, explain);
    case "result":
      if (error.message.startsWith("response >"))
        return `The result is longer than the ${limits.maxResponseBytes} bytes that this network takes.`;
      return (
        "Return bytes: Functions.encodeUint256(number), Functions.encodeInt256(number) and Functions.encodeString(text) " +
        "create them; a Uint8Array or ArrayBuffer is returned as it is."
      );
    default:
      return undefined;
  }
}

function describeTimeout({ timeoutMs }: RunLimits, { waitsFor }: Explain): string {
  const waited = waitsFor();
  if (waited === undefined) return `The source ran longer than ${timeoutMs} ms.`;
  return `The run reached its limit of ${timeoutMs} ms while it waited for ${waited}.`;
}

/** Creates the error of a run whose child ended without a verdict. */
export function errorOfDeath(death: Death, limits: RunLimits, explain: Explain): RunError {
  switch (death) {
    case "timeout":
      return { kind: "timeout", message: TIMEOUT_TEXT, detail: describeTimeout(limits, explain) };
    case "memory":
    case "crash-memory":
      return { kind: "memory", message: CRASH_TEXT, detail: "The source exceeded its memory limit." };
    default:
      return { kind: "sandbox", message: ENDED_TEXT };
  }
}
