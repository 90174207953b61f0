/** Returns the median; for an even number of values, the upper of the middle two. Takes at least one value. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
