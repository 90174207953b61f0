import type { OracleRequest } from "./oracleRequest.ts";
import type { Entry } from "../requestSet.ts";

/** Maximum items in one report: the coordinator copies the whole calldata for each, so its gas grows faster than linearly. */
const MAX_REPORT_ITEMS = 14;
/** Gas per item besides its callback. */
const GAS_PER_ITEM = 250_000n;
/** Gas for loading a subscription's consumers, at most 100, from storage (FunctionsRouter.fulfill, getSubscription): 2,174 each. */
const GAS_PER_SUBSCRIPTION = 225_000n;
/** Gas for checking the signatures and decoding the report. */
const GAS_PER_REPORT = 150_000n;

type FunctionsEntry = Entry<OracleRequest>;

/** Gas with which one item succeeds whatever its callback uses; EIP-150 withholds one part in 64 at each of two calls. */
function gasOf({ request, gasFactor }: FunctionsEntry): bigint {
  const callback = (BigInt(request.callbackGasLimit) * 66n) / 64n;
  return (GAS_PER_ITEM + callback + BigInt(request.gasOverheadAfterCallback)) * gasFactor;
}

function gasOfSubscriptions(entries: readonly FunctionsEntry[]): bigint {
  return BigInt(new Set(entries.map(({ request }) => request.subscriptionId)).size) * GAS_PER_SUBSCRIPTION;
}

/** Returns the gas limit of a report with these items. */
export function gasOfReport(entries: readonly FunctionsEntry[]): bigint {
  return entries.reduce((sum, entry) => sum + gasOf(entry), GAS_PER_REPORT + gasOfSubscriptions(entries));
}

/** Returns how many items from the front of a queue one report takes, and whether it is then full. */
export function measureReport(
  queue: readonly FunctionsEntry[],
  maxGas: bigint,
): { count: number; full: boolean } {
  if (queue[0]!.alone) return { count: 1, full: true };
  const next = queue.findIndex((entry) => entry.alone);
  const together = next === -1 ? queue.length : next;
  let count = Math.min(together, MAX_REPORT_ITEMS);
  while (count > 1 && gasOfReport(queue.slice(0, count)) > maxGas) count -= 1;
  return { count, full: next !== -1 || together > count || count === MAX_REPORT_ITEMS };
}
