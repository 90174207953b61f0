import {
  CRASH_TEXT,
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
 * @param hint What the host knows of a failed host call, for people, where the source's error says nothing else.
 */
export function resultOf(
  message: ResultMessage,
  limits: RunLimits,
  usage: RunUsage,
  hint: () => string | undefined,
): RunResult {
  if (message.error !== null) {
    const detail = message.error.kind === "thrown" ? hint() : undefined;
    return {
      ok: false,
      error: detail === undefined ? message.error : { detail, ...message.error },
      ...usage,
    };
  }
  if (message.body.length > limits.maxResponseBytes) {
    return {
      ok: false,
      error: { kind: "result", message: `response >${limits.maxResponseBytes} bytes` },
      ...usage,
    };
  }
  return { ok: true, bytes: new Uint8Array(message.body), ...usage };
}

/** The error of a run whose child ended without a verdict. */
export function errorOfDeath(death: Death): RunError {
  switch (death) {
    case "timeout":
      return { kind: "timeout", message: TIMEOUT_TEXT };
    case "memory":
    case "crash-memory":
      return { kind: "memory", message: CRASH_TEXT, detail: "The source used more memory than it may." };
    default:
      return { kind: "sandbox", message: CRASH_TEXT, detail: "The sandbox process ended without an answer." };
  }
}
