import { readByNetwork, type SubscribedNetwork } from "./readByNetwork.ts";

/** Balances of a dapp's subscriptions on one network, in decimal: LINK in juels (1e-18 LINK), coin in wei. */
export interface NetworkBalances {
  readonly vrfJuels: string;
  /** Coin on the subscription for random words; 0 before VRF v2.5. */
  readonly vrfWei: string;
  /** Excludes what is reserved for requests in flight. */
  readonly functionsJuels: string;
}

/** Reads the balances of a dapp's subscriptions from the chains, by network; see {@link readByNetwork}. */
export async function readDappBalances(
  networks: ReadonlyMap<string, SubscribedNetwork<"readBalances">>,
  dappId: string,
): Promise<ReadonlyMap<string, NetworkBalances>> {
  return readByNetwork(networks, dappId, async (subscriptions, subscription) => {
    const { vrfJuels, vrfWei, functionsJuels } = await subscriptions.readBalances(subscription);
    return {
      vrfJuels: vrfJuels.toString(),
      vrfWei: vrfWei.toString(),
      functionsJuels: functionsJuels.toString(),
    };
  });
}
