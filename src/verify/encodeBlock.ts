import { concatBytes, fromRlp, numberToHex, pad, toRlp, type Hex } from "viem";
import { findSigner } from "../chainlink/reportSigners.ts";
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
 * Whether a block or a receipt with this bloom filter (`logsBloom`, Yellow Paper section 4.3.1) may have a log of this address with these
 * topics. `false` is certain.
 */
export function mayHaveLog(bloom: unknown, items: readonly Hex[]): boolean {
  if (typeof bloom !== "string" || !/^0x[0-9a-f]{512}$/i.test(bloom)) return true;
  const filter = fromHexText(bloom as Hex);
  return items.every((item) => {
    const hash = keccak256(fromHexText(item));
    return [0, 2, 4].every((at) => {
      const bit = ((hash[at]! << 8) | hash[at + 1]!) & 2047;
      return (filter[255 - (bit >> 3)]! & (1 << (bit & 7))) !== 0;
    });
  });
}

type Encoded = Hex | readonly Encoded[];
type Field = (answer: RpcObject) => Encoded;

const bytes =
  (name: string): Field =>
  (answer) =>
    hexOf(answer, name);
const number =
  (name: string): Field =>
  (answer) =>
    numberOf(answer, name);
const list =
  (name: string, encode: (item: never) => Encoded): Field =>
  (answer) => {
    const items = answer[name];
    if (!Array.isArray(items)) throw new TypeError(`${name} is no list`);
    return (items as never[]).map(encode);
  };
const all =
  (fields: readonly Field[]) =>
  (answer: RpcObject): Encoded =>
    fields.map((field) => field(answer));

/** What all types share: whom the transaction calls, and with what. */
const CALL: readonly Field[] = [
  number("gas"),
  (answer) => (answer["to"] === null || answer["to"] === undefined ? "0x" : hexOf(answer, "to")),
  number("value"),
  bytes("input"),
];
const ACCESS = list("accessList", all([bytes("address"), list("storageKeys", (key: Hex) => key)]));
// Signed by anyone, of whatever chain, and valid or not: numbers of any size.
const AUTHORIZATIONS = list(
  "authorizationList",
  all(
    ["chainId", "address", "nonce", "yParity", "r", "s"].map((name) =>
      (name === "address" ? bytes : number)(name),
    ),
  ),
);
const SIGNATURE: readonly Field[] = [
  (answer) => numberOf(answer, answer["yParity"] === undefined ? "v" : "yParity"),
  number("r"),
  number("s"),
];
const DYNAMIC_FEES = ["chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas"].map(number);

/** What each type of transaction (EIP-2718) is the RLP list of. */
const TRANSACTIONS: readonly (readonly Field[])[] = [
  [...["nonce", "gasPrice"].map(number), ...CALL, ...["v", "r", "s"].map(number)],
  [...["chainId", "nonce", "gasPrice"].map(number), ...CALL, ACCESS, ...SIGNATURE], // EIP-2930
  [...DYNAMIC_FEES, ...CALL, ACCESS, ...SIGNATURE], // EIP-1559
  [
    ...DYNAMIC_FEES,
    ...CALL,
    ACCESS,
    number("maxFeePerBlobGas"),
    list("blobVersionedHashes", (hash: Hex) => hash),
    ...SIGNATURE,
  ], // EIP-4844
  [...DYNAMIC_FEES, ...CALL, ACCESS, AUTHORIZATIONS, ...SIGNATURE], // EIP-7702
];

/**
 * Returns a transaction's bytes as they are signed, hashed and stored, from a node's answer.
 *
 * @throws if its type is not one of Ethereum's own, or a field is missing.
 */
export function encodeTransaction(answer: RpcObject): Uint8Array {
  const type = Number(answer["type"] ?? "0x0");
  const fields = TRANSACTIONS[type];
  if (fields === undefined)
    throw new TypeError(`the transaction's type ${String(answer["type"])} is unknown`);
  const body = toRlp(all(fields)(answer), "bytes");
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
}

/** The parts of a transaction that the checks read. */
export interface TransactionCall {
  /** Lower case; `undefined` if the transaction creates a contract. */
  readonly to: Hex | undefined;
  readonly input: Hex;
  /** The chain that the sender signed it for; `undefined` for a legacy transaction without replay protection (EIP-155). */
  readonly chainId: number | undefined;
}

/** Decodes the bytes of {@link encodeTransaction}. */
export function decodeTransaction(bytes: Uint8Array): TransactionCall {
  const type = bytes[0]! < 0x80 ? bytes[0]! : 0;
  const fields = fromRlp(type === 0 ? bytes : bytes.subarray(1), "hex") as Hex[];
  const at = TRANSACTIONS[type]!.indexOf(CALL[1]!);
  const to = fields[at]!;
  const [v, first] = [numberFrom(fields[at + 3]!), numberFrom(fields[0]!)];
  const ofLegacy = v < 35 ? undefined : Math.floor((v - 35) / 2);
  return {
    to: to === "0x" ? undefined : to,
    input: fields[at + 2]!,
    chainId: type === 0 ? ofLegacy : first,
  };
}

/** Recovers the address (checksummed) that signed the bytes of {@link encodeTransaction}; `undefined` if their signature is none. */
export function senderOf(bytes: Uint8Array): Hex | undefined {
  const type = bytes[0]! < 0x80 ? bytes[0]! : 0;
  const fields = fromRlp(type === 0 ? bytes : bytes.subarray(1), "hex") as Encoded[];
  const body = fields.slice(0, -3);
  const [v, r, s] = fields.slice(-3) as [Hex, Hex, Hex];
  const isReplayProtected = type === 0 && numberFrom(v) >= 35;
  // EIP-155: the chain's id is signed in place of the signature.
  if (isReplayProtected) body.push(encodeNumber((BigInt(v) - 35n) / 2n), "0x", "0x");
  const signed = toRlp(body, "bytes");
  const digest = hashOf(type === 0 ? signed : concatBytes([Uint8Array.of(type), signed]));
  const recoveryId = type === 0 ? (numberFrom(v) + 1) % 2 : numberFrom(v);
  return findSigner(digest, { r: pad(r), s: pad(s), recoveryId });
}

function numberFrom(field: Hex): number {
  return field === "0x" ? 0 : Number(field);
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
  const topics = list("topics", (topic: Hex) => hexOf({ topic }, "topic"));
  const body = toRlp(
    [
      numberOf(receipt, "status"),
      numberOf(receipt, "cumulativeGasUsed"),
      hexOf(receipt, "logsBloom"),
      (logs as RpcObject[]).map((log) => [hexOf(log, "address"), topics(log), hexOf(log, "data")]),
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

function numberOf(object: RpcObject, name: string): Hex {
  return encodeNumber(BigInt(hexOf(object, name)));
}

/** Encodes a number for RLP: without leading zeros, and zero as empty. */
function encodeNumber(value: bigint): Hex {
  if (value === 0n) return "0x";
  const hex = numberToHex(value);
  return hex.length % 2 === 0 ? hex : `0x0${hex.slice(2)}`;
}
