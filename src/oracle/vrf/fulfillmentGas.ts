import type { VrfRequest } from "./fulfillment.ts";
import type { Entry } from "../requestSet.ts";

/**
 * Gas per entry besides callback and words: checking the proof takes about 120,000, plus 10,000 for each round of hashing to the curve
 * beyond the first.
 */
const GAS_PER_ENTRY = 350_000n;
/** Gas for hashing a word and passing it to the consumer, calldata included. */
const GAS_PER_WORD = 1_000n;
const GAS_PER_TRANSACTION = 60_000n;

type VrfEntry = Entry<VrfRequest>;

/** Gas with which one entry succeeds whatever its callback uses; EIP-150 withholds one part in 64 at each of two calls. */
function gasOf({ request, gasFactor }: Pick<VrfEntry, "request" | "gasFactor">): bigint {
  const callback = (BigInt(request.callbackGasLimit) * 66n) / 64n;
  return (GAS_PER_ENTRY + callback + BigInt(request.numWords) * GAS_PER_WORD) * gasFactor;
}

/** Returns the gas limit of a transaction with these entries. */
export function gasOfFulfillment(entries: readonly Pick<VrfEntry, "request" | "gasFactor">[]): bigint {
  return entries.reduce((sum, entry) => sum + gasOf(entry), GAS_PER_TRANSACTION);
}

/** Returns how many entries from the front of a queue one transaction takes, and whether it is then full. */
export function measureFulfillment(
  queue: readonly VrfEntry[],
  maxTransactionGas: bigint,
): { count: number; full: boolean } {
  let gas = GAS_PER_TRANSACTION;
  for (const [index, entry] of queue.entries()) {
    gas += gasOf(entry);
    if (index > 0 && (gas > maxTransactionGas || entry.alone)) return { count: index, full: true };
    if (entry.alone) return { count: 1, full: true };
  }
  return { count: queue.length, full: false };
}
