import { plainJson } from "./builtins.ts";
import { encodeUtf8 } from "./utf8.ts";

/**
 * Messages of the host calls `fetch` and `import`. In both directions a message consists of the header's length in
 * bytes (32 bits, big-endian), the header (JSON) and the body (the rest). The host's headers are ASCII, so reading one
 * needs no decoder.
 */

/**
 * Header of a `fetch` request; the message's body is the request's.
 * @public documents the message's shape
 */
export interface FetchCallRequest {
  /** As the source wrote it, unparsed. */
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly redirect: "follow" | "error" | "manual";
  /** False: no body. True with nothing after the header: an empty body. */
  readonly hasBody: boolean;
}

/** Header of a `fetch` response; the message's body is the response's, decoded. */
export interface FetchCallResponse {
  readonly status: number;
  readonly statusText: string;
  /** Names are lower-case; repeated names stay separate. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly url: string;
  readonly redirected: boolean;
  /**
   * Set when no server answered as requested: the other fields are then the response that the nodes' proxy gives
   * instead (status 400 to 429, JSON `{"error": …}`). `message` is what plain Deno's `fetch` rejects with.
   */
  readonly failure?: { readonly kind: string; readonly message: string };
}

/**
 * Header of an `import` request, which has no body.
 * @public documents the message's shape
 */
export interface ImportCallRequest {
  readonly specifier: string;
  /** The `type` import attribute; absent for JavaScript. */
  readonly type?: string;
}

/**
 * Header of an `import` response; the body is the module's code (ASCII), empty after a failure.
 * @public documents the message's shape
 */
export interface ImportCallResponse {
  /** Message of the `TypeError` that `import()` rejects with. */
  readonly failure?: string;
}

const { JSON, Reflect, String, Uint8Array } = globalThis;
const { parse } = JSON;
const { fromCharCode } = String;
const { apply } = Reflect;

/** Size of the length before the header, in bytes. */
const PREFIX_BYTES = 4;

/** Encodes a message. */
export function packMessage(header: object, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const json = encodeUtf8(plainJson(header));
  const { length } = json;
  const message = new Uint8Array(PREFIX_BYTES + length + body.length);
  message[0] = length >>> 24;
  message[1] = length >>> 16;
  message[2] = length >>> 8;
  message[3] = length;
  message.set(json, PREFIX_BYTES);
  message.set(body, PREFIX_BYTES + length);
  return message;
}

/** Decodes a message from the host, which is trusted to have the header's shape. The body is a view into the message. */
export function unpackMessage(message: Uint8Array): {
  readonly header: unknown;
  readonly body: Uint8Array;
} {
  const [a = 0, b = 0, c = 0, d = 0] = [message[0], message[1], message[2], message[3]];
  const end = PREFIX_BYTES + (((a << 24) | (b << 16) | (c << 8) | d) >>> 0);
  const header = parse(decodeAscii(message.subarray(PREFIX_BYTES, end))) as unknown;
  return { header, body: message.subarray(end) };
}

/** Most bytes decoded at once: each one is an argument on the call's stack. */
const PIECE_BYTES = 8_192;

/** Decodes ASCII text. */
export function decodeAscii(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += apply(fromCharCode, undefined, bytes.subarray(at, at + PIECE_BYTES) as unknown as number[]);
  }
  return text;
}
