import type { Abi, Hex } from "viem";
import type { DecodedValue, Party } from "../chainlink/decoded.ts";
import type { ReadingsView } from "./views.ts";

// Plain data, fit for JSON, as in `views.ts`.

/** What became of a transaction that is in a block. */
export type TransactionStatus = "succeeded" | "reverted";

/** A transaction in a list. */
export interface TransactionSummary {
  readonly hash: Hex;
  /** `null` where it was not read. */
  readonly status: TransactionStatus | null;
  readonly blockNumber: string;
  readonly at: string;
  readonly from: Party;
  /** `null`: it creates a contract. */
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
  /** The next page has the blocks below this one; `null` on the last. */
  readonly older: string | null;
}

/** A page of an address's transactions. */
export interface AddressTransactions {
  /** Newest first. */
  readonly transactions: readonly TransactionSummary[];
  /** The blocks that were searched for the page, both included: with an index all that it has. */
  readonly searched: { readonly from: string; readonly to: string };
  /** Cursor of the next page: a block number, or one with a place in it; `null` on the last. */
  readonly older: string | null;
  /** The node doesn't have what is older any more; with an index, not all of it. */
  readonly isForgotten: boolean;
  /** Whether the page is from an index by address; it then also has the transactions in which the address emitted a log. */
  readonly isIndexed: boolean;
}

/** An address: what it holds, and a page of its transactions. */
export interface AddressView extends Party, AddressTransactions {
  /** Whether it is a contract whose source is known here. */
  readonly hasSource: boolean;
  readonly network: string;
  readonly balanceWei: string;
  readonly nonce: number;
  readonly codeBytes: number;
}

/** A request that a contract other than the service's own made on a subscription, and what became of it. */
export interface ContractRequestView {
  readonly kind: "random" | "function";
  readonly requestId: Hex;
  readonly consumer: Party;
  /** Time of its block; absent where the node doesn't have the block any more. */
  readonly at?: string;
  readonly blockNumber: string;
  readonly transactionHash: Hex;
  readonly state: "waiting" | "fulfilled" | "failed";
  /** While it waits: for what, as far as that is known. */
  readonly waitsFor?: string;
  /** The transaction that ended it. */
  readonly answeredBy?: Hex;
  /** Why it failed. */
  readonly error?: string;
  /** Of random numbers: how many there are, and the first ten, decimal. */
  readonly numWords?: number;
  readonly words?: readonly string[];
  /** Of a function: its result, and what that may mean. */
  readonly response?: Hex;
  readonly readings?: ReadingsView;
}

/** A page of such requests. */
export interface ContractRequestList {
  readonly network: string;
  /** Newest first. */
  readonly items: readonly ContractRequestView[];
  /** The blocks that were searched for the page, both included; `null` while there are no subscriptions. */
  readonly searched: { readonly from: string; readonly to: string } | null;
  /** Cursor of the next page; `null` on the last. */
  readonly older: string | null;
}

/** The newest of a chain. */
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
  /** `null` where the code on the chain is not what the compiler makes of the source. */
  readonly build: {
    /** Version of solc. */
    readonly compiler: string;
    readonly optimizerRuns: number;
    readonly evmVersion: string;
    /** The contract's own source first, then what it imports. */
    readonly sources: readonly { readonly path: string; readonly content: string }[];
  } | null;
  /** `null` where the transaction that created it isn't known, or its input is not the creation code of the code on the chain. */
  readonly constructorArguments: readonly DecodedValue[] | null;
}
