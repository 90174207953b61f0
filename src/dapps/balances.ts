import { withDeadline } from "../lib/deadline.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** A page shows what it has by then, whatever chain hangs. */
const DEADLINE_MS = 1_500;

/** A network on which dapps have subscriptions. */
export interface SubscribedNetwork {
  /** `undefined` until the network serves. */
  pipeline(): { readonly subscriptions: Pick<Subscriptions, "find" | "readBalances"> } | undefined;
}

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
          { vrfJuels: balances.vrfJuels.toString(), functionsJuels: balances.functionsJuels.toString() },
        ] as const,
      ];
    }),
  );
  return new Map(entries.flat());
}
