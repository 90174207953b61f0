import { stringToHex, type Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainDeployment } from "../networks/network.ts";
import { displayTitle, findProfile } from "../networks/profiles.ts";
import { findChain } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";

/** What users of a network deploy against, as of the service's last start. */
export interface NetworkDeployment {
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
