import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { createMemo } from "../lib/memo.ts";
import { parseReceipt, RpcError, toQuantity, type RawLog, type Receipt } from "../lib/nodeAnswers.ts";
import type { RpcObject } from "./encodeBlock.ts";

/** Blocks in one log search; public networks' nodes refuse wide ranges. */
const SEARCH_WINDOW_BLOCKS = 1_000n;
/** Searches before a log counts as not found: VRF answers within hours, functions within minutes. */
const MAX_SEARCH_WINDOWS = 30n;

/** The part of a node's interface that the checks use. Its answers are trusted only where they can't be checked. */
export interface ChainReader {
  /** Makes a JSON-RPC request. Rejects with {@link RpcError}, whose `data` is set if a call reverted. */
  request(method: string, parameters?: readonly unknown[]): Promise<unknown>;
}

/** A transaction as reported by a node. */
export interface ChainTransaction {
  readonly hash: Hex;
  /** Lower case; `undefined` if it creates a contract. */
  readonly to: Hex | undefined;
  readonly input: Hex;
  readonly answer: RpcObject;
}

/** Selects logs of one contract with these topics; `null` matches any topic. */
export interface LogPattern {
  readonly address: Hex;
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
}

/** A contract's answer to a call. */
export interface CallAnswer {
  readonly data: Hex;
  /**
   * The state that the call ran on: the block's; or the newest, because the node no longer has the block's (`newest`) or because the
   * call reverts there (`revertedInBlock`).
   */
  readonly state: "block" | "newest" | "revertedInBlock";
}

/** Reads the chain, each item once. */
export interface ChainFacts {
  /** Throws {@link UnknownTransactionError}. */
  getTransaction(hash: Hex): Promise<ChainTransaction>;
  /** Throws {@link UnknownTransactionError}. */
  getReceipt(hash: Hex): Promise<Receipt>;
  /** All receipts of a block as the node reports them; `undefined` if the node can't. */
  findBlockReceipts(blockHash: Hex): Promise<readonly RpcObject[] | undefined>;
  /** A block with its full transactions; `undefined` if the node no longer has it. */
  findBlock(blockHash: Hex): Promise<RpcObject | undefined>;
  /** The first matching log from a block on. */
  findLogAfter(pattern: LogPattern, fromBlock: bigint): Promise<RawLog | undefined>;
  /** The last matching log up to a block. */
  findLogBefore(pattern: LogPattern, toBlock: bigint): Promise<RawLog | undefined>;
  /** The matching logs of one block. */
  findLogsIn(pattern: LogPattern, block: bigint): Promise<readonly RawLog[]>;
  /** A call on a block's state; on the newest state if it reverts there or the node no longer has that state. */
  call(to: Hex, data: Hex, at?: bigint): Promise<CallAnswer>;
  /** 32 bytes of a contract's storage. */
  getStorage(address: Hex, slot: bigint): Promise<Hex>;
  /** Runs `read` once for all requests that need its result. */
  once<T>(key: string, read: () => Promise<T>): Promise<T>;
}

