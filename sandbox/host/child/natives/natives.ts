import { cryptoNatives } from "./cryptography.ts";
import { textNatives } from "./text.ts";
import { urlNatives } from "./url.ts";
import { zlibNatives } from "./compression.ts";
import type { Native, NativeAnswer } from "./native.ts";

const NATIVES: ReadonlyMap<string, Native> = new Map(
  Object.entries({ ...textNatives, ...urlNatives, ...cryptoNatives, ...zlibNatives }),
);

/**
 * Answers a native call by the guest.
 * @returns Bytes; or text that begins with `=` (the answer) or `!` (an error message).
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
