import { sql, type Kysely, type Migration, type MigrationProvider } from "kysely";
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
  // Changes no table: keys are sealed for their row from here on (`bindKeys` in src/dapps/apiKey.ts), which earlier versions can't read.
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
  "0027_labels": { up: (db) => createLabels(db, "labels_key", []) },
  "0028_secrets": { up: createSecrets },
  "0029_dapp_beacons": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("dapps").addColumn("beacon", "text").execute();
    },
  },
  "0030_current_secrets": {
    async up(db: Kysely<unknown>) {
      await sql`UPDATE secrets SET retired_at = changed_at WHERE retired_at IS NULL AND EXISTS (
        SELECT 1 FROM secrets AS later WHERE later.network = secrets.network AND later.dapp_id = secrets.dapp_id
        AND later.name = secrets.name AND later.retired_at IS NULL AND later.slot_id > secrets.slot_id)`.execute(
        db,
      );
      await sql`CREATE UNIQUE INDEX secrets_current ON secrets (network, dapp_id, name) WHERE retired_at IS NULL`.execute(
        db,
      );
    },
  },
  "0031_secret_owners": {
    async up(db) {
      await db.schema
        .createTable("secret_owners")
        .addColumn("network", "text", (c) => c.notNull())
        .addColumn("u", "text", (c) => c.notNull())
        .addColumn("owner", "text", (c) => c.notNull())
        .addPrimaryKeyConstraint("secret_owners_key", ["network", "u"])
        .execute();
    },
  },
  "0032_people": { up: createPeople },
  "0033_secret_hosts": {
    async up(db) {
      await db.schema.alterTable("secrets").addColumn("allowed_hosts", "text").execute();
    },
  },
  "0034_passkey_browsers": {
    async up(db) {
      await db.schema
        .alterTable("passkeys")
        .addColumn("browser", "text", (c) => c.notNull().defaultTo(""))
        .execute();
    },
  },
  "0035_label_requests": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("labels").renameTo("first_labels").execute();
      await createLabels(db, "label_requests_key", ["request_id"]);
      await sql`INSERT INTO labels SELECT * FROM first_labels`.execute(db);
      await db.schema.dropTable("first_labels").execute();
    },
  },
  "0036_late_rounds": {
    async up(db) {
      await db.schema
        .createTable("late_rounds")
        .addColumn("chain_hash", "text", (c) => c.notNull())
        .addColumn("round", "text", (c) => c.notNull())
        .addColumn("signature", "text")
        .addPrimaryKeyConstraint("late_rounds_key", ["chain_hash", "round"])
        .execute();
    },
  },
  "0037_secret_keys": {
    async up(db) {
      await db.schema.alterTable("secrets").addColumn("key_hash", "text").execute();
    },
  },
  "0038_late_round_times": {
    async up(db) {
      await db.schema
        .alterTable("late_rounds")
        .addColumn("created_at", "integer", (c) => c.notNull().defaultTo(0))
        .execute();
    },
  },
  "0039_identities": {
    async up(db) {
      await db.schema
        .createTable("identities")
        .addColumn("issuer", "text", (c) => c.notNull())
        .addColumn("subject", "text", (c) => c.notNull())
        .addColumn("person_id", "text", (c) => c.notNull())
        .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
        .execute();
    },
  },
  "0041_audit_names": {
    async up(db) {
      await db.schema.alterTable("audit").addColumn("subject_name", "text").execute();
    },
  },
  "0042_requests_on_chain": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createIndex("requests_on_chain")
        .on("requests")
        .columns(["network", "id"])
        .where("oracle_id" as never, "is not", null)
        .execute();
    },
  },
  "0043_inviters": {
    async up(db) {
      await db.schema
        .alterTable("invitations")
        .addColumn("invited_by", "text", (c) => c.notNull().defaultTo(""))
        .execute();
    },
  },
  "0044_audit_changes": {
    async up(db) {
      await db.schema.alterTable("audit").addColumn("changes", "text").execute();
    },
  },
  "0045_operator_sessions": {
    async up(db) {
      await db.schema
        .createTable("operator_sessions")
        .addColumn("id", "text", (c) => c.primaryKey())
        .addColumn("ends_at", "integer", (c) => c.notNull())
        .execute();
    },
  },
  "0046_key_lifetimes": {
    async up(db) {
      await db.schema
        .alterTable("api_keys")
        .addColumn("access", "text", (c) => c.notNull().defaultTo("full"))
        .execute();
      await db.schema.alterTable("api_keys").addColumn("expires_at", "integer").execute();
      await db.schema.alterTable("api_keys").addColumn("previous_hash", "blob").execute();
      await db.schema.alterTable("api_keys").addColumn("previous_sealed", "blob").execute();
      await db.schema.alterTable("api_keys").addColumn("previous_until", "integer").execute();
      await db.schema
        .createIndex("api_keys_previous")
        .on("api_keys")
        .column("previous_hash")
        .unique()
        .execute();
    },
  },
  "0047_webhook_answers": {
    async up(db) {
      await db.schema.alterTable("webhooks").addColumn("last_success_at", "integer").execute();
      await db.schema.alterTable("webhook_attempts").addColumn("answer_headers", "text").execute();
      await db.schema
        .createIndex("webhook_attempts_by_event")
        .on("webhook_attempts")
        .columns(["webhook_id", "event_id", "id"])
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

/** Rows read at once. */
const PAGE_ROWS = 1_000;

/**
 * Counts the stored requests, so that later changes have a base. Their costs were not read from the chain and count as 0. Reads in pages
 * and sums here, because the databases share no JSON functions.
 */
async function countRequests(db: Kysely<Tables>): Promise<void> {
  const sums = new Map<string, Pick<Tables["usage"], "dapp_id" | "network" | "day" | "kind"> & Counts>();
  for (let last = ""; ;) {
    const rows = await db
      .selectFrom("requests")
      .select(["id", "dapp_id", "network", "kind", "state", "created_at", "progress", "outcome"])
      .where("id", ">", last)
      .orderBy("id")
      .limit(PAGE_ROWS)
      .execute();
    for (const { dapp_id, network, kind, created_at, ...row } of rows) {
      const day = new Date(created_at).toISOString().slice(0, 10);
      const name = `${dapp_id} ${network} ${day} ${kind}`;
      const sum = sums.get(name) ?? {
        dapp_id,
        network,
        day,
        kind,
        requests: 0,
        fulfilled: 0,
        failed: 0,
        words: 0,
      };
      sum.requests += 1;
      if (row.state === "fulfilled") sum.fulfilled += 1;
      if (row.state === "failed") sum.failed += 1;
      sum.words += countWords(kind, row);
      sums.set(name, sum);
    }
    if (rows.length < PAGE_ROWS) break;
    last = rows.at(-1)!.id;
  }
  const nothing = { refused: 0, gas_used: 0, link_high: 0, link_low: 0, coin_high: 0, coin_low: 0 };
  for (const sum of sums.values())
    await db
      .insertInto("usage")
      .values({ ...nothing, ...sum })
      .execute();
}

type Counts = Pick<Tables["usage"], "requests" | "fulfilled" | "failed" | "words">;

/** Returns the number of random words of an ended request; 0 if its record is damaged, which is reported elsewhere. */
function countWords(
  kind: string,
  { state, progress, outcome }: Pick<Tables["requests"], "state" | "progress" | "outcome">,
): number {
  if (state !== "fulfilled" && state !== "failed") return 0;
  try {
    if (kind === "preset") return JSON.parse(progress).wordBlock === undefined ? 0 : 1;
    const words: unknown = kind === "random" && outcome !== null ? JSON.parse(outcome).words : undefined;
    return Array.isArray(words) ? words.length : 0;
  } catch {
    return 0;
  }
}

/** Creates the table of labels, with `further` columns of its key. */
async function createLabels(
  db: Kysely<unknown>,
  key: string,
  further: readonly "request_id"[],
): Promise<void> {
  await db.schema
    .createTable("labels")
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("label", "text", (c) => c.notNull())
    .addColumn("request_id", "text", (c) => c.notNull())
    .addColumn("is_once", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint(key, ["dapp_id", "network", "label", ...further])
    .execute();
}

/** Creates the table of dry runs and refusals. */
async function createDryRuns(db: Kysely<unknown>): Promise<void> {
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

/** Creates the table that says which replica dispatches on which network. */
async function createLeases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("leases")
    .addColumn("network", "text", (c) => c.primaryKey())
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("token", "integer", (c) => c.notNull())
    .addColumn("expires_at", "integer", (c) => c.notNull())
    // Makes the token part of a key: a takeover then waits for transactions that hold the row with FOR KEY SHARE, a renewal doesn't.
    .addUniqueConstraint("leases_token", ["network", "token"])
    .execute();
}

/** Creates the tables of log triggers: what they want, how far each network is read, and the log of each run. */
async function createLogTriggers(db: Kysely<unknown>): Promise<void> {
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

/** Creates the tables of webhooks and of the events that are delivered to them. */
async function createOutbox(db: Kysely<unknown>): Promise<void> {
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

/** Creates the tables of schedules and of the runs of triggers. */
async function createSchedules(db: Kysely<unknown>): Promise<void> {
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

/** Creates the tables of the ciphertexts that an oracle network holds, and of the names that dapps have for theirs. */
async function createSecrets(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("secret_slots")
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("slot_id", "integer", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("ciphertext", "text", (c) => c.notNull())
    .addColumn("expires_at", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("secret_slots_key", ["network", "owner", "slot_id"])
    .execute();
  await schema
    .createTable("secrets")
    .addColumn("network", "text", (c) => c.notNull())
    .addColumn("slot_id", "integer", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("size", "integer", (c) => c.notNull())
    .addColumn("changed_at", "integer", (c) => c.notNull())
    .addColumn("expires_at", "integer")
    .addColumn("retired_at", "integer")
    .addPrimaryKeyConstraint("secrets_key", ["network", "slot_id"])
    .execute();
  await schema.createIndex("secrets_by_dapp").on("secrets").columns(["dapp_id", "network", "name"]).execute();
}

/** Creates the tables of the people who sign in as themselves, and of who changed what. */
async function createPeople(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("people")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("is_operator", "integer", (c) => c.notNull())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .execute();
  await schema
    .createTable("passkeys")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("person_id", "text", (c) => c.notNull())
    .addColumn("public_key", "blob", (c) => c.notNull())
    .addColumn("counter", "integer", (c) => c.notNull())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .execute();
  await schema
    .createTable("members")
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("person_id", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("members_key", ["dapp_id", "person_id"])
    .execute();
  await schema.createIndex("members_by_person").on("members").column("person_id").execute();
  await schema
    .createTable("invitations")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("dapp_id", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("hash", "text", (c) => c.notNull().unique())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .addColumn("expires_at", "integer", (c) => c.notNull())
    .execute();
  await schema
    .createTable("person_sessions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("person_id", "text", (c) => c.notNull())
    .addColumn("browser", "text", (c) => c.notNull())
    .addColumn("created_at", "integer", (c) => c.notNull())
    .addColumn("last_used_at", "integer", (c) => c.notNull())
    .execute();
  await schema.createIndex("person_sessions_by_person").on("person_sessions").column("person_id").execute();
  await schema
    .createTable("passkey_challenges")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("expires_at", "integer", (c) => c.notNull())
    .execute();
  await schema
    .createTable("audit")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("at", "integer", (c) => c.notNull())
    .addColumn("actor", "text", (c) => c.notNull())
    .addColumn("actor_name", "text", (c) => c.notNull())
    .addColumn("dapp_id", "text")
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("subject", "text")
    .execute();
  await schema.createIndex("audit_by_dapp").on("audit").columns(["dapp_id", "id"]).execute();
}
