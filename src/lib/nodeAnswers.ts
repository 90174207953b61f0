import type { Hex } from "viem";
import { TycheError } from "./errors.ts";

/** A log as reported by a node, with numbers decoded. */
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

/** Most members, entries, objects and lists of an answer: 160,000 logs. V8 takes some 100 bytes and a microsecond for each `{}`. */
const MAX_VALUES = 4_000_000;

/** Whether a node's answer has so many values that parsing it would take gigabytes and half a minute, although it has only megabytes. */
export function hasTooManyValues(json: string): boolean {
  if (json.length <= MAX_VALUES) return false;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    // Those within texts count, too: there are next to none.
    if (code === COMMA || code === COLON || code === LIST || code === OBJECT) values += 1;
  }
  return values > MAX_VALUES;
}

const [COMMA, COLON, LIST, OBJECT] = [44, 58, 91, 123];

/** Formats a quantity for the JSON-RPC API: `0x` hex without leading zeros. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Parses a receipt from a node's answer; throws {@link RpcError} on any other shape. */
export function parseReceipt(answer: unknown): Receipt {
  const receipt = parseObject(answer, "receipt");
  if (!Array.isArray(receipt["logs"])) throw new RpcError("receipt", "logs is not a list");
  // Any other value doesn't mean that the transaction reverted.
  const status = parseQuantity(receipt["status"], "status");
  if (status > 1n) throw new RpcError("receipt", `status is ${status}, and 0 or 1 is expected`);
  return {
    transactionHash: parseHex(receipt["transactionHash"], "transactionHash"),
    blockNumber: parseQuantity(receipt["blockNumber"], "blockNumber"),
    blockHash: parseHex(receipt["blockHash"], "blockHash"),
    succeeded: status === 1n,
    gasUsed: parseQuantity(receipt["gasUsed"], "gasUsed"),
    effectiveGasPriceWei: parseQuantity(receipt["effectiveGasPrice"] ?? "0x0", "effectiveGasPrice"),
    logs: receipt["logs"].map(parseLog),
  };
}

/** Parses a log from a node's answer; throws {@link RpcError} on any other shape. */
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

/** Parses an object from a node's answer; throws {@link RpcError} on anything else. */
export function parseObject(answer: unknown, what: string): Record<string, unknown> {
  if (typeof answer !== "object" || answer === null) throw new RpcError(what, "the answer is not an object");
  return answer as Record<string, unknown>;
}

/** Parses `0x` hex from a node's answer; throws {@link RpcError} on anything else. */
export function parseHex(answer: unknown, what: string): Hex {
  if (typeof answer !== "string" || !/^0x[0-9a-fA-F]*$/.test(answer))
    throw new RpcError(what, "the answer is not 0x hex");
  return answer as Hex;
}

/** Parses a number of at most 32 bytes from a node's answer; throws {@link RpcError} on anything else. */
export function parseQuantity(answer: unknown, what: string): bigint {
  if (typeof answer !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(answer)) {
    throw new RpcError(what, "the answer is not a 0x hex number of at most 32 bytes");
  }
  return BigInt(answer);
}

/** Longer texts of a node are cut. */
const MAX_REASON_CHARACTERS = 2_000;

/** A node can't be reached, refused the call, or gave an answer of invalid shape. */
export class RpcError extends TycheError {
  /** Return data of a reverted call. */
  readonly data: Hex | undefined;
  /** Whether the node itself refused (JSON-RPC error), as opposed to not answering. */
  readonly answered: boolean;

  constructor(
    method: string,
    reason: string,
    options: { readonly data?: Hex | undefined; readonly answered?: boolean; readonly cause?: unknown } = {},
  ) {
    // A node's own text, on one line and without colors, so that it can't pass for lines of ours.
    const line = reason.slice(0, MAX_REASON_CHARACTERS).replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ");
    super(`${method}: ${line}${reason.length > MAX_REASON_CHARACTERS ? "…" : ""}`, {
      code: "chain_unavailable",
      blame: "upstream",
      retryable: true,
      cause: options.cause,
    });
    this.data = options.data;
    this.answered = options.answered ?? false;
  }
}
