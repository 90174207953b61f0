import type { ReturnType } from "./vocabulary.ts";
import { TycheError } from "../lib/errors.ts";
import { UINT256_LIMIT, readUint256 } from "../lib/uint256.ts";
import { toHexText } from "../lib/hex.ts";

/** Size of the largest integer result. */
const MAX_INTEGER_BYTES = 32;
/** If the upper half of 64 bits is below this, a value is below 2^53 and exact as a number. */
const SAFE_HIGH = 1 << 21;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const strictUtf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Decodes a function's result to text, as `decodeResult` of @chainlink/functions-toolkit does. Integers are big-endian, of at most 32
 * bytes, and formatted in decimal; empty is 0, and only an `int256` of all 32 bytes can be negative (two's complement). A string is
 * UTF-8, with each invalid sequence replaced by U+FFFD. Throws {@link UndecodableResultError} for an integer of more than 32 bytes.
 */
export function decodeResult(bytes: Uint8Array, returnType: ReturnType): string {
  if (returnType === "string") return utf8.decode(bytes);
  if (bytes.length === MAX_INTEGER_BYTES) return decodeWord(bytes, returnType);
  if (bytes.length > MAX_INTEGER_BYTES) {
    throw new UndecodableResultError(
      `a result of ${bytes.length} bytes is too large for ${returnType}, which takes at most ${MAX_INTEGER_BYTES}`,
    );
  }
  return bytes.length === 0 ? "0" : String(BigInt(toHexText(bytes)));
}

/**
 * Decodes the result of a dry run, while its author can still correct it. Once a result is on chain, {@link decodeResult} decodes it,
 * whatever it is. Throws {@link UndecodableResultError} also for a string that is not UTF-8.
 */
export function decodeDryRun(bytes: Uint8Array, returnType: ReturnType): string {
  if (returnType !== "string") return decodeResult(bytes, returnType);
  try {
    return strictUtf8.decode(bytes);
  } catch (error) {
    throw new UndecodableResultError(
      `a result of ${bytes.length} bytes is not a string: it is not UTF-8. Return Functions.encodeString(text), or ask for ` +
        "returnType uint256 or int256 if it is a number",
      { cause: error },
    );
  }
}

/** Decodes 32 bytes, the form in which sources encode integers. Most results are small, and numbers are several times faster than BigInt. */
function decodeWord(bytes: Uint8Array, returnType: "uint256" | "int256"): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, MAX_INTEGER_BYTES);
  let top = 0;
  for (let at = 0; at < 24; at += 4) top |= view.getUint32(at);
  const high = view.getUint32(24);
  if (top === 0 && high < SAFE_HIGH) return String(high * 2 ** 32 + view.getUint32(28));
  const value = readUint256(bytes);
  return String(returnType === "int256" && bytes[0]! >= 0x80 ? value - UINT256_LIMIT : value);
}

/** A result doesn't match its return type. Code `undecodable_result`. */
export class UndecodableResultError extends TycheError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { code: "undecodable_result", blame: "caller", ...options });
  }
}
