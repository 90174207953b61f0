import { sql, type Kysely } from "kysely";
import { TycheError } from "../lib/errors.ts";
import type { Tables } from "./schema.ts";
import type { Queryable } from "./queryable.ts";
import { createDigest, digestTables, findDifferences, readPages, type TableDigest } from "./tableDigest.ts";
import { NUMBERED_TABLES, TABLE_NAMES } from "./tableKeys.ts";
import { USABLE_SINCE_SETTING } from "./tableVersion.ts";

export interface CopyOptions {
  /** Called with the number of a table's rows copied or read back so far. */
  readonly onRows?: (table: string, rows: number) => void;
}

/**
 * Copies every row of a SQLite database to a PostgreSQL database in one transaction: all of them or none. Before the commit, the target
 * is read back and compared with what was read from the source. The source can't be written meanwhile. A target that already has the same
 * rows, as after a copy interrupted at its end, is left as it is.
 *
 * @param source a database with this version's tables, as is the target.
 * @throws {DatabaseCopyError} when the target holds other rows, or its rows differ from what was copied.
 */
export async function copyTables(
  source: Kysely<Tables>,
  target: Kysely<Tables>,
  { onRows = () => {} }: CopyOptions = {},
): Promise<readonly TableDigest[]> {
  return await source.connection().execute(async (from) => {
    await sql`BEGIN IMMEDIATE`.execute(from);
    try {
      if (await hasRows(target)) return await assertSame(from, target, onRows);
      return await target.transaction().execute((to) => copyAll(from, to, onRows));
    } finally {
      await sql`ROLLBACK`.execute(from);
    }
  });
}

async function copyAll(
  from: Queryable,
  to: Queryable,
  onRows: (table: string, rows: number) => void,
): Promise<readonly TableDigest[]> {
  const copied: TableDigest[] = [];
  await to.deleteFrom("settings").execute();
  for (const table of TABLE_NAMES) {
    const digest = createDigest(table);
    let count = 0;
    for await (const rows of readPages(from, table)) {
      digest.add(rows);
      await to.insertInto(table).values(rows).execute();
      onRows(table, (count += rows.length));
    }
    copied.push(digest.end());
  }
  for (const table of NUMBERED_TABLES)
    await sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), max(id)) FROM ${sql.table(table)}`.execute(
      to,
    );
  const different = findDifferences(copied, await digestTables(to, onRows));
  if (different.length === 0) return copied;
  throw new DatabaseCopyError(
    `nothing was copied: the target gave back other rows of ${different.join(", ")} than were written to it`,
  );
}

async function hasRows(db: Queryable): Promise<boolean> {
  for (const table of TABLE_NAMES) {
    // Ignores the setting that opening a database writes by itself.
    const but = table === "settings" ? sql`WHERE name <> ${USABLE_SINCE_SETTING}` : sql``;
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} ${but} LIMIT 1`.execute(db);
    if (rows.length > 0) return true;
  }
  return false;
}

async function assertSame(
  from: Queryable,
  to: Queryable,
  onRows: (table: string, rows: number) => void,
): Promise<readonly TableDigest[]> {
  const digests = await digestTables(from, onRows);
  const different = findDifferences(digests, await digestTables(to, onRows));
  if (different.length === 0) return digests;
  throw new DatabaseCopyError(
    `nothing was copied: the target holds other rows already, in ${different.join(", ")}; name an empty database`,
  );
}

/** A database can't be copied; the message says why and what to do. */
export class DatabaseCopyError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "copy_failed", blame: "caller", cause });
  }
}
