import type { Hex } from "viem";
import type { ChainEvent, ChainEventOf } from "../../chainlink/events.ts";
import { divideEvenly } from "../divideEvenly.ts";
import type { OpenRequest, RequestFacts } from "../openRequest.ts";

/** What a request paid for its words; empty if unknown. */
export type WordCharge = Pick<RequestFacts, "wordJuels" | "wordWei">;

/** Returns what a request paid for the word of a VRF request. Presets that share one pay equal parts. */
export type WordCharges = (vrfRequestId: Hex, request: Pick<OpenRequest, "progress">) => WordCharge;

/** Reads what VRF requests paid from the events of a whole transaction or block. */
export function readWordCharges(events: readonly (ChainEvent | undefined)[]): WordCharges {
  const paid = new Map<Hex, ChainEventOf<"RandomWordsFulfilled">>();
  for (const event of events) if (event?.name === "RandomWordsFulfilled") paid.set(event.requestId, event);
  return (vrfRequestId, { progress: { item = 0, items = 1 } }) => {
    const payment = paid.get(vrfRequestId);
    if (payment === undefined) return {};
    const { paymentJuels, paymentWei } = payment;
    const part = divideEvenly(paymentWei ?? paymentJuels, items)[item];
    if (part === undefined) return {};
    return paymentWei === undefined ? { wordJuels: String(part) } : { wordWei: String(part) };
  };
}
