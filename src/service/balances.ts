import type { ServiceNetwork } from "./serviceNetwork.ts";

/** What a dapp's subscriptions on one network hold, in juels (1e-18 LINK), in decimal. */
export interface NetworkBalances {
  readonly vrfJuels: string;
  /** Without what is set aside for requests under way. */
  readonly functionsJuels: string;
}

/**
 * Reads from the chains what a dapp's subscriptions hold, by network. A network is absent while it doesn't serve, can't be reached, or the
 * subscriptions aren't made yet.
 */
export async function readDappBalances(
  networks: ReadonlyMap<string, ServiceNetwork>,
  dappId: string,
): Promise<ReadonlyMap<string, NetworkBalances>> {
  const entries = await Promise.all(
    [...networks].map(async ([name, network]) => {
      const subscriptions = network.desk()?.subscriptions;
      const subscription = subscriptions?.find(dappId);
      const balances =
        subscription && (await subscriptions!.readBalances(subscription).catch(() => undefined));
      if (balances === undefined) return [];
      return [
        [
          name,
          { vrfJuels: balances.vrfJuels.toString(), functionsJuels: balances.functionsJuels.toString() },
        ] as const,
      ];
    }),
  );
  return new Map(entries.flat());
}
