import { parseObject, parseQuantity } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/** How transactions share a network's blocks. */
export interface Pipelining {
  /** Transactions of one account under way at once. */
  readonly maxInFlight: number;
  /**
   * How long after the start of a transaction that wasn't full the next such one starts beside it, in milliseconds. A full one never
   * waits for others, and a first one doesn't either.
   */
  readonly paceMs: number;
  /** Highest gas limit of a transaction that carries several requests. */
  readonly maxTransactionGas: bigint;
}

/** Of a transaction, where EIP-7825 holds: 2^24. */
const MAX_TRANSACTION_GAS = 16_777_216n;
/**
 * Parts of a block that one transaction asks for at most. Pools and proposers count a gas limit, not the gas that is used in the end: as
 * long as transactions wait, less than such a part of a block stays empty.
 */
const PARTS_OF_BLOCK = 5n;
/** geth keeps so many transactions of an account (`txpool.accountslots`) however full its pool is. */
const MAX_IN_FLIGHT = 16;
/** Transactions of an account that are not full, for each block: half of those under way leave room for full ones. */
const PACES_OF_BLOCK = 8;
const MIN_PACE_MS = 25;
/** Of a block each 12 seconds; where blocks come on demand, an idle hour is no block time. */
const MAX_PACE_MS = 1_500;
/** Blocks whose timestamps say how often they come. */
const SAMPLE_BLOCKS = 64n;
const DEFAULT_BLOCK_MS = 2_000;

/** Reads from a network's newest blocks how transactions share them. Throws RpcError when the node can't be asked. */
export async function readPipelining(client: Pick<ChainClient, "request" | "getHead">): Promise<Pipelining> {
  const latest = parseObject(await client.request("eth_getBlockByNumber", ["latest", false]), "block");
  const part = parseQuantity(latest["gasLimit"], "gas limit") / PARTS_OF_BLOCK;
  const number = parseQuantity(latest["number"], "number");
  const timestamp = parseQuantity(latest["timestamp"], "timestamp");
  const first = number > SAMPLE_BLOCKS ? number - SAMPLE_BLOCKS : 1n;
  const earlier = number > first ? await client.getHead(first) : undefined;
  const blockMs =
    earlier === undefined
      ? DEFAULT_BLOCK_MS
      : (1_000 * Number(timestamp - earlier.timestamp)) / Number(number - earlier.number);
  return {
    maxInFlight: MAX_IN_FLIGHT,
    paceMs: Math.min(MAX_PACE_MS, Math.max(MIN_PACE_MS, blockMs / PACES_OF_BLOCK)),
    maxTransactionGas: part < MAX_TRANSACTION_GAS ? part : MAX_TRANSACTION_GAS,
  };
}
