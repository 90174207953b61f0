import { fromBase64, fromHex, toBase64, toHex } from "../baseCodes.ts";
import type { Internals } from "../internals.ts";
import type { Bytes } from "./buffer.ts";
import { unknownEncoding } from "./errors.ts";

/** Node's encoding names in lower case, mapped to their canonical names. */
export const ENCODINGS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  utf8: "utf8",
  "utf-8": "utf8",
  ucs2: "utf16le",
  "ucs-2": "utf16le",
  utf16le: "utf16le",
  "utf-16le": "utf16le",
  latin1: "latin1",
  binary: "latin1",
  ascii: "ascii",
  hex: "hex",
  base64: "base64",
  base64url: "base64url",
};

/** Converts text to bytes and back in Node's encodings, by the names that `encodingOf` returns. */
export interface Encodings {
  readonly encode: (text: string, encoding: string) => Bytes;
  readonly decode: (bytes: Uint8Array, encoding: string) => string;
}

/**
 * Returns the canonical name of an encoding; `utf8` if it is `undefined`.
 * @throws {TypeError} `ERR_UNKNOWN_ENCODING`.
 */
export function encodingOf(encoding: unknown): string {
  const known = encoding === undefined ? "utf8" : ENCODINGS[String(encoding).toLowerCase()];
  if (known === undefined) throw unknownEncoding(encoding);
  return known;
}

/** Creates the encodings. UTF-8 is encoded by `Internals.encodeUtf8` and decoded by the text chunk. */
export function createEncodings({ decodeUtf8, encodeUtf8 }: Internals): Encodings {
  function encode(text: string, encoding: string): Bytes {
    switch (encoding) {
      case "utf8":
        return encodeUtf8(text) as Bytes;
      case "hex":
        return readHex(text);
      case "base64":
      case "base64url":
        return readBase64(text);
      case "utf16le": {
        const bytes = new Uint8Array(text.length * 2);
        for (let at = 0; at < text.length; at++) {
          const unit = text.charCodeAt(at);
          bytes[at * 2] = unit;
          bytes[at * 2 + 1] = unit >> 8;
        }
        return bytes;
      }
      default:
        return fillLatin1(text);
    }
  }

  function decode(bytes: Uint8Array, encoding: string): string {
    switch (encoding) {
      case "utf8":
        return decodeUtf8(bytes, false, true);
      case "hex":
        return toHex(bytes);
      case "base64":
        return toBase64(bytes);
      case "base64url":
        return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
      case "utf16le": {
        let text = "";
        for (let at = 0; at + 1 < bytes.length; at += 2)
          text += String.fromCharCode((bytes[at] as number) | ((bytes[at + 1] as number) << 8));
        return text;
      }
      case "ascii": {
        let text = "";
        for (const byte of bytes) text += String.fromCharCode(byte & 0x7f);
        return text;
      }
      default: {
        let text = "";
        for (const byte of bytes) text += String.fromCharCode(byte);
        return text;
      }
    }
  }

  return { encode, decode };
}

function fillLatin1(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function readHex(text: string): Bytes {
  const pairs = /^(?:[0-9a-fA-F]{2})*/.exec(text)?.[0] ?? "";
  return fromHex(pairs);
}

function readBase64(text: string): Bytes {
  const body = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/=[^]*$/, "")
    .replace(/[^A-Za-z0-9+/]/g, "");
  const kept = body.length % 4 === 1 ? body.slice(0, -1) : body;
  return fromBase64(kept);
}
