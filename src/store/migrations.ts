import type { Kysely, Migration, MigrationProvider } from "kysely";
import { countRequests } from "./usageMigration.ts";
import { createDryRuns } from "./dryRunMigration.ts";
import { createLeases } from "./leaseMigration.ts";
import { createLogTriggers } from "./logTriggerMigration.ts";
import { createOutbox } from "./outboxMigration.ts";
import { createSchedules } from "./scheduleMigration.ts";
import type { Tables } from "./schema.ts";
import { sharedTables } from "./sharedTables.ts";

/** Every schema change, in order; a released one is never edited. */
export const migrations: Record<string, Migration> = {
  "0001_start": {
    async up(db: Kysely<unknown>) {
      const { schema } = db;
      await schema
        .createTable("settings")
        .addColumn("name", "text", (c) => c.primaryKey())
        .addColumn("value", "text", (c) => c.notNull())
        .execute();
      await schema
        .createTable("dapps")
        .addColumn("id", "text", (c) => c.primaryKey())
        .addColumn("name", "text", (c) => c.notNull())
        .addColumn("facilities", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .execute();
      await schema
        .createTable("api_keys")
        .addColumn("id", "text", (c) => c.primaryKey())
        .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
        .addColumn("hash", "blob", (c) => c.notNull().unique())
        .addColumn("sealed", "blob", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .addColumn("revoked_at", "integer")
        .execute();
      await schema
        .createTable("chains")
        .addColumn("network", "text", (c) => c.primaryKey())
        .addColumn("identity", "text", (c) => c.notNull())
        .addColumn("deployment", "text", (c) => c.notNull())
        .execute();
      await schema
        .createTable("subscriptions")
        .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("vrf_subscription_id", "text", (c) => c.notNull())
        .addColumn("functions_subscription_id", "text", (c) => c.notNull())
        .addPrimaryKeyConstraint("subscriptions_key", ["dapp_id", "network"])
        .execute();
      await schema
        .createTable("consumers")
        .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("address", "text", (c) => c.notNull())
        .addColumn("transaction_hash", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .addPrimaryKeyConstraint("consumers_key", ["dapp_id", "network", "address"])
        .execute();
      await schema
        .createTable("sources")
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("hash", "text", (c) => c.notNull())
        .addColumn("source_id", "integer", (c) => c.notNull())
        .addPrimaryKeyConstraint("sources_key", ["network", "hash"])
        .execute();
      await schema
        .createTable("transactions")
        .addColumn("hash", "text", (c) => c.primaryKey())
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("sender", "text", (c) => c.notNull())
        .addColumn("nonce", "integer", (c) => c.notNull())
        .addColumn("raw", "text", (c) => c.notNull())
        .addColumn("payload", "text", (c) => c.notNull())
        .addColumn("state", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .execute();
      await schema
        .createIndex("transactions_open")
        .on("transactions")
        .columns(["network", "nonce"])
        .where("state" as never, "=", "signed")
        .execute();
      await schema
        .createTable("requests")
        .addColumn("id", "text", (c) => c.primaryKey())
        .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
        .addColumn("kind", "text", (c) => c.notNull())
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("state", "text", (c) => c.notNull())
        .addColumn("why", "text")
        .addColumn("params", "text", (c) => c.notNull())
        .addColumn("timeline", "text", (c) => c.notNull())
        .addColumn("progress", "text", (c) => c.notNull())
        .addColumn("outcome", "text")
        .addColumn("error", "text")
        .addColumn("idempotency_key", "text")
        .addColumn("body_hash", "text")
        .addColumn("created_at", "integer", (c) => c.notNull())
        .addColumn("updated_at", "integer", (c) => c.notNull())
        .addUniqueConstraint("requests_idempotency", ["dapp_id", "idempotency_key"])
        .execute();
      await schema.createIndex("requests_by_dapp").on("requests").columns(["dapp_id", "id"]).execute();
      await schema
        .createIndex("requests_open")
        .on("requests")
        .column("network")
        .where("state" as never, "not in", ["fulfilled", "failed"])
        .execute();
    },
  },
  "0002_transactions_by_nonce": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createIndex("transactions_by_nonce")
        .on("transactions")
        .columns(["network", "nonce"])
        .execute();
    },
  },
  "0003_ended_blocks": {
    async up(db: Kysely<unknown>) {
      // One column per statement: SQLite has no other form.
      await db.schema.alterTable("requests").addColumn("ended_block", "integer").execute();
      await db.schema.alterTable("requests").addColumn("ended_block_hash", "text").execute();
      await db.schema
        .createIndex("requests_by_end")
        .on("requests")
        .columns(["network", "ended_block"])
        .where("ended_block" as never, "is not", null)
        .execute();
    },
  },
  "0004_revoked_keys_and_filters": {
    async up(db: Kysely<unknown>) {
      await (db as Kysely<Pick<Tables, "api_keys">>)
        .updateTable("api_keys")
        .set({ sealed: new Uint8Array() })
        .where("revoked_at", "is not", null)
        .execute();
      for (const column of ["state", "kind", "network"])
        await db.schema
          .createIndex(`requests_by_${column}`)
          .on("requests")
          .columns(["dapp_id", column, "id"])
          .execute();
    },
  },
  "0005_checksums": {
    async up(db: Kysely<unknown>) {
      for (const table of ["requests", "transactions"])
        await db.schema.alterTable(table).addColumn("checksum", "integer").execute();
    },
  },
  "0006_versions": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable("requests")
        .addColumn("version", "integer", (c) => c.notNull().defaultTo(1))
        .execute();
    },
  },
  "0007_combined_filters": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createIndex("requests_by_filter")
        .on("requests")
        .columns(["dapp_id", "network", "state", "kind", "id"])
        .execute();
      // The new index covers the state too, and an index on it is rewritten at each step of a request.
      await db.schema.dropIndex("requests_by_state").execute();
    },
  },
  "0008_oracle_rounds": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("oracle_rounds")
        .addColumn("id", "integer", (c) => c.primaryKey())
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("config_digest", "text", (c) => c.notNull())
        .addColumn("request_id", "text", (c) => c.notNull())
        .addColumn("record", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .execute();
      await db.schema
        .createIndex("oracle_rounds_by_request")
        .on("oracle_rounds")
        .columns(["request_id", "config_digest", "network"])
        .execute();
      await db.schema.createIndex("oracle_rounds_by_time").on("oracle_rounds").column("created_at").execute();
    },
  },
  "0009_oracle_evidence": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("oracle_evidence")
        .addColumn("id", "integer", (c) => c.primaryKey())
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("signer", "text", (c) => c.notNull())
        .addColumn("request_id", "text", (c) => c.notNull())
        .addColumn("evidence", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .execute();
      await db.schema
        .createIndex("oracle_evidence_once")
        .on("oracle_evidence")
        .columns(["network", "signer", "request_id"])
        .unique()
        .execute();
    },
  },
  "0010_usage": {
    async up(db: Kysely<unknown>) {
      const counts = ["requests", "fulfilled", "failed", "refused", "words", "gas_used"];
      const amounts = ["link_high", "link_low", "coin_high", "coin_low"];
      let table = db.schema
        .createTable("usage")
        .addColumn("dapp_id", "text", (c) => c.notNull().references("dapps.id"))
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("day", "text", (c) => c.notNull())
        .addColumn("kind", "text", (c) => c.notNull());
      for (const name of [...counts, ...amounts])
        table = table.addColumn(name, "integer", (c) => c.notNull().defaultTo(0));
      await table.addPrimaryKeyConstraint("usage_key", ["dapp_id", "day", "network", "kind"]).execute();
      await countRequests(db);
    },
  },
  "0011_deleted_payloads": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("requests").addColumn("payload_deleted_at", "integer").execute();
    },
  },
  "0012_leases": { up: createLeases },
  "0013_shared_state": sharedTables,
  "0014_deleted_dapps": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("dapps").addColumn("deleted_at", "integer").execute();
    },
  },
  "0015_dry_runs": { up: createDryRuns },
  "0017_key_names": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable("api_keys")
        .addColumn("name", "text", (c) => c.notNull().defaultTo(""))
        .execute();
      await db.schema.alterTable("api_keys").addColumn("last_used_at", "integer").execute();
    },
  },
  "0018_key_limits": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("api_keys").addColumn("daily_limit", "integer").execute();
      await db.schema.alterTable("api_keys").addColumn("counted_day", "text").execute();
      await db.schema
        .alterTable("api_keys")
        .addColumn("day_requests", "integer", (c) => c.notNull().defaultTo(0))
        .execute();
    },
  },
  "0019_creation_keys": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("api_keys").addColumn("creation_key", "text").execute();
      await db.schema.alterTable("api_keys").addColumn("creation_hash", "text").execute();
      await db.schema
        .createIndex("api_keys_creation")
        .on("api_keys")
        .column("creation_key")
        .unique()
        .execute();
    },
  },
  "0021_oracle_ids": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("requests").addColumn("oracle_id", "text").execute();
      await db.schema
        .createIndex("requests_by_oracle_id")
        .on("requests")
        .column("oracle_id")
        .where("oracle_id" as never, "is not", null)
        .execute();
    },
  },
  // Changes no table: keys are sealed for their row from here on (`bindKeys` in src/dapps/sealedKey.ts), which earlier versions can't read.
  "0022_bound_keys": { up: async () => {} },
  "0023_failed_callbacks": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("failed_callbacks")
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("request_id", "text", (c) => c.notNull())
        .addColumn("transaction_hash", "text", (c) => c.notNull())
        .addColumn("reason", "text", (c) => c.notNull())
        .addColumn("created_at", "integer", (c) => c.notNull())
        .addPrimaryKeyConstraint("failed_callbacks_key", ["network", "request_id"])
        .execute();
      await db.schema
        .createIndex("failed_callbacks_by_time")
        .on("failed_callbacks")
        .columns(["network", "created_at"])
        .execute();
    },
  },
  "0024_webhooks": { up: createOutbox },
  "0025_schedules": { up: createSchedules },
  "0026_log_triggers": { up: createLogTriggers },
  "0027_labels": {
    async up(db) {
      await db.schema
        .createTable("labels")
        .addColumn("dapp_id", "text", (c) => c.notNull())
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("label", "text", (c) => c.notNull())
        .addColumn("request_id", "text", (c) => c.notNull())
        .addColumn("is_once", "integer", (c) => c.notNull())
        .addPrimaryKeyConstraint("labels_key", ["dapp_id", "network", "label"])
        .execute();
    },
  },
};

/** Hands {@link migrations} to Kysely's migrator. */
export const migrationProvider: MigrationProvider = { getMigrations: async () => migrations };

/** Returns the first applied migration that this version doesn't know, which means that a newer version made the database. */
export function findNewerMigration(names: readonly string[]): string | undefined {
  return names.find((name) => !(name in migrations));
}
