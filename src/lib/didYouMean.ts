/** Most edits between a name and what was meant. */
const MAX_EDITS = 2;

/**
 * Returns a question for the end of a message, ` (did you mean coinflip?)`, with the name that differs from `given` by the fewest
 * edits, whatever its case: two at most, and fewer than half of its characters. Otherwise `""`.
 */
export function didYouMean(given: unknown, names: readonly string[]): string {
  if (typeof given !== "string" || given.length > 100) return "";
  const near = names
    .map((name) => ({ name, edits: countEdits(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= MAX_EDITS && edits < name.length / 2)
    .toSorted((a, b) => a.edits - b.edits)[0];
  return near === undefined ? "" : ` (did you mean ${near.name}?)`;
}

/** Counts the characters to insert, remove or replace, and the neighbours to swap, that make `b` of `a` (optimal string alignment). */
function countEdits(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next[column] = Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? older[column - 2]! + 1 : Infinity,
      );
    }
    older = last;
    last = next;
  }
  return last[b.length]!;
}
