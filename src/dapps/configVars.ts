import { listConsumers, listSubscriptions, findChain } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";
import type { DappDirectory } from "./dapps.ts";
import type { KeyView } from "./keys.ts";
import { stringToHex, type Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainDeployment } from "../networks/network.ts";
import { displayTitle, findProfile } from "../networks/profiles.ts";

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

/** What users of a network deploy against, as of the service's last start. */
interface NetworkDeployment {
  readonly chainId: number;
  readonly title: string;
  /** Absent if the operator supplies the URL, and, like contracts and key hash, until the service's first start. */
  readonly rpcUrl?: string;
  readonly contracts: Partial<StackAddresses>;
  /** Key hash of the VRF key. */
  readonly keyHash?: Hex;
  /** Name of the oracle network that runs functions. */
  readonly donId: string;
  /** The same as `bytes32`, as contracts take it. */
  readonly donIdBytes32: Hex;
}

/** Reads the deployment of a network. */
export async function readDeployment(store: Store, network: string): Promise<NetworkDeployment> {
  const chain = await findChain(store.db, network);
  const { port, contracts, keyHash, ...own } = (chain?.deployment ?? {}) as Partial<ChainDeployment>;
  const profile = findProfile(network);
  const donId = own.donId ?? profile?.functions.donId ?? "";
  return {
    chainId: own.chainId ?? profile?.chainId ?? 0,
    // Only a chain of our own has a port.
    title: displayTitle(own.title ?? profile?.title ?? network, port !== undefined),
    ...(port === undefined ? {} : { rpcUrl: `http://127.0.0.1:${port}` }),
    contracts: contracts ?? {},
    ...(keyHash === undefined ? {} : { keyHash }),
    donId,
    donIdBytes32: stringToHex(donId, { size: 32 }),
  };
}
