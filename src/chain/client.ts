import { createClient, http } from "viem";
import type { Hex } from "viem";
import { TycheError, messageOf } from "../lib/errors.ts";
import { AnswerError, openUnixSocket, openWebSocket } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { createUrlHider } from "./hideUrl.ts";

const RPC_TIMEOUT_MS = 10_000;

/** A log as a node reports it, numbers decoded. */
export interface RawLog {
  /** 20-byte address, lower case. */
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: number;
}

/** A mined transaction's receipt. */
export interface Receipt {
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** `false`: the transaction reverted as a whole. */
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly effectiveGasPriceWei: bigint;
  readonly logs: readonly RawLog[];
}

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
  call(transaction: { readonly to: Hex; readonly data: Hex; readonly from?: Hex }): Promise<Hex>;
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

/** Returns a quantity as the JSON-RPC API writes it: `0x` hex without leading zeros. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Reads a receipt from a node's answer; throws {@link RpcError} on any other shape. */
export function parseReceipt(answer: unknown): Receipt {
  const receipt = parseObject(answer, "receipt");
  if (!Array.isArray(receipt["logs"])) throw new RpcError("receipt", "logs is not a list");
  return {
    transactionHash: parseHex(receipt["transactionHash"], "transactionHash"),
    blockNumber: parseQuantity(receipt["blockNumber"], "blockNumber"),
    blockHash: parseHex(receipt["blockHash"], "blockHash"),
    succeeded: receipt["status"] === "0x1",
    gasUsed: parseQuantity(receipt["gasUsed"], "gasUsed"),
    effectiveGasPriceWei: parseQuantity(receipt["effectiveGasPrice"] ?? "0x0", "effectiveGasPrice"),
    logs: receipt["logs"].map(parseLog),
  };
}

/** Reads a log from a node's answer; throws {@link RpcError} on any other shape. */
export function parseLog(answer: unknown): RawLog {
  const log = parseObject(answer, "log");
  if (!Array.isArray(log["topics"])) throw new RpcError("log", "topics is not a list");
  return {
    address: parseHex(log["address"], "address").toLowerCase() as Hex,
    topics: log["topics"].map((topic) => parseHex(topic, "topic")),
    data: parseHex(log["data"], "data"),
    blockNumber: parseQuantity(log["blockNumber"], "blockNumber"),
    blockHash: parseHex(log["blockHash"], "blockHash"),
    transactionHash: parseHex(log["transactionHash"], "transactionHash"),
    logIndex: Number(parseQuantity(log["logIndex"], "logIndex")),
  };
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

function parseObject(answer: unknown, what: string): Record<string, unknown> {
  if (typeof answer !== "object" || answer === null) throw new RpcError(what, "the answer is not an object");
  return answer as Record<string, unknown>;
}

function parseHex(answer: unknown, what: string): Hex {
  if (typeof answer !== "string" || !/^0x[0-9a-fA-F]*$/.test(answer))
    throw new RpcError(what, "the answer is not 0x hex");
  return answer as Hex;
}

function parseQuantity(answer: unknown, what: string): bigint {
  if (typeof answer !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(answer)) {
    throw new RpcError(what, "the answer is not a 0x hex number of at most 32 bytes");
  }
  return BigInt(answer);
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

/** A node can't be reached, or refused, or answered in a shape that no node should. */
export class RpcError extends TycheError {
  /** What a reverted call gave back. */
  readonly data: Hex | undefined;
  /** Whether the node itself said no (JSON-RPC error), as against not answering. */
  readonly answered: boolean;

  constructor(
    method: string,
    reason: string,
    options: { readonly data?: Hex | undefined; readonly answered?: boolean; readonly cause?: unknown } = {},
  ) {
    super(`${method}: ${reason}`, {
      code: "chain_unavailable",
      blame: "upstream",
      retryable: true,
      cause: options.cause,
    });
    this.data = options.data;
    this.answered = options.answered ?? false;
  }
}
