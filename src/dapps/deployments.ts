import { stringToHex, type Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import { NETWORKS, type NetworkName } from "../networks/profiles.ts";
import { findChain } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";

/** What a network's user deploys against, as the last start of the service left it. */
export interface NetworkDeployment {
  readonly chainId: number;
  /** Absent until the first start of the service, as contracts and key hash are. */
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
export async function readDeployment(store: Store, network: NetworkName): Promise<NetworkDeployment> {
  const { chainId, functions } = NETWORKS[network];
  const { donId } = functions;
  const chain = await findChain(store.db, network);
  const {
    port,
    contracts = {},
    keyHash,
  } = (chain?.deployment ?? {}) as {
    readonly port?: number;
    readonly contracts?: StackAddresses;
    readonly keyHash?: Hex;
  };
  return {
    chainId,
    ...(port === undefined ? {} : { rpcUrl: `http://127.0.0.1:${port}` }),
    contracts,
    ...(keyHash === undefined ? {} : { keyHash }),
    donId,
    donIdBytes32: stringToHex(donId, { size: 32 }),
  };
}
