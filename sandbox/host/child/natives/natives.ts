import { cryptoNatives } from "./cryptography.ts";
import { textNatives } from "./text.ts";
import { urlNatives } from "./url.ts";
import { zlibNatives } from "./compression.ts";

/** What a native answers: text, or bytes. */
export type NativeAnswer = string | Uint8Array;

/**
 * A pure function of the platform that guest code may use at once: parsing, encodings, digests. It reads nothing but
 * its arguments, and both come from a hostile source: `header` is parsed JSON of any shape. What it throws reaches
 * the source as an `Error` with that message.
 */
export type Native = (header: Readonly<Record<string, unknown>>, body: Uint8Array) => NativeAnswer;

const NATIVES: ReadonlyMap<string, Native> = new Map(
  Object.entries({ ...textNatives, ...urlNatives, ...cryptoNatives, ...zlibNatives }),
);

/**
 * Answers a native call of the guest.
 * @returns Bytes; or text that begins with `=` (the answer) or `!` (the message of an error).
 */
export function callNative(name: string, header: string, body: Uint8Array): NativeAnswer {
  try {
    const native = NATIVES.get(name);
    if (native === undefined) throw new TypeError(`unknown native ${name.slice(0, 64)}`);
    const answer = native(JSON.parse(header) as Readonly<Record<string, unknown>>, body);
    return typeof answer === "string" ? `=${answer}` : answer;
  } catch (error) {
    return `!${error instanceof Error ? error.message : "native call failed"}`;
  }
}
