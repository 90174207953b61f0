import { stringToHex, type Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainDeployment } from "../networks/network.ts";
import { findProfile } from "../networks/profiles.ts";
import { findChain } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";

/** What a network's user deploys against, as the last start of the service left it. */
export interface NetworkDeployment {
  readonly chainId: number;
  readonly title: string;
  /** Absent where the URL is the operator's own matter, and until the first start of the service, as contracts and key hash are. */
  readonly rpcUrl?: string;
  readonly contracts: Partial<StackAddresses>;
  /** Of the VRF key. */
  readonly keyHash?: Hex;
  /** Name of the oracle network that runs functions. */
  readonly donId: string;
  /** The same as contracts take it. */
  readonly donIdBytes32: Hex;
}

/** Reads what is known of a network. */
export async function readDeployment(store: Store, network: string): Promise<NetworkDeployment> {
  const chain = await findChain(store.db, network);
  const { port, contracts, keyHash, ...own } = (chain?.deployment ?? {}) as Partial<ChainDeployment>;
  const profile = findProfile(network);
  const donId = own.donId ?? profile?.functions.donId ?? "";
  return {
    chainId: own.chainId ?? profile?.chainId ?? 0,
    title: own.title ?? profile?.title ?? network,
    ...(port === undefined ? {} : { rpcUrl: `http://127.0.0.1:${port}` }),
    contracts: contracts ?? {},
    ...(keyHash === undefined ? {} : { keyHash }),
    donId,
    donIdBytes32: stringToHex(donId, { size: 32 }),
  };
}
