import { isCallbackFailure } from "../chainlink/failedCallbacks.ts";
import { findEvent } from "../chainlink/events.ts";
import { decodeResults } from "../chainlink/presetReport.ts";
import { fromHexText } from "../lib/hex.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";

/**
 * Says what failed in a transaction that succeeded, such as `callback failed, 2 × draw failed`; `undefined` if nothing did.
 *
 * @param logs the transaction's own, from the oracle's contracts
 */
export function describeFailures(logs: readonly RawLog[]): string | undefined {
  const events = logs.flatMap((log) => findEvent(log) ?? []);
  // A callback may have the batch contract try a proof again that was taken.
  const taken = new Set(
    events.flatMap((event) => (event.name === "RandomWordsFulfilled" ? event.requestId : [])),
  );
  const failures = events.flatMap((event): string | readonly string[] => {
    switch (event.name) {
      case "RandomWordsFulfilled":
        return event.success ? [] : "callback failed";
      case "ErrorReturned":
      case "RawErrorReturned":
        return taken.has(event.requestId) ? [] : "proof refused";
      case "RequestProcessed":
        if (isCallbackFailure(event)) return "callback failed";
        return event.err === "0x" ? [] : "function failed";
      case "RequestNotProcessed":
        return "result refused";
      case "BatchReported":
        return failedDraws(fromHexText(event.results));
      case "Refused":
        return "request refused";
      default:
        return [];
    }
  });
  const counted = [...Map.groupBy(failures, (failure) => failure)].map(([failure, { length }]) =>
    length === 1 ? failure : `${length} × ${failure}`,
  );
  return counted.length === 0 ? undefined : counted.join(", ");
}

function failedDraws(results: Uint8Array): readonly string[] {
  try {
    return decodeResults(results).flatMap(({ ok }) => (ok ? [] : "draw failed"));
  } catch {
    // The nodes signed something else.
    return [];
  }
}
