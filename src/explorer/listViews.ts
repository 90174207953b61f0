import type { Abi, Hex } from "viem";
import type { DecodedValue, Party } from "../chainlink/decoded.ts";
import type { ReadingsView } from "./views.ts";

// Plain data that can be serialized as JSON, as in `views.ts`.

/** Outcome of a mined transaction. */
export type TransactionStatus = "succeeded" | "reverted";

/** A transaction in a list. */
export interface TransactionSummary {
  readonly hash: Hex;
  /** `null` if it was not read. */
  readonly status: TransactionStatus | null;
  readonly blockNumber: string;
  readonly at: string;
  readonly from: Party;
  /** `null` for a contract creation. */
  readonly to: Party | null;
  /** Name of the called function, or its selector; empty for a plain transfer. */
  readonly method: string;
  readonly valueWei: string;
}

/** A block in a list. */
export interface BlockSummary {
  readonly number: string;
  readonly hash: Hex;
  readonly at: string;
  readonly transactionCount: number;
  readonly gasUsed: string;
}

/** A block with its transactions. */
export interface BlockView extends BlockSummary {
  readonly network: string;
  readonly parentHash: Hex;
  readonly gasLimit: string;
  readonly headNumber: string;
  readonly transactions: readonly TransactionSummary[];
}

/** A page of a chain's blocks. */
export interface BlockListView {
  readonly network: string;
  readonly headNumber: string;
  /** Newest first. */
  readonly blocks: readonly BlockSummary[];
  /** The next page has the blocks below this one; `null` on the last page. */
  readonly older: string | null;
}

/** A page of an address's transactions. */
export interface AddressTransactions {
  /** Newest first. */
  readonly transactions: readonly TransactionSummary[];
  /** The range of blocks searched for the page, both ends included; with an index, all the blocks it covers. */
  readonly searched: { readonly from: string; readonly to: string };
  /** Cursor of the next page: a block number, optionally with a position in that block; `null` on the last page. */
  readonly older: string | null;
  /** Whether the node has deleted older data; with an index, some of it. */
  readonly isForgotten: boolean;
  /** Whether the page comes from an index by address, which also includes transactions in which the address emitted a log. */
  readonly isIndexed: boolean;
}

/** An address: its balance, and a page of its transactions. */
export interface AddressView extends Party, AddressTransactions {
  /** Whether it is a contract whose source is known here. */
  readonly hasSource: boolean;
  readonly network: string;
  readonly balanceWei: string;
  readonly nonce: number;
  readonly codeBytes: number;
  /** Contract whose code the account runs as its own (EIP-7702); `null` for contracts and for all other accounts. */
  readonly delegatesTo: Party | null;
}

/** A request that a contract other than the service's own made on a subscription, and its outcome. */
export interface ContractRequestView {
  readonly kind: "random" | "function";
  readonly requestId: Hex;
  readonly consumer: Party;
  /** Time of its block; absent if the node no longer has the block. */
  readonly at?: string;
  readonly blockNumber: string;
  readonly transactionHash: Hex;
  readonly state: "waiting" | "fulfilled" | "failed";
  /** What a pending request is waiting for, if known. */
  readonly waitsFor?: string;
  /** The transaction that ended it. */
  readonly answeredBy?: Hex;
  /** Why it failed. */
  readonly error?: string;
  /** For random numbers: how many there are, and the first ten in decimal. */
  readonly numWords?: number;
  readonly words?: readonly string[];
  /** For a function: its result, and the ways to read it. */
  readonly response?: Hex;
  readonly readings?: ReadingsView;
}

/** A page of requests that contracts made. */
export interface ContractRequestList {
  readonly network: string;
  /** Newest first. */
  readonly items: readonly ContractRequestView[];
  /** The range of blocks searched for the page, both ends included; `null` while there are no subscriptions. */
  readonly searched: { readonly from: string; readonly to: string } | null;
  /** Cursor of the next page; `null` on the last page. */
  readonly older: string | null;
}

/** A chain's newest blocks and transactions. */
export interface ChainOverview {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  readonly headNumber: string;
  readonly contracts: readonly Party[];
  readonly blocks: readonly BlockSummary[];
  readonly transactions: readonly TransactionSummary[];
}

/** A contract whose source is known. */
export interface ContractView {
  readonly network: string;
  /** Checksummed (EIP-55). */
  readonly address: Hex;
  readonly name: string;
  readonly abi: Abi;
  /** `null` if the code on the chain doesn't match the compiled source. */
  readonly build: {
    /** Version of solc. */
    readonly compiler: string;
    readonly optimizerRuns: number;
    readonly evmVersion: string;
    /** The contract's own source first, then its imports. */
    readonly sources: readonly { readonly path: string; readonly content: string }[];
  } | null;
  /** `null` if the creating transaction isn't known, or its input is not the creation code of the code on the chain. */
  readonly constructorArguments: readonly DecodedValue[] | null;
}
