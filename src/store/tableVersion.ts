import { sql, type Kysely } from "kysely";
import { LAST_BREAKING, migrations } from "./migrations.ts";
import type { Tables } from "./schema.ts";
import { findSetting, saveSetting } from "./settings.ts";

/** Name of the setting that says which versions may use the database: its newest migration, and the oldest that a version must know. */
export const USABLE_SINCE_SETTING = "usable since migration";

/** Kysely's table of applied migrations. */
const RECORD = "kysely_migration";

/** Returns the names of a database's applied migrations, in order; none if it is empty or another program's. */
export async function listAppliedMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  if (!(await listTables(db)).includes(RECORD)) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(RECORD)} ORDER BY name`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Whether a database has tables, but none of ours. */
export async function isStranger(db: Kysely<Tables>): Promise<boolean> {
  const tables = await listTables(db);
  return tables.length > 0 && !tables.includes(RECORD);
}

/** Returns the names of this version's migrations that a database lacks. */
export function findMissingMigrations(applied: readonly string[]): string[] {
  return Object.keys(migrations).filter((name) => !applied.includes(name));
}

/**
 * Whether a database with newer migrations declares that this version may still use it.
 *
 * @param applied names of its applied migrations. A declaration made before the last of them doesn't count.
 */
export async function isUsable(db: Kysely<Tables>, applied: readonly string[]): Promise<boolean> {
  const [newest, since] = (await findSetting(db, USABLE_SINCE_SETTING))?.split(" ") ?? [];
  return newest === applied.at(-1) && since !== undefined && since in migrations;
}

/** Records, after migrations, which older versions may use the database. */
export async function noteUsable(db: Kysely<Tables>): Promise<void> {
  const noted = `${Object.keys(migrations).at(-1)} ${LAST_BREAKING}`;
  if ((await findSetting(db, USABLE_SINCE_SETTING)) !== noted)
    await saveSetting(db, USABLE_SINCE_SETTING, noted);
}

async function listTables(db: Kysely<Tables>): Promise<string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);
}
