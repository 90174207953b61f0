import type { Hex } from "viem";

/** A request that the oracle has seen but not answered. */
export interface PendingRequest {
  readonly kind: "vrf" | "functions" | "presets";
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly subscriptionId: bigint;
  /** Block of the request. */
  readonly blockNumber: bigint;
  /** What it waits for, in one sentence. */
  readonly why: string;
  /** Whether this oracle can't answer it: the hash of its block is lost, or this node is not in the coordinator's configuration. */
  readonly unanswerable: boolean;
  /** When this process first saw it, by `performance.now()`. */
  readonly seenAt: number;
}

/** An account from which the oracle pays for its transactions. */
export interface OracleAccount {
  readonly role: "vrf" | "transmitter";
  readonly address: Hex;
  /** `undefined` until first read; reread every half minute. */
  readonly balanceWei: bigint | undefined;
}

/** The state of the oracle on one network. */
export interface OracleNetworkStatus {
  readonly name: string;
  /** Newest block processed, and when it was seen (by `performance.now()`). */
  readonly lastBlock: { readonly number: bigint; readonly seenAt: number } | undefined;
  /** `false` while blocks before the newest are still being read. */
  readonly caughtUp: boolean;
  /** A restart that reads from this block on misses nothing. */
  readonly checkpoint: bigint;
  readonly pending: readonly PendingRequest[];
  readonly accounts: readonly OracleAccount[];
}
