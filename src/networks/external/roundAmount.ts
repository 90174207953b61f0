import { formatEther } from "viem";

/** Significant digits that are enough for display. */
const DIGITS = 6;

/**
 * Formats an amount of 1e-18 units with six significant digits at most, except that the integer part stays whole: 0.0000120494
 * rather than 0.000012049406059768.
 */
export function roundAmount(amount: bigint): string {
  const cut = 10n ** BigInt(Math.max(0, amount.toString().length - DIGITS));
  // All digits before the decimal point stay.
  return formatEther(
    amount < 10n ** 18n * 10n ** BigInt(DIGITS) ? (amount / cut) * cut : (amount / 10n ** 18n) * 10n ** 18n,
  );
}
