import { sql, type Kysely } from "kysely";
import { migrations } from "./migrations.ts";
import type { Tables } from "./schema.ts";
import { findSetting, saveSetting } from "./settings.ts";

/**
 * Migrations that only add what the previous version may leave unread and unwritten, so that version may keep running beside this one, as
 * in a rolling upgrade. Only these are applied while other processes serve. Whoever adds a migration decides; one that isn't listed makes
 * the database unusable for all earlier versions.
 */
export const ADDING: readonly string[] = [
  "0012_leases",
  "0013_shared_state",
  "0014_deleted_dapps",
  "0015_dry_runs",
  "0017_key_names",
  "0018_key_limits",
  "0019_creation_keys",
  "0021_oracle_ids",
  "0023_failed_callbacks",
  "0024_webhooks",
  "0025_schedules",
  "0026_log_triggers",
  "0027_labels",
  "0028_secrets",
  "0030_current_secrets",
  "0031_secret_owners",
  "0032_people",
  "0033_secret_hosts",
  "0034_passkey_browsers",
  "0036_late_rounds",
  "0037_secret_keys",
  "0038_late_round_times",
  "0039_identities",
  "0041_audit_names",
  "0042_requests_on_chain",
  "0043_inviters",
  "0044_audit_changes",
  "0045_operator_sessions",
  "0047_webhook_answers",
];
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
  const names = Object.keys(migrations);
  const since = names.findLast((name) => !ADDING.includes(name));
  const noted = `${names.at(-1)} ${since}`;
  if ((await findSetting(db, USABLE_SINCE_SETTING)) !== noted)
    await saveSetting(db, USABLE_SINCE_SETTING, noted);
}

async function listTables(db: Kysely<Tables>): Promise<string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);
}
