import type { Kysely } from "kysely";

/** Creates the tables of webhooks and of the events that are delivered to them. */
export async function createOutbox(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("webhooks")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("events", "text", (c) => c.notNull())
    .addColumn("scheme", "text", (c) => c.notNull())
    .addColumn("secret", "blob", (c) => c.notNull())
    .addColumn("previous_secret", "blob")
    .addColumn("previous_until", "integer")
    .addColumn("created_at", "integer", (c) => c.notNull())
    .addColumn("paused_at", "integer")
    .addColumn("paused_why", "text")
    .addColumn("failing_since", "integer")
    .execute();
  await schema.createIndex("webhooks_by_dapp").on("webhooks").column("dapp_id").execute();
  await schema
    .createTable("webhook_events")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("subject", "text")
    .addColumn("body", "text", (c) => c.notNull())
    .execute();
  await schema
    .createTable("webhook_deliveries")
    .addColumn("webhook_id", "text", (c) => c.notNull())
    .addColumn("event_id", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("next_at", "integer")
    .addColumn("is_replay", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("webhook_deliveries_key", ["webhook_id", "event_id"])
    .execute();
  await schema
    .createIndex("webhook_deliveries_due")
    .on("webhook_deliveries")
    .columns(["webhook_id", "is_replay", "next_at"])
    .where("next_at" as never, "is not", null)
    .execute();
  await schema
    .createIndex("webhook_deliveries_by_state")
    .on("webhook_deliveries")
    .columns(["webhook_id", "state", "event_id"])
    .execute();
  await schema
    .createIndex("webhook_deliveries_by_event")
    .on("webhook_deliveries")
    .column("event_id")
    .execute();
  await schema
    .createTable("webhook_attempts")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("webhook_id", "text", (c) => c.notNull())
    .addColumn("event_id", "text", (c) => c.notNull())
    .addColumn("duration_ms", "integer", (c) => c.notNull())
    .addColumn("status", "integer")
    .addColumn("error", "text")
    .addColumn("answer", "text", (c) => c.notNull())
    .addColumn("next_at", "integer")
    .addColumn("at", "integer", (c) => c.notNull())
    .execute();
  await schema
    .createIndex("webhook_attempts_by_webhook")
    .on("webhook_attempts")
    .columns(["webhook_id", "id"])
    .execute();
}
