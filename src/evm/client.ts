import { createClient, http } from "viem";
import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
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
import { AnswerError, openUnixSocket, openWebSocket } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { createUrlHider } from "./hideUrl.ts";

export { parseLog, parseReceipt, RpcError, toQuantity } from "../lib/nodeAnswers.ts";
export type { RawLog, Receipt } from "../lib/nodeAnswers.ts";

const RPC_TIMEOUT_MS = 10_000;

/** A block's header, as far as the watcher needs it. */
export interface BlockHead {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
}

/** One connection to a node of one network. Answers are untrusted: each is checked for its shape. */
export interface ChainClient {
  readonly rpcUrl: string;
  /**
   * Whether all answers come from one node, as over a lasting connection. Behind an HTTP URL there may be many, and one may
   * lack the block that another one has told of.
   */
  readonly isOneNode: boolean;
  request(method: string, parameters?: readonly unknown[]): Promise<unknown>;
  getHead(block: bigint | "latest"): Promise<BlockHead | undefined>;
  getReceipt(hash: Hex): Promise<Receipt | undefined>;
  getLogs(filter: LogFilter): Promise<RawLog[]>;
  /** Transactions sent by the account so far: mined ones, or with those waiting in the node's pool. */
  getNonce(account: Hex, block: "latest" | "pending"): Promise<number>;
  getBalanceWei(account: Hex): Promise<bigint>;
  getCode(address: Hex): Promise<Hex>;
  /** Runs a call without a transaction; throws {@link RpcError} with the revert data when it reverts. */
  call(transaction: { readonly to?: Hex | undefined; readonly data: Hex; readonly from?: Hex }): Promise<Hex>;
  /** Calls back with each new head where the node pushes them (WebSocket); elsewhere gives back `undefined` and the caller polls. */
  subscribeHeads(onHead: (head: BlockHead) => void): Promise<(() => void) | undefined>;
  close(): Promise<void>;
}

/** Which logs: of some contracts, in one block by hash or in a range, both ends included. */
export type LogFilter = { readonly addresses: readonly Hex[] } & (
  | { readonly blockHash: Hex }
  | { readonly fromBlock: bigint; readonly toBlock: bigint }
);

/** Options of {@link createChainClient}. */
export interface ChainClientOptions {
  /** How long one answer may take before the node counts as unreachable. Default 10,000. */
  readonly timeoutMs?: number;
  /** An open line to take instead of opening one. */
  readonly connection?: Connection;
}

/** Connects to a node by `ws:`, `wss:`, `http:` or `https:` URL, or by the path of its Unix socket. */
export function createChainClient(
  rpcUrl: string,
  { timeoutMs = RPC_TIMEOUT_MS, connection }: ChainClientOptions = {},
): ChainClient {
  const transport: Transport = connection ?? openTransport(rpcUrl, timeoutMs);
  const hideUrl = createUrlHider(rpcUrl);

  const request = async (method: string, parameters: readonly unknown[] = []): Promise<unknown> => {
    try {
      return await transport.request(method, parameters);
    } catch (cause) {
      throw asRpcError(method, cause, hideUrl);
    }
  };

  return {
    rpcUrl,
    isOneNode: transport.subscribe !== undefined,
    request,
    async getHead(block) {
      const answer = await request("eth_getBlockByNumber", [
        block === "latest" ? block : toQuantity(block),
        false,
      ]);
      return answer === null ? undefined : parseHead(answer);
    },
    async getReceipt(hash) {
      const answer = await request("eth_getTransactionReceipt", [hash]);
      return answer === null ? undefined : parseReceipt(answer);
    },
    async getLogs({ addresses, ...where }) {
      const range =
        "blockHash" in where
          ? where
          : { fromBlock: toQuantity(where.fromBlock), toBlock: toQuantity(where.toBlock) };
      const answer = await request("eth_getLogs", [{ address: addresses, ...range }]);
      if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
      return answer.map(parseLog);
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
    async call(transaction) {
      return parseHex(await request("eth_call", [transaction, "latest"]), "call result");
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

/** What carries requests; without `subscribe` the node can't push. */
interface Transport {
  request(method: string, parameters: readonly unknown[]): Promise<unknown>;
  subscribe?(parameters: readonly unknown[], onData: (result: unknown) => void): Promise<() => void>;
  close(): void;
}

function openTransport(rpcUrl: string, timeoutMs: number): Transport {
  if (/^wss?:\/\//.test(rpcUrl)) return openWebSocket(rpcUrl, timeoutMs);
  if (!/^https?:\/\//.test(rpcUrl)) return openUnixSocket(rpcUrl, timeoutMs);
  const client = createClient({ transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 0 }) });
  return { request: (method, params) => client.request({ method, params } as never), close() {} };
}

function parseHead(answer: unknown): BlockHead {
  const block = parseObject(answer, "block");
  return {
    number: parseQuantity(block["number"], "number"),
    hash: parseHex(block["hash"], "hash"),
    parentHash: parseHex(block["parentHash"], "parentHash"),
    timestamp: parseQuantity(block["timestamp"], "timestamp"),
  };
}

function tryParseHead(answer: unknown): BlockHead | undefined {
  try {
    return parseHead(answer);
  } catch {
    return undefined;
  }
}

/** viem nests the node's own error; the message and revert data that matter are at the bottom of it. */
function asRpcError(method: string, cause: unknown, hideUrl: (text: string) => string): RpcError {
  let data: Hex | undefined;
  let answered = false;
  let message = messageOf(cause);
  for (
    let error: unknown = cause;
    typeof error === "object" && error !== null;
    error = (error as { cause?: unknown }).cause
  ) {
    const { data: found, code, details } = error as { data?: unknown; code?: unknown; details?: unknown };
    if (typeof found === "string" && found.startsWith("0x")) data = found as Hex;
    if (error instanceof AnswerError || (typeof code === "number" && code < 0)) answered = true;
    if ((error as { name?: unknown }).name === "RpcRequestError") answered = true;
    if (typeof details === "string" && details !== "") message = details;
  }
  // What viem throws carries the URL and the body of the request, and loggers write causes too.
  const shown = cause instanceof AnswerError ? { cause } : {};
  return new RpcError(method, hideUrl(message), { data, answered, ...shown });
}
