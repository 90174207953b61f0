import type { Hex } from "viem";
import { findEvent, type EncodedLog } from "../../src/chainlink/events.ts";
import { decodePresetBatch, presetRequestId } from "../../src/chainlink/presetBatch.ts";
import { decodeResults } from "../../src/chainlink/presetReport.ts";
import { fromHexText } from "../../src/lib/hex.ts";

/** Returns the ids of all presets that some logs ask for, and of those that they answer: one for each time. */
export function presetIdsOf(logs: readonly EncodedLog[]): {
  readonly requested: readonly Hex[];
  readonly answered: readonly Hex[];
} {
  const events = logs.map(findEvent);
  const ids = (vrfRequestId: Hex, items: number): Hex[] =>
    Array.from({ length: items }, (_, item) => presetRequestId(vrfRequestId, item));
  return {
    requested: events.flatMap((event) =>
      event?.name === "BatchRequested"
        ? ids(event.vrfRequestId, decodePresetBatch(event.batch).items.length)
        : [],
    ),
    answered: events.flatMap((event) =>
      event?.name === "BatchReported"
        ? ids(event.vrfRequestId, decodeResults(fromHexText(event.results)).length)
        : [],
    ),
  };
}
