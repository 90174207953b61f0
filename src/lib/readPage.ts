/**
 * Reads a page of at most `limit` rows, and one row more to find out whether another page follows.
 *
 * @returns `nextCursor`: the id of the last row, `null` if no page follows.
 */
export async function readPage<Row extends { readonly id: string }>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
): Promise<{ readonly rows: Row[]; readonly nextCursor: string | null }> {
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  return { rows, nextCursor: found.length > limit ? rows.at(-1)!.id : null };
}
import { InvalidParameterError } from "./invalidParameter.ts";

/** Asserts that a cursor has the form of an item's id: a page's cursor is the id of its last item. Throws `invalid_parameter`. */
export function assertCursor(cursor: string | undefined, prefix: "req" | "dry"): void {
  if (cursor === undefined) return;
  if (cursor.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(cursor.slice(prefix.length + 1)))
    return;
  throw new InvalidParameterError([
    { path: "/cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
