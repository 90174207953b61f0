import type { Hex } from "viem";
import {
  parseHex,
  parseLog,
  parseObject,
  parseQuantity,
  parseReceipt,
  RpcError,
  toQuantity,
  type RawLog,
  type Receipt,
} from "../lib/nodeAnswers.ts";
import type { Transport } from "./connection.ts";
import { createUrlHider } from "./hideUrl.ts";
import { asRpcError, openTransport } from "./transport.ts";

const RPC_TIMEOUT_MS = 10_000;

/** The part of a block's header that the watcher needs. */
export interface BlockHead {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
  /** As returned by the node: 256 bytes as hex if it is valid. */
  readonly logsBloom?: unknown;
}

/** A network accessed through one node or several. Answers are untrusted: the shape of each is checked. */
export interface ChainClient {
  /** As configured; empty when there are several. */
  readonly rpcUrl: string;
  /**
   * Whether all answers come from one node, as over a persistent connection. Behind an HTTP URL there may be many, and one may lack a
   * block that another one has reported.
   */
  readonly isOneNode: boolean;
  /** Whether an empty list of logs proves that a block has none. Otherwise the node may lack the block, and the caller must check. */
  readonly isSureOfLogs: boolean;
  request(method: string, parameters?: readonly unknown[]): Promise<unknown>;
  getHead(block: bigint | "latest" | "safe" | "finalized"): Promise<BlockHead | undefined>;
  getReceipt(hash: Hex): Promise<Receipt | undefined>;
  /** Returns the receipts of a transaction that the nodes have, one of each node: they may differ. */
  getReceipts(hash: Hex): Promise<Receipt[]>;
  getLogs(filter: LogFilter): Promise<RawLog[]>;
  /** Returns the logs that any of the nodes has: each may omit some. */
  getLogsOfEach(filter: LogFilter): Promise<RawLog[]>;
  /** Returns the number of transactions the account has sent: mined ones only, or including those in the node's pool. */
  getNonce(account: Hex, block: "latest" | "pending"): Promise<number>;
  getBalanceWei(account: Hex): Promise<bigint>;
  getCode(address: Hex): Promise<Hex>;
  /**
   * Runs a call without a transaction; throws {@link RpcError} with the revert data when it reverts. With `seenBlock` the result is never
   * older than that block: when several nodes may answer, the call runs on exactly that block, because a lagging node would use its own
   * newest one.
   */
  call(
    transaction: { readonly to?: Hex | undefined; readonly data: Hex; readonly from?: Hex },
    seenBlock?: bigint,
  ): Promise<Hex>;
  /** Calls back with each new head if the node pushes heads (WebSocket); otherwise returns `undefined`, and the caller polls. */
  subscribeHeads(onHead: (head: BlockHead) => void): Promise<(() => void) | undefined>;
  close(): Promise<void>;
}

/** Selects logs of some contracts, in one block by hash or in a range with both ends included. */
export type LogFilter = { readonly addresses: readonly Hex[] } & (
  | { readonly blockHash: Hex }
  | { readonly fromBlock: bigint; readonly toBlock: bigint }
);

export interface ChainClientOptions {
  /** How long an answer may take before the node counts as unreachable. Default 10,000. */
  readonly timeoutMs?: number;
  /** An open transport to use instead of opening one; the URL then only tells what errors must not show. */
  readonly connection?: Transport;
  /** Whether all answers come from one node. Default: whether the transport is a persistent connection. */
  readonly isOneNode?: boolean;
  /** See {@link ChainClient.isSureOfLogs}. Default `false`. */
  readonly isSureOfLogs?: boolean;
}

/** Connects to a node by `ws:`, `wss:`, `http:` or `https:` URL, or by the path of its Unix socket. */
export function createChainClient(rpcUrl: string, options: ChainClientOptions = {}): ChainClient {
  const { timeoutMs = RPC_TIMEOUT_MS, connection } = options;
  const transport = connection ?? openTransport(rpcUrl, timeoutMs);
  const { isOneNode = transport.subscribe !== undefined, isSureOfLogs = false } = options;
  const hideUrl = createUrlHider(rpcUrl);

  const request = async (method: string, parameters: readonly unknown[] = []): Promise<unknown> => {
    try {
      return await transport.request(method, parameters);
    } catch (cause) {
      throw asRpcError(method, cause, hideUrl);
    }
  };

  const requestEach = async (method: string, parameters: readonly unknown[]): Promise<readonly unknown[]> => {
    if (transport.requestEach === undefined) return [await request(method, parameters)];
    try {
      return await transport.requestEach(method, parameters);
    } catch (cause) {
      throw asRpcError(method, cause, hideUrl);
    }
  };

  return {
    rpcUrl,
    isOneNode,
    isSureOfLogs,
    request,
    async getHead(block) {
      const answer = await request("eth_getBlockByNumber", [
        typeof block === "bigint" ? toQuantity(block) : block,
        false,
      ]);
      return answer === null ? undefined : parseHead(answer);
    },
    async getReceipt(hash) {
      const answer = await request("eth_getTransactionReceipt", [hash]);
      return answer === null ? undefined : parseReceipt(answer);
    },
    async getReceipts(hash) {
      const answers = await requestEach("eth_getTransactionReceipt", [hash]);
      return answers.filter((answer) => answer !== null).map(parseReceipt);
    },
    async getLogs(filter) {
      return parseLogs(await request("eth_getLogs", [encodeFilter(filter)]));
    },
    async getLogsOfEach(filter) {
      const logs = new Map<string, RawLog>();
      for (const answer of await requestEach("eth_getLogs", [encodeFilter(filter)]))
        for (const log of parseLogs(answer)) logs.set(`${log.blockHash} ${log.logIndex}`, log);
      return [...logs.values()];
    },
    async getNonce(account, block) {
      return Number(
        parseQuantity(await request("eth_getTransactionCount", [account, block]), "transaction count"),
      );
    },
    async getBalanceWei(account) {
      return parseQuantity(await request("eth_getBalance", [account, "latest"]), "balance");
    },
    async getCode(address) {
      return parseHex(await request("eth_getCode", [address, "latest"]), "code");
    },
    async call(transaction, seenBlock) {
      const block = isOneNode || seenBlock === undefined ? "latest" : toQuantity(seenBlock);
      return parseHex(await request("eth_call", [transaction, block]), "call result");
    },
    async subscribeHeads(onHead) {
      try {
        return await transport.subscribe?.(["newHeads"], (answer) => {
          const head = tryParseHead(answer);
          if (head !== undefined) onHead(head);
        });
      } catch (cause) {
        throw asRpcError("eth_subscribe", cause, hideUrl);
      }
    },
    close: async () => transport.close(),
  };
}

function encodeFilter({ addresses: address, ...where }: LogFilter): object {
  if ("blockHash" in where) return { address, ...where };
  return { address, fromBlock: toQuantity(where.fromBlock), toBlock: toQuantity(where.toBlock) };
}

function parseLogs(answer: unknown): RawLog[] {
  if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
  return answer.map(parseLog);
}

function parseHead(answer: unknown): BlockHead {
  const block = parseObject(answer, "block");
  return {
    number: parseQuantity(block["number"], "number"),
    hash: parseHex(block["hash"], "hash"),
    parentHash: parseHex(block["parentHash"], "parentHash"),
    timestamp: parseQuantity(block["timestamp"], "timestamp"),
    logsBloom: block["logsBloom"],
  };
}

function tryParseHead(answer: unknown): BlockHead | undefined {
  try {
    return parseHead(answer);
  } catch {
    return undefined;
  }
}
