import { parseObject, parseQuantity } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/** How transactions share a network's blocks. */
export interface Pipelining {
  /** Maximum number of transactions of one account in flight. */
  readonly maxInFlight: number;
  /**
   * Minimum time between the starts of two transactions that aren't full while others are in flight, in milliseconds. A full transaction
   * never waits for others, and neither does the first one.
   */
  readonly paceMs: number;
  /** Highest gas limit of a transaction that carries several requests. */
  readonly maxTransactionGas: bigint;
}

/** Most gas that a transaction may ask for under EIP-7825, 2^24: nodes refuse more, however much a block takes. */
export const MAX_TRANSACTION_GAS = 2n ** 24n;
/**
 * How an embedded chain's oracle sends: each transaction gets a block, so the next carries all that came meanwhile. Anvil is older there than
 * EIP-7825 and its blocks take 120 million gas: a quarter of one holds some 60 proofs, and leaves room for other accounts.
 */
export const ONE_AT_A_TIME = { maxInFlight: 1, maxTransactionGas: 30_000_000n, paceMs: undefined };
/**
 * A transaction asks for at most one such part of a block. Pools and proposers count the gas limit, not the gas that is used in the end:
 * as long as transactions are waiting, less than one such part of a block stays empty.
 */
const PARTS_OF_BLOCK = 5n;
/** geth guarantees this many transactions per account (`txpool.accountslots`), however full its pool is. */
const MAX_IN_FLIGHT = 16;
/** Transactions of an account per block that aren't full: half of those in flight, which leaves room for full ones. */
const PACES_OF_BLOCK = 8;
const MIN_PACE_MS = 25;
/** The pace for blocks every 12 seconds. */
const MAX_PACE_MS = 1_500;
/** The slowest blocks of a public chain (Filecoin); when blocks come on demand, an idle hour is not a block time. */
const MAX_BLOCK_MS = 30_000;
/** Blocks whose timestamps determine the block time. */
const SAMPLE_BLOCKS = 64n;
/** What counts as the time between blocks before a chain shows it. */
export const DEFAULT_BLOCK_MS = 2_000;

/**
 * Determines from a network's newest blocks how transactions share them, and `blockMs`, the average time between them in milliseconds, at most
 * 30,000. Throws RpcError when the node can't be asked.
 */
export async function readPipelining(
  client: Pick<ChainClient, "request" | "getHead">,
): Promise<Pipelining & { readonly blockMs: number }> {
  const latest = parseObject(await client.request("eth_getBlockByNumber", ["latest", false]), "block");
  const part = parseQuantity(latest["gasLimit"], "gas limit") / PARTS_OF_BLOCK;
  const number = parseQuantity(latest["number"], "number");
  const timestamp = parseQuantity(latest["timestamp"], "timestamp");
  const first = number > SAMPLE_BLOCKS ? number - SAMPLE_BLOCKS : 1n;
  const earlier = number > first ? await client.getHead(first) : undefined;
  const blockMs =
    earlier === undefined
      ? DEFAULT_BLOCK_MS
      : Math.min(
          MAX_BLOCK_MS,
          (1_000 * Number(timestamp - earlier.timestamp)) / Number(number - earlier.number),
        );
  return {
    blockMs,
    maxInFlight: MAX_IN_FLIGHT,
    paceMs: Math.min(MAX_PACE_MS, Math.max(MIN_PACE_MS, blockMs / PACES_OF_BLOCK)),
    maxTransactionGas: part < MAX_TRANSACTION_GAS ? part : MAX_TRANSACTION_GAS,
  };
}
