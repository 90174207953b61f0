import type { Kysely } from "kysely";

/** Creates the tables of log triggers: what they want, how far each network is read, and the log of each run. */
export async function createLogTriggers(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("log_triggers")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("key_id", "text")
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("selection", "text", (c) => c.notNull())
    .addColumn("confidence", "text", (c) => c.notNull())
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("action_network", "text", (c) => c.notNull())
    .addColumn("from_block", "integer", (c) => c.notNull())
    .addColumn("replay_from", "integer")
    .addColumn("paused_at", "integer")
    .addColumn("created_at", "integer", (c) => c.notNull())
    .execute();
  await schema.createIndex("log_triggers_by_dapp").on("log_triggers").column("dapp_id").execute();
  await schema
    .createTable("log_cursors")
    .addColumn("network", "text", (c) => c.primaryKey())
    .addColumn("identity", "text", (c) => c.notNull())
    .addColumn("block", "integer", (c) => c.notNull())
    .addColumn("heads", "text", (c) => c.notNull())
    .execute();
  await schema
    .createTable("run_logs")
    .addColumn("run_id", "text", (c) => c.primaryKey())
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("block_number", "integer", (c) => c.notNull())
    .addColumn("block_hash", "text", (c) => c.notNull())
    .addColumn("transaction_hash", "text", (c) => c.notNull())
    .addColumn("log_index", "integer", (c) => c.notNull())
    .addColumn("args", "text", (c) => c.notNull())
    .addColumn("reverted_at", "integer")
    .execute();
  await schema.createIndex("run_logs_by_block").on("run_logs").columns(["network", "block_number"]).execute();
}
