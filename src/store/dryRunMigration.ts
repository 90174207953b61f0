import type { Kysely } from "kysely";

/** Creates the table of dry runs and refusals. */
export async function createDryRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("dry_runs")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("record", "text", (c) => c.notNull())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("dry_runs_by_dapp").on("dry_runs").columns(["dapp_id", "id"]).execute();
}
