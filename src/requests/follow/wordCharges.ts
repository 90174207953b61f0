import type { Hex } from "viem";
import type { ChainEvent } from "../../chainlink/events.ts";
import type { Facts } from "../openRequest.ts";
import { shareOut } from "../keep/usage.ts";

/** What a request paid for its words; empty if unknown. */
export type WordCharge = Pick<Facts, "wordJuels" | "wordWei">;

/** Returns what an item of a VRF request paid. A request that shares no proof is its first item. */
export type WordCharges = (vrfRequestId: Hex, item: number) => WordCharge;

/**
 * Reads what VRF requests paid from the events of a whole transaction or block. Presets that share a request pay equal parts:
 * the consumer emits an event for each of them before the coordinator reports the payment.
 *
 * @param sharersOf number of requests that share a joined word, for which the consumer emits no event. Default: 1.
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
