import { sql } from "kysely";
import type { Kysely } from "kysely";
import { migrations } from "./migrations.ts";
import type { Tables } from "./schema.ts";
import { findSetting, saveSetting } from "./settings.ts";

/**
 * Migrations that only add what the version before them may leave unread and unwritten: that version may go on beside this one, as in
 * a rolling upgrade; only such are made while other processes serve. Whoever adds a migration decides; one that isn't listed ends the use
 * of all earlier versions.
 */
export const ADDING: readonly string[] = [
  "0012_leases",
  "0013_shared_state",
  "0014_deleted_dapps",
  "0015_dry_runs",
  "0017_key_names",
  "0018_key_limits",
];
/** Under what name a database says which versions may use it: the newest migration it has had, and the oldest that a version must know. */
export const USABLE_SINCE_SETTING = "usable since migration";

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

/**
 * Whether a database with newer migrations says that this version may use it all the same.
 *
 * @param applied names of the migrations that it has had. What was noted before the last of them says nothing.
 */
export async function isUsable(db: Kysely<Tables>, applied: readonly string[]): Promise<boolean> {
  const [newest, since] = (await findSetting(db, USABLE_SINCE_SETTING))?.split(" ") ?? [];
  return newest === applied.at(-1) && since !== undefined && since in migrations;
}

/** Notes, after migrations, which older versions may use the database. */
export async function noteUsable(db: Kysely<Tables>): Promise<void> {
  const names = Object.keys(migrations);
  const since = names.findLast((name) => !ADDING.includes(name));
  const noted = `${names.at(-1)} ${since}`;
  if ((await findSetting(db, USABLE_SINCE_SETTING)) !== noted)
    await saveSetting(db, USABLE_SINCE_SETTING, noted);
}

async function listTables(db: Kysely<Tables>): Promise<string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);
}
