import type { Hex } from "viem";
import { readByNetwork, type SubscribedNetwork } from "./readByNetwork.ts";

/** Which of a dapp's two subscriptions list a contract as consumer on chain. */
export interface ChainConsumer {
  readonly isOnVrf: boolean;
  readonly isOnFunctions: boolean;
}

/**
 * Reads from the chains which contracts are consumers of a dapp's subscriptions, by network and checksummed address, including our
 * PresetConsumer; see {@link readByNetwork}.
 */
export async function readChainConsumers(
  networks: ReadonlyMap<string, SubscribedNetwork<"readConsumers">>,
  dappId: string,
): Promise<ReadonlyMap<string, ReadonlyMap<Hex, ChainConsumer>>> {
  return readByNetwork(networks, dappId, async (subscriptions, subscription) => {
    const { vrf, functions } = await subscriptions.readConsumers(subscription);
    return new Map(
      [...vrf, ...functions].map((address) => [
        address,
        { isOnVrf: vrf.includes(address), isOnFunctions: functions.includes(address) },
      ]),
    );
  });
}
