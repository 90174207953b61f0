import type { Hex } from "viem";
import type { ChainEvent } from "../chainlink/events.ts";
import type { Facts } from "./openRequest.ts";
import { shareOut } from "./usage.ts";

/** What a request paid for its words; nothing where that isn't known. */
export type WordCharge = Pick<Facts, "wordJuels" | "wordWei">;

/** Finds what an item of a VRF request paid. An item that shares no proof is the first one. */
export type WordCharges = (vrfRequestId: Hex, item: number) => WordCharge;

/**
 * Reads from events, those of a whole transaction or block, what VRF requests paid. The presets that share one take equal parts: the
 * consumer emits an event for each of them, before the coordinator says what was paid.
 *
 * @param sharersOf requests that share a word that is joined with others, and that the consumer says nothing of. Default: 1.
 */
export function readWordCharges(
  events: readonly (ChainEvent | undefined)[],
  sharersOf: (vrfRequestId: Hex) => number = () => 1,
): WordCharges {
  const items = new Map<Hex, number>();
  for (const event of events)
    if (event?.name === "PresetSent" || event?.name === "PresetRefused")
      items.set(event.vrfRequestId, Math.max(items.get(event.vrfRequestId) ?? 0, event.item + 1));
  const charges = new Map<Hex, readonly WordCharge[]>();
  for (const event of events) {
    if (event?.name !== "RandomWordsFulfilled") continue;
    const { requestId, paymentJuels, paymentWei } = event;
    const parts = shareOut(paymentWei ?? paymentJuels, items.get(requestId) ?? sharersOf(requestId)).map(
      String,
    );
    charges.set(
      requestId,
      parts.map((part) => (paymentWei === undefined ? { wordJuels: part } : { wordWei: part })),
    );
  }
  return (vrfRequestId, item) => charges.get(vrfRequestId)?.[item] ?? {};
}
