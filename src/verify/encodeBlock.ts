import {
  concatBytes,
  formatTransaction,
  fromRlp,
  numberToHex,
  parseTransaction,
  serializeTransaction,
  toRlp,
  type Hex,
  type TransactionSerializable,
} from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";

/** An object in a node's answer, with unknown members. */
export type RpcObject = Readonly<Record<string, unknown>>;

/**
 * Returns the hash of a block's header (Yellow Paper section 4.3 and the EIPs that added fields since), from a node's answer.
 * The later fields are included if the answer has them, in their order.
 *
 * @throws TypeError if a field is missing.
 */
export function hashHeader(block: RpcObject): Hex {
  const fields: Hex[] = [
    ...[
      "parentHash",
      "sha3Uncles",
      "miner",
      "stateRoot",
      "transactionsRoot",
      "receiptsRoot",
      "logsBloom",
    ].map((name) => hexOf(block, name)),
    ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp"].map((name) => numberOf(block, name)),
    ...["extraData", "mixHash", "nonce"].map((name) => hexOf(block, name)),
  ];
  const later = [
    ["baseFeePerGas", numberOf], // EIP-1559
    ["withdrawalsRoot", hexOf], // EIP-4895
    ["blobGasUsed", numberOf], // EIP-4844
    ["excessBlobGas", numberOf],
    ["parentBeaconBlockRoot", hexOf], // EIP-4788
    ["requestsHash", hexOf], // EIP-7685
  ] as const;
  for (const [name, read] of later)
    if (block[name] !== undefined && block[name] !== null) fields.push(read(block, name));
  return hashOf(toRlp(fields, "bytes"));
}

/**
 * Returns a transaction's bytes as they are signed, hashed and stored, from a node's answer.
 *
 * @throws if its type is not one of Ethereum's own, or a field is missing.
 */
export function encodeTransaction(answer: RpcObject): Uint8Array {
  const transaction = formatTransaction(answer);
  const { r, s, v, yParity, input } = transaction as typeof transaction & { yParity?: number };
  const unsigned = { ...transaction, data: input } as unknown as TransactionSerializable;
  const signature =
    transaction.type === "legacy"
      ? { r, s, v }
      : { r, s, yParity: yParity ?? Number(v), v: BigInt(yParity ?? v) };
  return fromHexText(serializeTransaction(unsigned, signature as { r: Hex; s: Hex; v: bigint }));
}

/** The parts of a transaction that the checks read. */
export interface TransactionCall {
  /** Lower case; `undefined` if the transaction creates a contract. */
  readonly to: Hex | undefined;
  readonly input: Hex;
}

/** Decodes the bytes of {@link encodeTransaction}. */
export function decodeTransaction(bytes: Uint8Array): TransactionCall {
  const { to, data } = parseTransaction(toHexText(bytes));
  return { to: (to?.toLowerCase() as Hex | undefined) ?? undefined, input: data ?? "0x" };
}

/** Returns the hash that identifies a transaction with these bytes. */
export function hashOf(bytes: Uint8Array): Hex {
  return toHexText(keccak256(bytes));
}

/**
 * Returns a receipt's bytes as committed to by a block's `receiptsRoot` (EIP-2718, EIP-658), from a node's answer.
 *
 * @throws TypeError if a field is missing.
 */
export function encodeReceipt(receipt: RpcObject): Uint8Array {
  const logs = receipt["logs"];
  if (!Array.isArray(logs)) throw new TypeError("the receipt has no logs");
  const body = toRlp(
    [
      numberOf(receipt, "status"),
      numberOf(receipt, "cumulativeGasUsed"),
      hexOf(receipt, "logsBloom"),
      (logs as RpcObject[]).map((log) => [hexOf(log, "address"), log["topics"] as Hex[], hexOf(log, "data")]),
    ],
    "bytes",
  );
  const type = receipt["type"] === undefined ? 0 : Number(receipt["type"]);
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}

/** The parts of a receipt that a block's `receiptsRoot` commits to and the checks read. Hex is lower case. */
export interface HashedReceipt {
  readonly succeeded: boolean;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/**
 * Decodes the bytes of {@link encodeReceipt}.
 *
 * @throws TypeError if they are not a receipt's.
 */
export function decodeReceipt(bytes: Uint8Array): HashedReceipt {
  // EIP-2718: a type's byte is below 0x80, and an RLP list begins with 0xc0 or more.
  const isTyped = bytes[0]! < 0x80;
  const [status, , , logs] = fromRlp(isTyped ? bytes.subarray(1) : bytes, "hex") as Hex[];
  if (!Array.isArray(logs)) throw new TypeError("the receipt has no logs");
  return {
    succeeded: status === "0x01",
    logs: (logs as [Hex, Hex[], Hex][]).map(([address, topics, data]) => ({ address, topics, data })),
  };
}

function hexOf(object: RpcObject, name: string): Hex {
  const value = object[name];
  if (typeof value !== "string" || !value.startsWith("0x")) throw new TypeError(`${name} is no hex`);
  return value as Hex;
}

/** Encodes a number for RLP: without leading zeros, and zero as empty. */
function numberOf(object: RpcObject, name: string): Hex {
  const value = BigInt(hexOf(object, name));
  if (value === 0n) return "0x";
  const hex = numberToHex(value);
  return hex.length % 2 === 0 ? hex : `0x0${hex.slice(2)}`;
}
