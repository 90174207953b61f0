import { formatEther } from "viem";

/** Digits that say enough of an amount. */
const DIGITS = 6;

/** Shows an amount of 1e-18 units with six digits at most: 0.0000120494 rather than 0.000012049406059768. */
export function roundAmount(amount: bigint): string {
  const cut = 10n ** BigInt(Math.max(0, amount.toString().length - DIGITS));
  // What is left of the point stays whole.
  return formatEther(
    amount < 10n ** 18n * 10n ** BigInt(DIGITS) ? (amount / cut) * cut : (amount / 10n ** 18n) * 10n ** 18n,
  );
}
