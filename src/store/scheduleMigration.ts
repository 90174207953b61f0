import type { Kysely } from "kysely";

/** Creates the tables of schedules and of the runs of triggers. */
export async function createSchedules(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("schedules")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("key_id", "text")
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("command", "text", (c) => c.notNull())
    .addColumn("timing", "text", (c) => c.notNull())
    .addColumn("catch_up", "text", (c) => c.notNull())
    .addColumn("window_ms", "integer", (c) => c.notNull())
    .addColumn("overlap", "text", (c) => c.notNull())
    .addColumn("until", "integer")
    .addColumn("paused_at", "integer")
    .addColumn("created_at", "integer", (c) => c.notNull())
    .addColumn("next_at", "integer")
    .execute();
  await schema.createIndex("schedules_by_dapp").on("schedules").column("dapp_id").execute();
  await schema
    .createIndex("schedules_due")
    .on("schedules")
    .column("next_at")
    .where("next_at" as never, "is not", null)
    .execute();
  await schema
    .createTable("trigger_runs")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("trigger_id", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("at", "integer", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("reason", "text")
    .addColumn("detail", "text")
    .addColumn("request_id", "text")
    .addUniqueConstraint("trigger_runs_key", ["trigger_id", "key"])
    .execute();
  await schema
    .createIndex("trigger_runs_by_state")
    .on("trigger_runs")
    .columns(["state", "trigger_id", "id"])
    .execute();
  await schema
    .createIndex("trigger_runs_by_trigger")
    .on("trigger_runs")
    .columns(["trigger_id", "id"])
    .execute();
}
