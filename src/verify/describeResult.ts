import type { Hex } from "viem";
import { fromHexText } from "../lib/hex.ts";
import { splitAtHidden } from "../lib/hiddenCharacters.ts";

/** Size of an encoded integer. */
const WORD_BYTES = 32;

/** Text may have line breaks and tabs, but no other control characters. */
const CONTROL = /(?![\t\n])\p{Cc}/u;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Describes a result for a person to read, on one line. Its type is not on chain. UTF-8 without control characters is shown as text in
 * quotes; characters that would hide or reorder others are replaced by their names. Other results of 32 bytes are shown as a number in
 * decimal, with both readings if the signed one is negative; anything else as `0x` hex.
 */
export function describeResult(hex: Hex): string {
  const bytes = fromHexText(hex);
  const text = decodeText(bytes);
  if (text !== undefined) return JSON.stringify(splitAtHidden(text).join(""));
  if (bytes.length !== WORD_BYTES) return hex;
  const number = BigInt(hex);
  const signed = BigInt.asIntN(8 * WORD_BYTES, number);
  return signed < 0n ? `${signed}, or ${number} if unsigned` : String(number);
}

/** Decodes the text of a report's error; bytes that are no UTF-8 are replaced. It may have hidden characters. */
export function describeErrorBytes(hex: Hex): string {
  return new TextDecoder().decode(fromHexText(hex));
}

/** Decodes the text; `undefined` if the bytes are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes);
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
