import { encodeUtf8 } from "./utf8.ts";

/**
 * What the host calls `fetch` and `import` carry. Both ways a message is: length of the header in bytes (32 bits,
 * big-endian), header (JSON), body (the rest). The host's headers are ASCII, so that reading one needs no decoder.
 */

/**
 * Header of a `fetch` request; the body is the request's.
 * @public shape of what crosses, for readers
 */
export interface FetchCallRequest {
  /** As the source wrote it, unparsed. */
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly redirect: "follow" | "error" | "manual";
  /** False: no body; true with nothing after the header: an empty one. */
  readonly hasBody: boolean;
}

/** Header of a `fetch` answer; the body is the response's, decoded. */
export interface FetchCallResponse {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names; repeated names stay apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly url: string;
  readonly redirected: boolean;
  /**
   * Set when no server answered as asked: the rest is then the response that the nodes' proxy gives in its place
   * (status 400 to 429, JSON `{"error": …}`). `message` is what a bare Deno `fetch` rejects with.
   */
  readonly failure?: { readonly kind: string; readonly message: string };
}

/**
 * Header of an `import` request; it has no body.
 * @public shape of what crosses, for readers
 */
export interface ImportCallRequest {
  readonly specifier: string;
  /** The `type` of the import attributes, absent for JavaScript. */
  readonly type?: string;
}

/**
 * Header of an `import` answer; the body is the module's code (ASCII), empty after a failure.
 * @public shape of what crosses, for readers
 */
export interface ImportCallResponse {
  /** Message of the `TypeError` that `import()` rejects with. */
  readonly failure?: string;
}

const { JSON, String, Uint8Array } = globalThis;
const { parse, stringify } = JSON;
const { fromCharCode } = String;
const subarray = Function.prototype.call.bind(Uint8Array.prototype.subarray) as (
  bytes: Uint8Array,
  start: number,
  end?: number,
) => Uint8Array;
const set = Function.prototype.call.bind(Uint8Array.prototype.set) as (
  bytes: Uint8Array,
  from: Uint8Array,
  at: number,
) => void;
const apply = Reflect.apply;

/** Bytes of the length before the header. */
const PREFIX_BYTES = 4;

/** Writes a message. */
export function packMessage(header: object, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const json = encodeUtf8(stringify(header));
  const { length } = json;
  const message = new Uint8Array(PREFIX_BYTES + length + body.length);
  message[0] = length >>> 24;
  message[1] = length >>> 16;
  message[2] = length >>> 8;
  message[3] = length;
  set(message, json, PREFIX_BYTES);
  set(message, body, PREFIX_BYTES + length);
  return message;
}

/** Reads a message of the host, which is trusted to have the header's shape. The body is a view into it. */
export function unpackMessage(message: Uint8Array): {
  readonly header: unknown;
  readonly body: Uint8Array;
} {
  const [a = 0, b = 0, c = 0, d = 0] = [message[0], message[1], message[2], message[3]];
  const end = PREFIX_BYTES + (((a << 24) | (b << 16) | (c << 8) | d) >>> 0);
  const header = parse(decodeAscii(subarray(message, PREFIX_BYTES, end))) as unknown;
  return { header, body: subarray(message, end) };
}

/** Longest piece that is turned into text at once; a call takes that many arguments on the stack. */
const PIECE_BYTES = 8_192;

/** Reads ASCII text. */
export function decodeAscii(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += apply(fromCharCode, undefined, subarray(bytes, at, at + PIECE_BYTES) as unknown as number[]);
  }
  return text;
}
