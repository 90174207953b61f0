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
