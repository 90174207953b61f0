/** Divides an amount into equal parts; if there is a remainder, the first parts are greater by 1. */
export function divideEvenly(amount: bigint, parts: number): bigint[] {
  const count = BigInt(parts);
  return Array.from({ length: parts }, (_, i) => amount / count + (BigInt(i) < amount % count ? 1n : 0n));
}
