import { PostgresAdapter, sql, type Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import { TABLE_NAMES } from "./tableKeys.ts";

/** Something in a database that has a definition of its own: a table, a view or a trigger. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
}

/** Lists a SQLite database's objects. An index only repeats its table's rows. */
export const SQLITE_OBJECTS = "SELECT type, name FROM sqlite_master WHERE type <> 'index' ORDER BY name";

/** Without what belongs to extensions, such as the view of pg_stat_statements. */
const POSTGRES_OBJECTS = sql<SchemaObject>`
  SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END AS type, relname AS name
  FROM pg_class WHERE relkind IN ('r', 'p', 'f', 'v', 'm') AND relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
  UNION ALL
  SELECT 'trigger', tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace
  ORDER BY name`;

const OWN_TABLES: readonly string[] = [
  ...TABLE_NAMES,
  // What replicas share.
  "replicas",
  "call_counts",
  "web_sessions",
  "sign_in_codes",
  "kysely_migration",
  "kysely_migration_lock",
];

/**
 * Describes what is in a database besides this service's tables. The service makes no views and no triggers: a trigger changes rows behind
 * its back, such as one that gives a dapp another's keys.
 */
export function describeForeign(objects: readonly SchemaObject[]): string[] {
  return objects
    .filter(
      ({ type, name }) => type !== "table" || !(OWN_TABLES.includes(name) || name.startsWith("sqlite_")),
    )
    .map(({ type, name }) => `it has a ${type} ${JSON.stringify(name)} that is not this service's; drop it`);
}

/** Reads what {@link describeForeign} describes from a database with this version's tables. */
export async function findForeign(db: Kysely<Tables>): Promise<string[]> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const { rows } = await (
    isPostgres ? POSTGRES_OBJECTS : sql<SchemaObject>`${sql.raw(SQLITE_OBJECTS)}`
  ).execute(db);
  return describeForeign(rows);
}
