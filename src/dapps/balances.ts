import { withDeadline } from "../lib/deadline.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** A page shows what has arrived by then, whichever chain hangs. */
const DEADLINE_MS = 1_500;

/** A network on which dapps have subscriptions. */
export interface SubscribedNetwork {
  /** `undefined` until the network serves. */
  pipeline(): { readonly subscriptions: Pick<Subscriptions, "find" | "readBalances"> } | undefined;
}

/** Balances of a dapp's subscriptions on one network, in decimal: LINK in juels (1e-18 LINK), coin in wei. */
export interface NetworkBalances {
  readonly vrfJuels: string;
  /** Coin on the subscription for random words; 0 before VRF v2.5. */
  readonly vrfWei: string;
  /** Excludes what is reserved for requests in flight. */
  readonly functionsJuels: string;
}

/**
 * Reads the balances of a dapp's subscriptions from the chains, by network. A network is absent while it doesn't serve or can't be
 * reached, or until the subscriptions exist.
 */
export async function readDappBalances(
  networks: ReadonlyMap<string, SubscribedNetwork>,
  dappId: string,
): Promise<ReadonlyMap<string, NetworkBalances>> {
  const entries = await Promise.all(
    [...networks].map(async ([name, network]) => {
      const subscriptions = network.pipeline()?.subscriptions;
      const subscription = subscriptions?.find(dappId);
      const balances =
        subscription &&
        (await withDeadline(subscriptions!.readBalances(subscription), DEADLINE_MS).catch(() => undefined));
      if (balances === undefined) return [];
      return [
        [
          name,
          {
            vrfJuels: balances.vrfJuels.toString(),
            vrfWei: balances.vrfWei.toString(),
            functionsJuels: balances.functionsJuels.toString(),
          },
        ] as const,
      ];
    }),
  );
  return new Map(entries.flat());
}
