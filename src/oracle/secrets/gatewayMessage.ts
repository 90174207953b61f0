/**
 * Messages of functions-toolkit's `SecretsManager` to a gateway: JSON-RPC 2.0 with a signed body. Source: `SecretsManager.js` of
 * functions-toolkit 0.3.2. The operator's service sends the same, with methods of its own, to an oracle in another process.
 */
import { hashMessage, isHex, recoverAddress, size, type Hex } from "viem";
import { isObject } from "../../lib/isObject.ts";
import { TycheError } from "../../lib/errors.ts";

/** Methods of functions-toolkit. */
export const TOOLKIT_METHODS = ["secrets_set", "secrets_list"] as const;
/** What only the operator's service may ask, see `operatorCalls.ts`. */
export const OPERATOR_METHODS = [
  "operator_keep",
  "operator_drop",
  "operator_describe",
  "operator_run",
] as const;
export type OperatorMethod = (typeof OPERATOR_METHODS)[number];
/** What nodes of several operators ask each other, see `sharedKeys.ts`. */
export const NODE_METHODS = ["node_dealing", "node_key", "node_share", "node_slots", "node_held"] as const;
export type NodeMethod = (typeof NODE_METHODS)[number];
type Method = (typeof TOOLKIT_METHODS)[number] | OperatorMethod | NodeMethod;

/** Bytes to which the members of a body are padded with zeros before they are signed. */
const PADDED = [
  ["message_id", 128],
  ["method", 64],
  ["don_id", 64],
  ["receiver", 42],
] as const;

const SIGNATURE_BYTES = 65;

/** What is signed of a message. */
export interface GatewayBody {
  readonly message_id: string;
  readonly method: Method;
  readonly don_id: string;
  readonly receiver: string;
  readonly payload?: unknown;
}

/** A message as it came. */
export interface UncheckedMessage {
  readonly id: string;
  readonly body: GatewayBody;
  readonly signature: unknown;
}

/** A message whose signature is its sender's. */
export interface GatewayMessage {
  readonly id: string;
  readonly body: GatewayBody;
  /** Lower case. */
  readonly sender: Hex;
}

/** An upload whose signature is its sender's. */
export interface Upload {
  readonly slotId: number;
  readonly version: number;
  /** JSON of a TDH2 ciphertext. */
  readonly ciphertext: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Returns the bytes that a body's signature is over, as a personal message (EIP-191). */
export function encodeGatewayBody(body: GatewayBody): Uint8Array {
  const heads = PADDED.map(([name, bytes]) => {
    const padded = Buffer.alloc(bytes);
    Buffer.from(body[name]).copy(padded);
    return padded;
  });
  return Buffer.concat([...heads, Buffer.from(body.payload ? JSON.stringify(body.payload) : "")]);
}

/**
 * Parses a message.
 *
 * @throws {GatewayError} when it is malformed.
 */
export function parseGatewayMessage(text: string): UncheckedMessage {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new GatewayError("the body is no JSON");
  }
  const { id, params } = isObject(message) ? message : {};
  const { body, signature } = isObject(params) ? params : {};
  if (typeof id !== "string" || !isGatewayBody(body) || body.message_id !== id)
    throw new GatewayError(
      `it must be a JSON-RPC request with a text as id and params {body: {message_id, method, don_id, receiver, payload}, signature}, method one of ${TOOLKIT_METHODS.join(", ")}`,
    );
  return { id, body, signature };
}

/**
 * Recovers who signed a message.
 *
 * @throws {GatewayError} when nobody has.
 */
export async function checkSender({ id, body, signature }: UncheckedMessage): Promise<GatewayMessage> {
  return { id, body, sender: await recoverSender(() => encodeGatewayBody(body), signature) };
}

/**
 * Parses the payload of `secrets_set`, whose signature must be the sender's too.
 *
 * @throws {GatewayError} when it is not.
 */
export async function parseUpload({ body, sender }: GatewayMessage): Promise<Upload> {
  const { slot_id, version, payload, expiration, signature } = isObject(body.payload) ? body.payload : {};
  if (
    !isCount(slot_id) ||
    !isCount(version) ||
    !isCount(expiration) ||
    typeof payload !== "string" ||
    typeof signature !== "string"
  )
    throw new GatewayError("the payload must have slot_id, version, payload, expiration and signature");
  const address = Buffer.from(sender.slice(2), "hex").toString("base64");
  const signed = JSON.stringify({ address, slotid: slot_id, payload, version, expiration });
  const signer = await recoverSender(
    () => Buffer.from(signed),
    `0x${Buffer.from(signature, "base64").toString("hex")}`,
  );
  if (signer !== sender)
    throw new GatewayError("what is stored and the message are signed by different keys");
  const ciphertext = Buffer.from(payload, "base64").toString();
  return { slotId: slot_id, version, ciphertext, expiresAt: expiration };
}

/** Encodes and hashes only what has a signature: anybody may send, and a long message takes milliseconds. */
async function recoverSender(encode: () => Uint8Array, signature: unknown): Promise<Hex> {
  const signer =
    isHex(signature) && size(signature) === SIGNATURE_BYTES
      ? await recoverAddress({ hash: hashMessage({ raw: encode() }), signature }).catch(() => undefined)
      : undefined;
  if (signer === undefined) throw new GatewayError("its signature is none");
  return signer.toLowerCase() as Hex;
}

/** Whether a value is a body of some message: its members have the types and at most the lengths that are signed, and no others are signed alike. */
export function isGatewayBody(body: unknown): body is GatewayBody {
  return (
    isObject(body) &&
    [...TOOLKIT_METHODS, ...OPERATOR_METHODS, ...NODE_METHODS].some((method) => method === body["method"]) &&
    PADDED.every(([name, bytes]) => {
      const text = body[name];
      return typeof text === "string" && Buffer.byteLength(text) <= bytes && isSignedAsItIs(text);
    })
  );
}

/** Whether no other text is signed as the same bytes: a zero could be padding, and a lone surrogate becomes another character. */
const isSignedAsItIs = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** A message that no node takes. */
export class GatewayError extends TycheError {
  constructor(reason: string) {
    super(`The message can't be taken: ${reason}.`, { code: "invalid_parameter", blame: "caller" });
  }
}
