import type { Hex } from "viem";

/** A request that the oracle has seen and not answered yet. */
export interface PendingRequest {
  readonly kind: "vrf" | "functions";
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly subscriptionId: bigint;
  /** Block of the request. */
  readonly blockNumber: bigint;
  /** What it waits for, in one sentence. */
  readonly why: string;
  /** Nobody can answer it any more: the hash of its block is lost. */
  readonly unanswerable: boolean;
  /** When it was seen (Unix time in milliseconds); after a restart, by the new process. */
  readonly seenAt: number;
}

/** An account of the oracle that pays for its transactions. */
export interface OracleAccount {
  readonly role: "vrf" | "transmitter";
  readonly address: Hex;
  /** `undefined` until it was read for the first time; read again every half minute. */
  readonly balanceWei: bigint | undefined;
}

/** The state of the oracle on one network. */
export interface OracleNetworkStatus {
  readonly name: string;
  /** Newest block acted upon, and when it was seen (Unix time in milliseconds). */
  readonly lastBlock: { readonly number: bigint; readonly seenAt: number } | undefined;
  /** `false` while the blocks before the newest are still being read. */
  readonly caughtUp: boolean;
  /** A restart that reads from this block on misses nothing. */
  readonly checkpoint: bigint;
  readonly pending: readonly PendingRequest[];
  readonly accounts: readonly OracleAccount[];
}
