import { nodeError } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Convert = (text: string) => unknown;

/** Pairs that are read unless `maxKeys` says otherwise. */
const MAX_PAIRS = 1000;
const ESCAPED_BYTE = /%[0-9a-f]{2}/i;
const ESCAPED = /^%[0-9a-f]{2}/i;

/** Escapes a text with half a surrogate pair in it: Node takes that with what follows, whatever it is. */
function escapeHalves(text: string): string {
  let escaped = "";
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) {
      escaped += encodeURIComponent(text.charAt(at));
      continue;
    }
    if (++at === text.length) throw nodeError("ERR_INVALID_URI", "URI malformed", URIError);
    const low = text.charCodeAt(at) & 0x3ff;
    escaped += encodeURIComponent(String.fromCodePoint(0x10000 + (((unit & 0x3ff) << 10) | low)));
  }
  return escaped;
}

/** Creates `node:querystring`. */
export function createQuerystring({ load }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as { Buffer: { allocUnsafe(length: number): Uint8Array } };

  /** Decodes what is escaped rightly to bytes, and takes the rest as it is. */
  function unescapeBuffer(given: { readonly length: number }, decodeSpaces = false): Uint8Array {
    // What has no length is refused in V8's words.
    // eslint-disable-next-line typescript/prefer-destructuring
    const length = given.length;
    const bytes = Buffer.allocUnsafe(length);
    const text = String(given);
    let count = 0;
    for (let at = 0; at < length; at++) {
      const escaped = ESCAPED.exec(text.slice(at, at + 3));
      if (escaped !== null) {
        bytes[count++] = Number.parseInt(escaped[0].slice(1), 16);
        at += 2;
      } else bytes[count++] = decodeSpaces && text[at] === "+" ? 32 : text.charCodeAt(at);
    }
    return bytes.subarray(0, count);
  }
  const decode = (text: string, decodeSpaces: boolean): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return unescapeBuffer(text, decodeSpaces).toString();
    }
  };
  function qsUnescape(text: string): string {
    return decode(text, false);
  }
  function qsEscape(value: unknown): string {
    const text = typeof value === "symbol" ? (value as never) + "" : String(value);
    return text.isWellFormed() ? encodeURIComponent(text) : escapeHalves(text);
  }
  function stringify(fields: unknown, separator?: string, equals?: string, options?: object): string {
    if (typeof fields !== "object" || fields === null) return "";
    // What is no function is called under the name that it has in Deno.
    const { encodeURIComponent: own }: { encodeURIComponent?: Convert } = options ?? {};
    const t = own || qsEscape;
    const text = (value: unknown): string => {
      const isText =
        typeof value === "string" ||
        (typeof value === "number" && Number.isFinite(value)) ||
        typeof value === "bigint" ||
        typeof value === "boolean";
      return isText ? (t(String(value)) as string) : "";
    };
    const pairs = Object.keys(fields).flatMap((key) => {
      const value = (fields as Record<string, unknown>)[key];
      const start = `${t(key) as string}${equals || "="}`;
      return (Array.isArray(value) ? (value as unknown[]) : [value]).map((item) => start + text(item));
    });
    // A separator is asked for its text only if it separates.
    return pairs.length > 1 ? pairs.join(separator || "&") : (pairs[0] ?? "");
  }
  function parse(
    text: unknown,
    separator: unknown = undefined,
    equals: unknown = undefined,
    options: object | null = {},
  ): object {
    const fields = Object.create(null) as Record<string, unknown>;
    if (typeof text !== "string" || text === "") return fields;
    if (options === null)
      throw new TypeError(
        "Cannot destructure property 'decodeURIComponent' of '(intermediate value)(intermediate value)(intermediate value)' as it is null.",
      );
    const { maxKeys, decodeURIComponent: own } = options as {
      maxKeys?: unknown;
      decodeURIComponent?: Convert;
    };
    const convert = typeof own === "function" ? own : (querystring["unescape"] as Convert);
    const isOwn = convert !== qsUnescape;
    const read = (part: string): unknown => {
      const spaced = part.replaceAll("+", isOwn ? "%20" : " ");
      if (spaced === "" || (!isOwn && !ESCAPED_BYTE.test(spaced))) return spaced;
      try {
        return convert(spaced);
      } catch {
        return decode(spaced, true);
      }
    };
    const most = typeof maxKeys === "number" ? maxKeys : MAX_PAIRS;
    const equal = String(equals || "=");
    const parts = text.split(String(separator || "&"));
    // A fraction is a number of pairs that is never reached; what is empty counts.
    for (const part of most > 0 && Number.isInteger(most) ? parts.slice(0, most) : parts) {
      if (part === "") continue;
      const at = part.indexOf(equal);
      const key = read(at < 0 ? part : part.slice(0, at)) as string;
      const value = at < 0 ? "" : read(part.slice(at + equal.length));
      if (!(key in fields)) fields[key] = value;
      else if (Array.isArray(fields[key])) (fields[key] as unknown[]).push(value);
      else fields[key] = [fields[key], value];
    }
    return fields;
  }
  const querystring: Record<string, unknown> = {
    parse,
    stringify,
    decode: parse,
    encode: stringify,
    unescape: qsUnescape,
    escape: qsEscape,
    unescapeBuffer,
  };
  return { ...querystring, default: querystring };
}
