/** Formats a number with its noun: `1 example`, `2 examples`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
