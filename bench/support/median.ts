/** The middle value; of an even number of values the upper one of the middle two. At least one value. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
