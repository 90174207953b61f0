import type { Hex } from "viem";
import type { CallbackSources } from "../chainlink/failedCallbacks.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainClient } from "../evm/client.ts";
import type { DrandChain } from "../beacon/drand.ts";
import type { ChainArchive } from "./chainArchive.ts";

/** The newest block that was seen, which the node may no longer be there to confirm. */
export interface HeadSighting {
  readonly number: bigint;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
  /** How long ago the node named it, in milliseconds. */
  readonly agoMs: number;
}

/** A chain whose history can be shown. */
export interface ExploredChain {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  /** Symbol of its coin. */
  readonly coin: string;
  /** Whether its node is the service's own, which may be queried often. */
  readonly isEmbedded: boolean;
  readonly archive: ChainArchive;
  /** Its node, for the current state of contracts. */
  readonly client: Pick<ChainClient, "request" | "getCode">;
  readonly contracts: StackAddresses;
  /** The chains of rounds that presets may wait for, besides drand's quicknet. */
  readonly drandChains?: readonly DrandChain[];
  /** Returns what the service recorded of failed callbacks. Default: nothing. */
  readonly findRecordedCallbacks?: CallbackSources["findRecorded"];
  /** Returns the transaction that linked a contract as a consumer, by its checksummed address. Default: nothing. */
  readonly findLinking?: (address: Hex) => Promise<Hex | undefined>;
  /** Returns what the chain's own oracle says a request waits for, by request id. Default: nothing. */
  readonly findOracleReason?: (requestId: Hex) => string | undefined;
  /** Returns the newest block that was seen, however long ago; without a call of the node. Default: none. */
  readonly findSeenHead?: () => HeadSighting | undefined;
  /** Names of accounts that are not contracts of the stack. */
  readonly accounts: Readonly<Record<Hex, string>>;
}
