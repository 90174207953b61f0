import { listConsumers, listSubscriptions } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";
import type { DappDirectory, KeyView } from "./dapps.ts";
import { readDeployment, type NetworkDeployment } from "./deployments.ts";

/** What a dapp's owner needs to call the API and to build a consumer contract: the "Fetch Config Vars" view. */
export interface ConfigVars {
  readonly dappId: string;
  readonly name: string;
  readonly facilities: readonly string[];
  readonly keys: readonly KeyView[];
  readonly networks: readonly NetworkConfigVars[];
}

/** A dapp's config vars on one network. */
export interface NetworkConfigVars extends NetworkDeployment {
  readonly network: string;
  /** Decimal; absent until the service has created the subscriptions, a moment after the dapp. */
  readonly vrfSubscriptionId?: string;
  readonly functionsSubscriptionId?: string;
  /** Linked contracts, checksummed. */
  readonly consumers: readonly string[];
}

/** Collects a dapp's config vars on the given networks. Throws `not_found`. */
export async function readConfigVars(
  store: Store,
  dapps: DappDirectory,
  dappId: string,
  networks: readonly string[],
): Promise<ConfigVars> {
  const { name, facilities } = await dapps.get(dappId);
  const subscriptions = await listSubscriptions(store.db, dappId);
  return {
    dappId,
    name,
    facilities,
    keys: await dapps.keys(dappId),
    networks: await Promise.all(
      networks.map(async (network): Promise<NetworkConfigVars> => {
        const subscription = subscriptions.find((one) => one.network === network);
        const consumers = await listConsumers(store.db, dappId, network);
        return {
          network,
          ...(await readDeployment(store, network)),
          ...(subscription === undefined
            ? {}
            : {
                vrfSubscriptionId: subscription.vrfSubscriptionId.toString(),
                functionsSubscriptionId: subscription.functionsSubscriptionId.toString(),
              }),
          consumers: consumers.map((consumer) => consumer.address),
        };
      }),
    ),
  };
}
