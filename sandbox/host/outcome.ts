import {
  CRASH_TEXT,
  ENDED_TEXT,
  TIMEOUT_TEXT,
  type RunError,
  type RunLimits,
  type RunResult,
  type RunUsage,
} from "../run.ts";
import type { ResultMessage } from "./messages.ts";
import type { Death } from "./worker.ts";

/**
 * The result of a run from what its child says, which is checked once more against the run's limits.
 * @param explain What the host knows of a failed run, where the source's error says nothing else.
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

/** What the host knows of a run. */
export interface Explain {
  /** Of its last host call that failed. */
  readonly hint: () => string | undefined;
  /** What its host calls under way are waiting for. */
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
        "make them, and a Uint8Array or ArrayBuffer is taken as it is."
      );
    default:
      return undefined;
  }
}

function describeTimeout({ timeoutMs }: RunLimits, { waitsFor }: Explain): string {
  const waited = waitsFor();
  if (waited === undefined) return `The source ran longer than ${timeoutMs} ms.`;
  return `The ${timeoutMs} ms of the run passed while it waited for ${waited}.`;
}

/** The error of a run whose child ended without a verdict. */
export function errorOfDeath(death: Death, limits: RunLimits, explain: Explain): RunError {
  switch (death) {
    case "timeout":
      return { kind: "timeout", message: TIMEOUT_TEXT, detail: describeTimeout(limits, explain) };
    case "memory":
    case "crash-memory":
      return { kind: "memory", message: CRASH_TEXT, detail: "The source used more memory than it may." };
    default:
      return { kind: "sandbox", message: ENDED_TEXT };
  }
}
