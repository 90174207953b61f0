import { isId } from "./idForm.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";

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
/** Asserts that a cursor has the form of an item's id: a page's cursor is the id of its last item. Throws `invalid_parameter`. */
export function assertCursor(cursor: string | undefined, prefix: "req" | "dry"): void {
  if (cursor === undefined || isId(prefix, cursor)) return;
  throw new InvalidParameterError([
    { path: "/cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
