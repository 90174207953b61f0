import type { Hex } from "viem";
import { findEvent, type EncodedLog } from "../chainlink/events.ts";
import { createBoundedMap } from "../lib/boundedMap.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";

/** Requests for words whose payers are remembered: a contract that asks for what nobody answers must not fill the memory. */
const MAX_PAYERS = 10_000;

/** Finds the dapps whose subscriptions are charged, whoever made the request: a dapp's own contracts spend the same balance. */
export interface Charges {
  /** Returns the ids of the dapps that pay for answers among a block's logs. Blocks are read in order. */
  read(logs: readonly EncodedLog[]): readonly string[];
}

/** Creates the reader of one network. @param list returns its dapps' subscriptions. */
export function createCharges(list: () => readonly StoredSubscription[]): Charges {
  /** Subscriptions by the newest requests for words: VRF v2 doesn't name them with the answer. */
  const payers = createBoundedMap<Hex, bigint>(MAX_PAYERS);

  return {
    read(logs) {
      const words = new Set<bigint>();
      const functions = new Set<bigint>();
      for (const event of logs.map(findEvent)) {
        if (event?.name === "RandomWordsRequested") payers.set(event.requestId, event.subId);
        else if (event?.name === "RandomWordsFulfilled") {
          const payer = event.subId ?? payers.get(event.requestId);
          if (payer !== undefined) words.add(payer);
        } else if (event?.name === "RequestProcessed") functions.add(event.subscriptionId);
      }
      if (words.size === 0 && functions.size === 0) return [];
      return list()
        .filter((one) => words.has(one.vrfSubscriptionId) || functions.has(one.functionsSubscriptionId))
        .map(({ dappId }) => dappId);
    },
  };
}
