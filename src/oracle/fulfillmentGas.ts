import type { VrfRequest } from "./fulfillment.ts";
import type { Entry } from "./requestSet.ts";

/** Gas of one entry besides callback and words: checking the proof takes about 120,000, and 10,000 more for each round of hashing to the curve beyond the first. */
const GAS_PER_ENTRY = 350_000n;
/** Hashing a word and passing it to the consumer, calldata included. */
const GAS_PER_WORD = 1_000n;
const GAS_PER_TRANSACTION = 60_000n;

type VrfEntry = Entry<VrfRequest>;

/** Gas that lets one entry succeed whatever its callback uses; EIP-150 keeps back one part in 64 at each of two calls. */
function gasOf({ request, gasFactor }: VrfEntry): bigint {
  const callback = (BigInt(request.callbackGasLimit) * 66n) / 64n;
  return (GAS_PER_ENTRY + callback + BigInt(request.numWords) * GAS_PER_WORD) * gasFactor;
}

/** Gas of a transaction of these entries. */
export function gasOfFulfillment(entries: readonly VrfEntry[]): bigint {
  return entries.reduce((sum, entry) => sum + gasOf(entry), GAS_PER_TRANSACTION);
}

/** How many entries from the front of a queue one transaction takes, and whether it then has no room for more. */
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
