/** Most digits a decimal may have: those of 2^256 - 1. */
const MAX_DIGITS = 78;

export const MAX_UINT256 = 2n ** 256n - 1n;

/**
 * Turns a whole number as callers send it into a `bigint`: a string of 1 to 78 decimal digits with an optional minus sign, or a
 * JSON integer of at most 2^53 - 1 either way. `undefined` for anything else: exponents, blanks, hex, a plus sign, fractions.
 */
export function findDecimal(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "string" || value.length > MAX_DIGITS + 1) return undefined;
  return /^-?[0-9]{1,78}$/.test(value) ? BigInt(value) : undefined;
}

/** Says why {@link findDecimal} gave nothing back. */
export function explainNotDecimal(value: unknown): string {
  if (typeof value === "number" && Number.isInteger(value)) {
    return `must be sent as a string when it is beyond ±${Number.MAX_SAFE_INTEGER}: JSON numbers lose digits there`;
  }
  if (typeof value === "string" && /^-?[0-9]{79,}$/.test(value)) {
    return `must have at most ${MAX_DIGITS} digits, not ${value.replace("-", "").length}`;
  }
  return `must be a whole number in decimal digits, such as "10" or 10, not ${quoteValue(value)}`;
}

/** Most characters of a caller's value that a message repeats. */
const MAX_QUOTED_LENGTH = 60;

/** Writes a caller's value for a message, shortened. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length <= MAX_QUOTED_LENGTH
    ? text
    : `${text.slice(0, MAX_QUOTED_LENGTH)}… (${text.length} characters)`;
}
