import type { UsageDay } from "../../../../client/index.ts";

/** Sums the coin charged on each network, in wei. The coins of different networks are different currencies, so there is no total. */
export function sumCoinCharged(
  days: readonly Pick<UsageDay, "network" | "coinWei">[],
): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { network, coinWei } of days) {
    if (network === null || coinWei === "0") continue;
    sums.set(network, (sums.get(network) ?? 0n) + BigInt(coinWei));
  }
  return sums;
}
