import { describeValue } from "../lib/describeValue.ts";

/** Most digits that a decimal may have: those of 2^256 - 1. */
const MAX_DIGITS = 78;

export const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * Converts a whole number as callers send it into a `bigint`: a string of 1 to 78 decimal digits with an optional minus sign, or a JSON integer,
 * which is a `number` of at most ±(2^53 - 1) or a `bigint` of at most 78 digits. `undefined` for anything else: exponents, blanks, hex, a plus sign,
 * fractions.
 */
export function findDecimal(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value === "bigint") return findDecimal(value.toString());
  if (typeof value !== "string" || value.length > MAX_DIGITS + 1) return undefined;
  return /^-?[0-9]{1,78}$/.test(value) ? BigInt(value) : undefined;
}

/** Says why {@link findDecimal} returned nothing. */
export function explainNotDecimal(value: unknown): string {
  if (typeof value === "bigint") return explainNotDecimal(value.toString());
  if (typeof value === "number" && Number.isInteger(value)) {
    return `must be sent as a string when it is beyond ±${Number.MAX_SAFE_INTEGER}: JSON numbers lose digits there`;
  }
  if (typeof value === "string" && /^-?[0-9]{79,}$/.test(value)) {
    return `must have at most ${MAX_DIGITS} digits, not ${value.replace("-", "").length}`;
  }
  return `must be a whole number in decimal digits, such as "10" or 10, not ${describeValue(value)}`;
}
