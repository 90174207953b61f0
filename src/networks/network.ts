import type { Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { Account } from "../evm/account.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Fees } from "../evm/fees.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import type { NetworkProfile } from "./profiles.ts";

/** Who brings the words of one proving key. */
export interface VrfOperator {
  readonly keyHash: Hex;
  /** Sends the proofs; absent where Chainlink does. */
  readonly address?: Hex;
}

/** What stands on a chain, as stored between starts. */
export interface ChainDeployment {
  readonly contracts: StackAddresses;
  /** First block after the deployment. */
  readonly blockNumber: number;
  /** RPC port of a chain of our own, so that a user's tools find it again. */
  readonly port?: number;
  /** Of the VRF key that is registered; absent in records of earlier versions until the next start. */
  readonly keyHash?: Hex;
  /** Absent where the name's own profile says it. */
  readonly chainId?: number;
  readonly title?: string;
  /** Name of the oracle network that runs functions; absent where the profile says it. */
  readonly donId?: string;
}

/** What an earlier start knew of a network's chain. */
export interface KnownChain {
  readonly identity: string;
  readonly deployment: ChainDeployment;
}

/** Which blocks of a chain may be removed. */
export interface RemovableBlocks {
  /** Number of the first block that stays. */
  readonly before: number;
  /** Unix time in seconds: the first block that isn't older, and all after it, stay. */
  readonly olderThan: number;
  /** Blocks to look at; those that others are checked against stay. */
  readonly limit: number;
}

/** Which transactions of an address to find. */
export interface AppearanceQuery {
  /** `0x` hex. */
  readonly address: Hex;
  /** Those below a block, and where `index` is given those of that block before the place. Default: all. */
  readonly below?: { readonly block: number; readonly index?: number } | undefined;
  readonly limit: number;
  /** Default: the newest. `below` is not for the oldest. */
  readonly first?: "newest" | "oldest";
}

/** A transaction that an address appears in. */
export interface Appearance {
  readonly block: number;
  readonly blockHash: Hex;
  /** Place in the block. */
  readonly index: number;
}

/** What an index by address knows. */
export interface Appearances {
  readonly found: readonly Appearance[];
  /** The blocks that are indexed, both included. The first is 0 but while blocks of an earlier version are being indexed. */
  readonly from: number;
  readonly through: number;
  /** Whether some of these blocks were removed because they were old. */
  readonly hasRemoved: boolean;
}

/** A network's chain that answers, whoever runs it. */
export interface NetworkChain {
  readonly client: ChainClient;
  /**
   * For an oracle in this process, where the chain is, too: tells of blocks that a power cut may yet take. What the oracle
   * makes of them is lost with them, and everybody else hears of them later.
   */
  readonly oracleClient?: ChainClient;
  /** For users' tools; absent where the URL is the operator's own matter. */
  readonly rpcUrl?: string;
  readonly deployment: ChainDeployment & { readonly keyHash: Hex };
  /** Tells this chain with these contracts from any other. */
  readonly identity: string;
  /** Whether it is another one than was known before. */
  readonly isNew: boolean;
  /** Sends every transaction of the service. */
  readonly operator: Account;
  readonly fees: Fees;
  /** Absent where a block comes for each transaction: one at a time then carries all that has gathered. */
  readonly pipelining?: Pipelining;
  /**
   * Removes old blocks with what is in them, the oldest first; absent where the chain isn't ours. Gives back whether more may go.
   */
  readonly removeBlocks?: (this: void, range: RemovableBlocks) => Promise<boolean>;
  /**
   * Finds the transactions that an address has sent or received, that created it, or in which it emitted a log. Absent where the chain isn't
   * ours: nodes have no such index.
   */
  readonly findAppearances?: (this: void, query: AppearanceQuery) => Promise<Appearances>;
  /** What was found amiss when it was opened, and what has become of it: a sentence each. */
  readonly findings: readonly string[];
  /** What an operator should see to although the chain serves, the findings included. */
  warnings(this: void): Promise<readonly string[]>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** What callers may ask of a network, and what holds for it. */
export interface NetworkTerms {
  /** Lowest number of confirmations that random words may be asked with; presets ask with it. */
  readonly minConfirmations: number;
  /** Blocks after which nothing is taken back. */
  readonly finalityDepth: number;
  /** Whether the node's `finalized` block says more than the depth. */
  readonly hasFinalizedTag: boolean;
  /** Bytes of a function's result that the oracle reports. */
  readonly maxResponseBytes: number;
  /** What each of a dapp's two subscriptions is given, in juels. */
  readonly allowanceJuels: bigint;
  /** Coin that the subscription for random words is given besides; absent where words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** Between looks for a new head, where heads are not pushed. */
  readonly pollIntervalMs: number;
  /** How long the chain must have been shorter than before to count as rolled back; 0 where no node lags. */
  readonly rolledBackAfterMs: number;
  /** Chainlink's coordinator, where random words come from its own oracle. */
  readonly chainlinkCoordinator?: Hex | undefined;
  /** Whether block headers are Ethereum's, so that checks can hash them again. */
  readonly hasEthereumBlocks: boolean;
}

/** Told by a chain while it is open. */
export interface ChainEvents {
  /** The chain has ended for good, for a reason that callers may read. */
  onDown(this: void, why: string): void;
  onError(this: void, error: unknown): void;
}

/** One network as it is configured: what opens its chain. */
export interface NetworkSource {
  readonly profile: NetworkProfile;
  /** Whether Tyche runs the chain itself. For callers to read; nothing branches on it. */
  readonly isEmbedded: boolean;
  readonly terms: NetworkTerms;
  /** Hash of the VRF key of requests that name none. */
  readonly keyHash: Hex;
  /** All VRF operators, the one of `keyHash` first. Default: that one. */
  readonly vrfOperators?: readonly VrfOperator[];
  /** Key hashes whose words presets join, 2 to 4. Default: presets use the words of `keyHash`. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Public explorer without a trailing slash; absent where the service's own pages are the explorer. */
  readonly explorerUrl?: string;
  /** What accounts of ours are called, by address. */
  readonly titles: Readonly<Record<Hex, string>>;
  open(known: KnownChain | undefined, events: ChainEvents): Promise<NetworkChain>;
}
