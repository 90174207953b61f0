import { sql } from "kysely";
import type { Kysely } from "kysely";
import { migrations } from "./migrations.ts";
import type { Tables } from "./schema.ts";

/** Kysely's record of the migrations that a database has had. */
const RECORD = "kysely_migration";

/** Returns the names of the migrations that a database has had, in their order: none when it is empty, or another program's. */
export async function listAppliedMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  if (!(await listTables(db)).includes(RECORD)) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(RECORD)} ORDER BY name`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Whether a database holds tables, and none of ours. */
export async function isStranger(db: Kysely<Tables>): Promise<boolean> {
  const tables = await listTables(db);
  return tables.length > 0 && !tables.includes(RECORD);
}

/** Returns the names of this version's migrations that a database hasn't had. */
export function findMissingMigrations(applied: readonly string[]): string[] {
  return Object.keys(migrations).filter((name) => !applied.includes(name));
}

async function listTables(db: Kysely<Tables>): Promise<string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);
}
