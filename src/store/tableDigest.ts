import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Tables } from "./schema.ts";
import type { Queryable } from "./queryable.ts";
import { TABLE_KEYS, TABLE_NAMES } from "./tableKeys.ts";

/** Rows in memory at once: a request with the largest source takes some 100 KB. */
const PAGE_ROWS = 500;

/** A row as every database returns it: text, numbers, bytes and `null`. */
export type TableRow = Readonly<Record<string, string | number | null | Uint8Array>>;

/** Digest of a table's contents. */
export interface TableDigest {
  readonly table: keyof Tables;
  readonly rows: number;
  /** SHA-256 over all rows in key order, as hex. Databases with the same rows have the same digest. */
  readonly sha256: string;
}

/** Digests a table's rows, which must be added in key order. */
export interface DigestBuilder {
  add(rows: readonly TableRow[]): void;
  end(): TableDigest;
}

/** Starts the digest of a table. */
export function createDigest(table: keyof Tables): DigestBuilder {
  const hash = createHash("sha256");
  let count = 0;
  return {
    add(rows) {
      for (const row of rows) hash.update(`${formatRow(row)}\n`);
      count += rows.length;
    },
    end: () => ({ table, rows: count, sha256: hash.digest("hex") }),
  };
}

/** Reads a table in pages, in key order. */
export async function* readPages(db: Queryable, table: keyof Tables): AsyncGenerator<readonly TableRow[]> {
  const keys: readonly string[] = TABLE_KEYS[table];
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  for (let last: TableRow | undefined; ;) {
    const from = last;
    const after =
      from === undefined ? sql`` : sql`WHERE (${columns}) > (${sql.join(keys.map((key) => from[key]))})`;
    const { rows } = await sql<TableRow>`
      SELECT * FROM ${sql.table(table)} ${after} ORDER BY ${columns} LIMIT ${sql.lit(PAGE_ROWS)}`.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    last = rows.at(-1);
  }
}

/**
 * Digests every table.
 *
 * @param onRows called for each page with its table and the number of rows read from it so far.
 */
export async function digestTables(
  db: Queryable,
  onRows: (table: string, rows: number) => void = () => {},
): Promise<TableDigest[]> {
  const digests: TableDigest[] = [];
  for (const table of TABLE_NAMES) {
    const digest = createDigest(table);
    let count = 0;
    for await (const rows of readPages(db, table)) {
      digest.add(rows);
      onRows(table, (count += rows.length));
    }
    digests.push(digest.end());
  }
  return digests;
}

/** Returns the names of the tables that differ. */
export function findDifferences(a: readonly TableDigest[], b: readonly TableDigest[]): string[] {
  const digestsOf = new Map(b.map(({ table, sha256 }) => [table, sha256]));
  return a.filter(({ table, sha256 }) => digestsOf.get(table) !== sha256).map(({ table }) => table);
}

/** Returns the same text for the same values, whatever the database's column order. */
function formatRow(row: TableRow): string {
  const names = Object.keys(row).toSorted();
  return JSON.stringify(
    names.map((name) => {
      const value = row[name]!;
      return [name, value instanceof Uint8Array ? { hex: Buffer.from(value).toString("hex") } : value];
    }),
  );
}
