import type { SubscriptionBalances } from "../api/types.ts";
import { readByNetwork, type SubscribedNetwork } from "./readByNetwork.ts";

/** Balances of a dapp on one network. */
export type NetworkBalances = Omit<SubscriptionBalances, "network">;

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