/** Creates a reader for one verification; what it has read never changes. */
export function createChainFacts(reader: ChainReader, network: string): ChainFacts {
  const once = createMemo<string>();
  const searchLogs = async (pattern: LogPattern, fromBlock: bigint, toBlock: bigint): Promise<RawLog[]> => {
    const filter = { ...pattern, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
    return parseLogs(await reader.request("eth_getLogs", [filter]));
  };
  const head = async (): Promise<bigint> => {
    const answer = await reader.request("eth_blockNumber");
    if (typeof answer !== "string" || !/^0x[0-9a-f]{1,16}$/i.test(answer))
      throw new RpcError("eth_blockNumber", "the answer is not a block number");
    return BigInt(answer);
  };
  const getReceipt = (hash: Hex): Promise<Receipt> =>
    once(`receipt ${hash}`, async () => {
      const answer = await reader.request("eth_getTransactionReceipt", [hash]);
      if (answer === null) throw new UnknownTransactionError(hash, network);
      return parseReceipt(answer);
    });

  return {
    once,
    getReceipt,
    getTransaction: (hash) =>
      once(`transaction ${hash}`, async () => {
        const answer = (await reader.request("eth_getTransactionByHash", [hash])) as RpcObject | null;
        if (answer === null || typeof answer["input"] !== "string")
          throw new UnknownTransactionError(hash, network);
        const to = typeof answer["to"] === "string" ? (answer["to"].toLowerCase() as Hex) : undefined;
        return { hash, to, input: answer["input"] as Hex, answer };
      }),
    findBlock: (hash) =>
      once(`block ${hash}`, async () => {
        const answer = (await reader.request("eth_getBlockByHash", [hash, true])) as RpcObject | null;
        return answer ?? undefined;
      }),
    findBlockReceipts: (hash) =>
      once(`receipts ${hash}`, async () => {
        const answer = await reader.request("eth_getBlockReceipts", [hash]).catch(() => null);
        return Array.isArray(answer) ? (answer as RpcObject[]) : undefined;
      }),
    async findLogAfter(pattern, fromBlock) {
      const last = await head();
      const end = fromBlock + MAX_SEARCH_WINDOWS * SEARCH_WINDOW_BLOCKS;
      for (let from = fromBlock; from <= last && from < end; from += SEARCH_WINDOW_BLOCKS) {
        const to = from + SEARCH_WINDOW_BLOCKS - 1n;
        const [found] = await searchLogs(pattern, from, to < last ? to : last);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async findLogBefore(pattern, toBlock) {
      const end = toBlock - MAX_SEARCH_WINDOWS * SEARCH_WINDOW_BLOCKS;
      for (let to = toBlock; to >= 0n && to > end; to -= SEARCH_WINDOW_BLOCKS) {
        const from = to - SEARCH_WINDOW_BLOCKS + 1n;
        const found = (await searchLogs(pattern, from > 0n ? from : 0n, to)).at(-1);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    findLogsIn: (pattern, block) => searchLogs(pattern, block, block),
    call: (to, data, at) =>
      once(`call ${to} ${data} ${at}`, async () => {
        const callAt = async (block: string): Promise<Hex | undefined> => {
          const answer = await reader.request("eth_call", [{ to, data }, block]);
          return typeof answer === "string" && answer.length >= 2 + 64 ? (answer as Hex) : undefined;
        };
        let state: CallAnswer["state"] = "newest";
        if (at !== undefined) {
          try {
            const answer = await callAt(toQuantity(at));
            if (answer !== undefined) return { data: answer, state: "block" };
          } catch (error) {
            if (error instanceof RpcError && error.data !== undefined) state = "revertedInBlock";
          }
        }
        const answer = await callAt("latest");
        if (answer === undefined) throw new UnusableAnswerError(to);
        return { data: answer, state };
      }),
    async getStorage(address, slot) {
      const answer = await reader.request("eth_getStorageAt", [address, toQuantity(slot), "latest"]);
      if (typeof answer !== "string" || !/^0x[0-9a-f]{64}$/i.test(answer))
        throw new RpcError("eth_getStorageAt", "the answer is not 32 bytes");
      return answer as Hex;
    },
  };
}

function parseLogs(answer: unknown): RawLog[] {
  return parseReceipt({
    transactionHash: "0x",
    blockNumber: "0x0",
    blockHash: "0x",
    status: "0x1",
    gasUsed: "0x0",
    logs: answer,
  }).logs as RawLog[];
}

/** The node has no such transaction. */
export class UnknownTransactionError extends TycheError {
  constructor(hash: Hex, network: string) {
    super(
      `There is no transaction ${hash} on ${network} that the node still has; check hash and network, or ask an archive node.`,
      { code: "not_found", blame: "caller" },
    );
  }
}

/** A contract gives no usable answer: it is a different contract, or none. */
export class UnusableAnswerError extends TycheError {
  constructor(address: Hex) {
    super(
      `The contract ${address} does not answer as one of the oracle's contracts does; check network and addresses.`,
      { code: "chain_unavailable", blame: "upstream" },
    );
  }
}
