import { PostgresAdapter, sql, type Kysely, type Migration } from "kysely";

/** Names of the tables that {@link sharedTables} creates. */
export const SHARED_TABLE_NAMES: readonly string[] = [
  "replicas",
  "call_counts",
  "web_sessions",
  "sign_in_codes",
];

/**
 * Creates the tables that replicas share besides the journal, on PostgreSQL only. Unlogged, so no write waits for a flush; a server crash
 * empties them, which ends codes and resets counts; `web_sessions` is of earlier versions. They are not part of the journal: they are neither copied nor backed up.
 */
export const sharedTables: Migration = {
  async up(db: Kysely<unknown>) {
    if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
    const create = (table: string) => db.schema.createTable(table).modifyFront(sql`unlogged`);
    await create("replicas")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("operator_token", "text", (c) => c.notNull())
      .addColumn("seen_at", "integer", (c) => c.notNull())
      .execute();
    await create("call_counts")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("points", "integer", (c) => c.notNull())
      .addColumn("ends_at", "integer", (c) => c.notNull())
      .addColumn("under_way", "jsonb", (c) => c.notNull())
      // Leaves room for new row versions on the same page: updates then touch no index.
      .modifyEnd(sql`with (fillfactor = 50)`)
      .execute();
    await create("web_sessions")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("ends_at", "integer", (c) => c.notNull())
      .execute();
    await create("sign_in_codes")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("replica", "text", (c) => c.notNull())
      .execute();
  },
};
