import type { Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { Account } from "../evm/account.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Fees } from "../evm/fees.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import type { BeaconTerms } from "../beacon/drand.ts";
import type { NetworkProfile } from "./profiles.ts";

/** Who serves the words of one proving key. */
export interface VrfOperator {
  readonly keyHash: Hex;
  /** Account that sends the proofs; absent when Chainlink does. */
  readonly address?: Hex;
}

/** What is deployed on a chain, as stored between starts. */
export interface ChainDeployment {
  readonly contracts: StackAddresses;
  /** Newest block when the deployment ended. */
  readonly blockNumber: number;
  /** RPC port of an embedded chain, so that users' tools find it again. */
  readonly port?: number;
  /** Hash of the registered VRF key; absent in records of earlier versions until the next start. */
  readonly keyHash?: Hex;
  /** Absent when the profile of that name has it. */
  readonly chainId?: number;
  readonly title?: string;
  /** DON id of the oracle network that runs functions; absent when the profile has it. */
  readonly donId?: string;
}

/** What an earlier start knew about a network's chain. */
export interface KnownChain {
  readonly identity: string;
  readonly deployment: ChainDeployment;
}

/** Which blocks of a chain may be removed. */
export interface RemovableBlocks {
  /** Number of the first block that stays. */
  readonly before: number;
  /** Unix time in seconds: the first block that isn't older than this stays, and so do all later ones. */
  readonly olderThan: number;
  /** Number of blocks to examine; those that other results are verified against stay. */
  readonly limit: number;
}

/** Which transactions of an address to find. */
export interface AppearanceQuery {
  /** `0x` hex. */
  readonly address: Hex;
  /**
   * Exclusive upper bound: finds transactions in earlier blocks and, given `index`, those before that position in the block itself. Default:
   * no bound.
   */
  readonly below?: { readonly block: number; readonly index?: number } | undefined;
  readonly limit: number;
  /** Which end to start from. Default `newest`; `below` is ignored for `oldest`. */
  readonly first?: "newest" | "oldest";
}

/** A transaction that an address appears in. */
export interface Appearance {
  readonly block: number;
  readonly blockHash: Hex;
  /** Position in the block. */
  readonly index: number;
}

/** The result of a search in the address index. */
export interface Appearances {
  readonly found: readonly Appearance[];
  /** The newest block that was searched. */
  readonly through: number;
  /** Whether some of these blocks were removed because of their age. */
  readonly hasRemoved: boolean;
}

/** A network's chain that is up, whoever runs it. */
export interface NetworkChain {
  readonly client: ChainClient;
  /**
   * For an oracle in the same process as the chain: announces blocks that a power cut may still lose. What the oracle makes of them is lost
   * with them, and everybody else hears of them later.
   */
  readonly oracleClient?: ChainClient;
  /** For users' tools; absent when the URL is the operator's private matter. */
  readonly rpcUrl?: string;
  readonly deployment: ChainDeployment & { readonly keyHash: Hex };
  /** Distinguishes this chain with these contracts from any other. */
  readonly identity: string;
  /** Whether this is a different chain than the known one. */
  readonly isNew: boolean;
  /** Sends all transactions of the service. */
  readonly operator: Account;
  readonly fees: Fees;
  /**
   * Absent when each transaction gets a block at once: with one transaction at a time, the next one then carries everything that has
   * accumulated.
   */
  readonly pipelining?: Pipelining;
  /** Average time between blocks when the chain was opened, in ms; absent when the chain is embedded. */
  readonly blockMs?: number;
  /** Removes old blocks with their content, oldest first; absent when the chain isn't embedded. Returns whether more can be removed. */
  readonly removeBlocks?: (this: void, range: RemovableBlocks) => Promise<boolean>;
  /**
   * Finds the transactions that an address sent or received, that created it, in which it emitted a log, or whose call names it. Absent when the chain isn't
   * embedded: nodes have no such index.
   */
  readonly findAppearances?: (this: void, query: AppearanceQuery) => Promise<Appearances>;
  /**
   * Says in words why nothing more is sent to the chain although it is up; `undefined` while everything is. Absent when the chain isn't
   * embedded.
   */
  readonly pause?: (this: void) => string | undefined;
  /** The port that its RPC URL was to have, and couldn't; absent if it has it, or isn't embedded. */
  readonly takenPort?: number;
  /** Problems found when the chain was opened, and what became of them: one sentence each. */
  readonly findings: readonly string[];
  /** What an operator should attend to although the chain is up, including the findings and a taken port. */
  warnings(this: void): Promise<readonly string[]>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** What callers may request from a network, and the terms that apply. */
export interface NetworkTerms {
  /** Fewest confirmations with which random words can be requested; presets use this number. */
  readonly minConfirmations: number;
  /** Blocks after which a block counts as final. */
  readonly finalityDepth: number;
  /** Whether the node's `finalized` block is better information than the depth. */
  readonly hasFinalizedTag: boolean;
  /** Allowance of each of a dapp's two subscriptions, in juels. */
  readonly allowanceJuels: bigint;
  /** Additional coin for the VRF subscription; absent when words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** What a dapp's subscriptions may be topped up with on a UTC day, in juels and wei; absent for no limit. */
  readonly dailyBudget?: { readonly juels: bigint; readonly wei?: bigint | undefined } | undefined;
  /** Interval between polls for a new head when heads are not pushed. */
  readonly pollIntervalMs: number;
  /** How long the chain must have been shorter than before to count as rolled back; 0 when no node lags. */
  readonly rolledBackAfterMs: number;
  /** Interval at which the logs of the newest blocks are read again; absent when no node omits any. */
  readonly rereadIntervalMs?: number;
  /** Chainlink's coordinator, when random words come from Chainlink's own oracle. */
  readonly chainlinkCoordinator?: Hex | undefined;
  /** Whether block headers have Ethereum's format, so that verification can hash them again. */
  readonly hasEthereumBlocks: boolean;
  /** The rounds of drand that presets may wait for; absent if they may not. */
  readonly beacon?: BeaconTerms | undefined;
  /** The service's own beacon, which proves nothing; absent if it has none. */
  readonly localBeacon?: BeaconTerms | undefined;
}

/** Called by a chain while it is open. */
export interface ChainEvents {
  /** The chain is down for good, for a reason that callers may read; `remedy`: what the operator does about it. */
  onDown(this: void, why: string, remedy?: string): void;
  onError(this: void, error: unknown): void;
}

/** One configured network, which opens its chain. */
export interface NetworkSource {
  readonly profile: NetworkProfile;
  /** Whether Tyche runs the chain itself. Its node is then the service's own, which the explorer may query without limit. */
  readonly isEmbedded: boolean;
  readonly terms: NetworkTerms;
  /** Hash of the VRF key for requests that name none. */
  readonly keyHash: Hex;
  /** All VRF operators, starting with that of `keyHash`. Default: only that one. */
  readonly vrfOperators?: readonly VrfOperator[];
  /** Key hashes whose words presets join, 2 to 4. Default: presets use the words of `keyHash`. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Public explorer without a trailing slash; absent when the service's own pages are the explorer. */
  readonly explorerUrl?: string;
  /** Display names of the service's accounts, by address. */
  readonly titles: Readonly<Record<Hex, string>>;
  open(known: KnownChain | undefined, events: ChainEvents): Promise<NetworkChain>;
}
