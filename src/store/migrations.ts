import { PostgresAdapter, sql, type Migration, type MigrationProvider } from "kysely";

/** Every schema change, in order; a released one is never edited. */
export const migrations: Record<string, Migration> = {
  "0001_start": execute(`
    CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);
    CREATE TABLE dapps (id text PRIMARY KEY, name text NOT NULL, facilities text NOT NULL, created_at integer NOT NULL);
    CREATE TABLE api_keys (
      id text PRIMARY KEY, dapp_id text NOT NULL REFERENCES dapps (id), hash blob NOT NULL UNIQUE, sealed blob NOT NULL,
      created_at integer NOT NULL, revoked_at integer);
    CREATE TABLE chains (network text PRIMARY KEY, identity text NOT NULL, deployment text NOT NULL);
    CREATE TABLE subscriptions (
      dapp_id text NOT NULL REFERENCES dapps (id), network text NOT NULL, vrf_subscription_id text NOT NULL,
      functions_subscription_id text NOT NULL, CONSTRAINT subscriptions_key PRIMARY KEY (dapp_id, network));
    CREATE TABLE consumers (
      dapp_id text NOT NULL REFERENCES dapps (id), network text NOT NULL, address text NOT NULL, transaction_hash text NOT NULL,
      created_at integer NOT NULL, CONSTRAINT consumers_key PRIMARY KEY (dapp_id, network, address));
    CREATE TABLE sources (
      network text NOT NULL, hash text NOT NULL, source_id integer NOT NULL, CONSTRAINT sources_key PRIMARY KEY (network, hash));
    CREATE TABLE transactions (
      hash text PRIMARY KEY, network text NOT NULL, sender text NOT NULL, nonce integer NOT NULL, raw text NOT NULL,
      payload text NOT NULL, state text NOT NULL, created_at integer NOT NULL);
    CREATE INDEX transactions_open ON transactions (network, nonce) WHERE state = 'signed';
    CREATE TABLE requests (
      id text PRIMARY KEY, dapp_id text NOT NULL REFERENCES dapps (id), kind text NOT NULL, network text NOT NULL,
      state text NOT NULL, why text, params text NOT NULL, timeline text NOT NULL, progress text NOT NULL, outcome text, error text,
      idempotency_key text, body_hash text, created_at integer NOT NULL, updated_at integer NOT NULL,
      CONSTRAINT requests_idempotency UNIQUE (dapp_id, idempotency_key));
    CREATE INDEX requests_by_dapp ON requests (dapp_id, id);
    CREATE INDEX requests_open ON requests (network) WHERE state NOT IN ('fulfilled', 'failed')`),
  "0002_transactions_by_nonce": execute(
    "CREATE INDEX transactions_by_nonce ON transactions (network, nonce)",
  ),
  "0003_ended_blocks": execute(`
    ALTER TABLE requests ADD COLUMN ended_block integer;
    ALTER TABLE requests ADD COLUMN ended_block_hash text;
    CREATE INDEX requests_by_end ON requests (network, ended_block) WHERE ended_block IS NOT NULL`),
  // There was no database but SQLite yet.
  "0004_revoked_keys_and_filters": execute(
    `
    CREATE INDEX requests_by_state ON requests (dapp_id, state, id);
    CREATE INDEX requests_by_kind ON requests (dapp_id, kind, id);
    CREATE INDEX requests_by_network ON requests (dapp_id, network, id)`,
    { sqlite: "UPDATE api_keys SET sealed = x'' WHERE revoked_at IS NOT NULL" },
  ),
  "0005_checksums": execute(`
    ALTER TABLE requests ADD COLUMN checksum integer;
    ALTER TABLE transactions ADD COLUMN checksum integer`),
  "0006_versions": execute("ALTER TABLE requests ADD COLUMN version integer NOT NULL DEFAULT 1"),
  // The new index covers the state too, and an index on it is rewritten at each step of a request.
  "0007_combined_filters": execute(`
    CREATE INDEX requests_by_filter ON requests (dapp_id, network, state, kind, id);
    DROP INDEX requests_by_state`),
  "0008_oracle_rounds": execute(`
    CREATE TABLE oracle_rounds (
      id integer PRIMARY KEY, network text NOT NULL, config_digest text NOT NULL, request_id text NOT NULL, record text NOT NULL,
      created_at integer NOT NULL);
    CREATE INDEX oracle_rounds_by_request ON oracle_rounds (request_id, config_digest, network);
    CREATE INDEX oracle_rounds_by_time ON oracle_rounds (created_at)`),
  "0009_oracle_evidence": execute(`
    CREATE TABLE oracle_evidence (
      id integer PRIMARY KEY, network text NOT NULL, signer text NOT NULL, request_id text NOT NULL, evidence text NOT NULL,
      created_at integer NOT NULL);
    CREATE UNIQUE INDEX oracle_evidence_once ON oracle_evidence (network, signer, request_id)`),
  // Counts the stored requests, so that later changes have a base; there was no database but SQLite yet. Their costs were not read from the
  // chain and count as 0. A damaged record, which is reported elsewhere, has no words.
  "0010_usage": execute(
    `
    CREATE TABLE usage (
      dapp_id text NOT NULL REFERENCES dapps (id), network text NOT NULL, day text NOT NULL, kind text NOT NULL,
      requests integer NOT NULL DEFAULT 0, fulfilled integer NOT NULL DEFAULT 0, failed integer NOT NULL DEFAULT 0,
      refused integer NOT NULL DEFAULT 0, words integer NOT NULL DEFAULT 0, gas_used integer NOT NULL DEFAULT 0,
      link_high integer NOT NULL DEFAULT 0, link_low integer NOT NULL DEFAULT 0, coin_high integer NOT NULL DEFAULT 0,
      coin_low integer NOT NULL DEFAULT 0, CONSTRAINT usage_key PRIMARY KEY (dapp_id, day, network, kind))`,
    {
      sqlite: `
    INSERT INTO usage (dapp_id, network, day, kind, requests, fulfilled, failed, words)
    SELECT dapp_id, network, date(created_at / 1000, 'unixepoch'), kind, count(*), sum(state = 'fulfilled'), sum(state = 'failed'),
      sum(CASE WHEN state NOT IN ('fulfilled', 'failed') THEN 0
        WHEN kind = 'preset' AND json_valid(progress) THEN json_type(progress, '$.wordBlock') IS NOT NULL
        WHEN kind = 'random' AND json_valid(outcome) THEN coalesce(json_array_length(outcome, '$.words'), 0) ELSE 0 END)
    FROM requests GROUP BY 1, 2, 3, 4`,
    },
  ),
  "0011_deleted_payloads": execute("ALTER TABLE requests ADD COLUMN payload_deleted_at integer"),
  // Says which replica dispatches on which network. The token is part of a key: a takeover then waits for transactions that hold the row
  // with FOR KEY SHARE, a renewal doesn't.
  "0012_leases": execute(`
    CREATE TABLE leases (
      network text PRIMARY KEY, holder text NOT NULL, token integer NOT NULL, expires_at integer NOT NULL,
      CONSTRAINT leases_token UNIQUE (network, token))`),
  // What replicas share besides the journal. Unlogged, so no write waits for a flush; a server crash empties these tables, which ends codes
  // and resets counts. They are neither copied nor backed up. `web_sessions` is of earlier versions. A fill factor of 50 leaves room for
  // new row versions on the same page: updates then touch no index.
  "0013_shared_state": execute("", {
    postgres: `
    CREATE UNLOGGED TABLE replicas (id text PRIMARY KEY, operator_token text NOT NULL, seen_at integer NOT NULL);
    CREATE UNLOGGED TABLE call_counts (
      id text PRIMARY KEY, points integer NOT NULL, ends_at integer NOT NULL, under_way jsonb NOT NULL) WITH (fillfactor = 50);
    CREATE UNLOGGED TABLE web_sessions (id text PRIMARY KEY, ends_at integer NOT NULL);
    CREATE UNLOGGED TABLE sign_in_codes (id text PRIMARY KEY, replica text NOT NULL)`,
  }),
  "0014_deleted_dapps": execute("ALTER TABLE dapps ADD COLUMN deleted_at integer"),
  "0015_dry_runs": execute(`
    CREATE TABLE dry_runs (
      id text PRIMARY KEY, dapp_id text NOT NULL REFERENCES dapps (id), network text NOT NULL, kind text NOT NULL,
      record text NOT NULL, created_at integer NOT NULL);
    CREATE INDEX dry_runs_by_dapp ON dry_runs (dapp_id, id)`),
  "0017_key_names": execute(`
    ALTER TABLE api_keys ADD COLUMN name text NOT NULL DEFAULT '';
    ALTER TABLE api_keys ADD COLUMN last_used_at integer`),
  "0018_key_limits": execute(`
    ALTER TABLE api_keys ADD COLUMN daily_limit integer;
    ALTER TABLE api_keys ADD COLUMN counted_day text;
    ALTER TABLE api_keys ADD COLUMN day_requests integer NOT NULL DEFAULT 0`),
  "0019_creation_keys": execute(`
    ALTER TABLE api_keys ADD COLUMN creation_key text;
    ALTER TABLE api_keys ADD COLUMN creation_hash text;
    CREATE UNIQUE INDEX api_keys_creation ON api_keys (creation_key)`),
  "0021_oracle_ids": execute(`
    ALTER TABLE requests ADD COLUMN oracle_id text;
    CREATE INDEX requests_by_oracle_id ON requests (oracle_id) WHERE oracle_id IS NOT NULL`),
  // Changes no table: keys are sealed for their row from here on (`bindKeys` in src/dapps/apiKey.ts), which earlier versions can't read.
  "0022_bound_keys": execute(""),
  "0023_failed_callbacks": execute(`
    CREATE TABLE failed_callbacks (
      network text NOT NULL, request_id text NOT NULL, transaction_hash text NOT NULL, reason text NOT NULL,
      created_at integer NOT NULL, CONSTRAINT failed_callbacks_key PRIMARY KEY (network, request_id));
    CREATE INDEX failed_callbacks_by_time ON failed_callbacks (network, created_at)`),
  "0024_webhooks": execute(`
    CREATE TABLE webhooks (
      id text PRIMARY KEY, dapp_id text NOT NULL, url text NOT NULL, description text NOT NULL, events text NOT NULL,
      scheme text NOT NULL, secret blob NOT NULL, previous_secret blob, previous_until integer, created_at integer NOT NULL,
      paused_at integer, paused_why text, failing_since integer);
    CREATE INDEX webhooks_by_dapp ON webhooks (dapp_id);
    CREATE TABLE webhook_events (
      id text PRIMARY KEY, dapp_id text NOT NULL, type text NOT NULL, subject text, body text NOT NULL);
    CREATE TABLE webhook_deliveries (
      webhook_id text NOT NULL, event_id text NOT NULL, state text NOT NULL, attempts integer NOT NULL, next_at integer,
      is_replay integer NOT NULL, CONSTRAINT webhook_deliveries_key PRIMARY KEY (webhook_id, event_id));
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, is_replay, next_at) WHERE next_at IS NOT NULL;
    CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (webhook_id, state, event_id);
    CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
    CREATE TABLE webhook_attempts (
      id text PRIMARY KEY, webhook_id text NOT NULL, event_id text NOT NULL, duration_ms integer NOT NULL, status integer,
      error text, answer text NOT NULL, next_at integer, at integer NOT NULL);
    CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, id)`),
  "0025_schedules": execute(`
    CREATE TABLE schedules (
      id text PRIMARY KEY, dapp_id text NOT NULL, key_id text, name text NOT NULL, command text NOT NULL, timing text NOT NULL,
      catch_up text NOT NULL, window_ms integer NOT NULL, overlap text NOT NULL, until integer, paused_at integer,
      created_at integer NOT NULL, next_at integer);
    CREATE INDEX schedules_by_dapp ON schedules (dapp_id);
    CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
    CREATE TABLE trigger_runs (
      id text PRIMARY KEY, trigger_id text NOT NULL, key text NOT NULL, at integer NOT NULL, state text NOT NULL, reason text,
      detail text, request_id text, CONSTRAINT trigger_runs_key UNIQUE (trigger_id, key));
    CREATE INDEX trigger_runs_by_state ON trigger_runs (state, trigger_id, id);
    CREATE INDEX trigger_runs_by_trigger ON trigger_runs (trigger_id, id)`),
  "0026_log_triggers": execute(`
    CREATE TABLE log_triggers (
      id text PRIMARY KEY, dapp_id text NOT NULL, key_id text, name text NOT NULL, network text NOT NULL,
      selection text NOT NULL, confidence text NOT NULL, action text NOT NULL, action_network text NOT NULL,
      from_block integer NOT NULL, replay_from integer, paused_at integer, created_at integer NOT NULL);
    CREATE INDEX log_triggers_by_dapp ON log_triggers (dapp_id);
    CREATE TABLE log_cursors (network text PRIMARY KEY, identity text NOT NULL, block integer NOT NULL, heads text NOT NULL);
    CREATE TABLE run_logs (
      run_id text PRIMARY KEY, network text NOT NULL, block_number integer NOT NULL, block_hash text NOT NULL,
      transaction_hash text NOT NULL, log_index integer NOT NULL, args text NOT NULL, reverted_at integer);
    CREATE INDEX run_logs_by_block ON run_logs (network, block_number)`),
  "0027_labels": execute(`
    CREATE TABLE labels (
      dapp_id text NOT NULL, network text NOT NULL, label text NOT NULL, request_id text NOT NULL, is_once integer NOT NULL,
      CONSTRAINT labels_key PRIMARY KEY (dapp_id, network, label))`),
  "0028_secrets": execute(`
    CREATE TABLE secret_slots (
      network text NOT NULL, owner text NOT NULL, slot_id integer NOT NULL, version integer NOT NULL, ciphertext text NOT NULL,
      expires_at integer NOT NULL, CONSTRAINT secret_slots_key PRIMARY KEY (network, owner, slot_id));
    CREATE TABLE secrets (
      network text NOT NULL, slot_id integer NOT NULL, owner text NOT NULL, dapp_id text NOT NULL, name text NOT NULL,
      version integer NOT NULL, size integer NOT NULL, changed_at integer NOT NULL, expires_at integer, retired_at integer,
      CONSTRAINT secrets_key PRIMARY KEY (network, slot_id));
    CREATE INDEX secrets_by_dapp ON secrets (dapp_id, network, name)`),
  "0029_dapp_beacons": execute("ALTER TABLE dapps ADD COLUMN beacon text"),
  "0030_current_secrets": execute(`
    UPDATE secrets SET retired_at = changed_at WHERE retired_at IS NULL AND EXISTS (
      SELECT 1 FROM secrets AS later WHERE later.network = secrets.network AND later.dapp_id = secrets.dapp_id
      AND later.name = secrets.name AND later.retired_at IS NULL AND later.slot_id > secrets.slot_id);
    CREATE UNIQUE INDEX secrets_current ON secrets (network, dapp_id, name) WHERE retired_at IS NULL`),
  "0031_secret_owners": execute(`
    CREATE TABLE secret_owners (
      network text NOT NULL, u text NOT NULL, owner text NOT NULL, CONSTRAINT secret_owners_key PRIMARY KEY (network, u))`),
  "0032_people": execute(`
    CREATE TABLE people (id text PRIMARY KEY, name text NOT NULL, is_operator integer NOT NULL, created_at integer NOT NULL);
    CREATE TABLE passkeys (
      id text PRIMARY KEY, person_id text NOT NULL, public_key blob NOT NULL, counter integer NOT NULL,
      created_at integer NOT NULL);
    CREATE TABLE members (
      dapp_id text NOT NULL, person_id text NOT NULL, role text NOT NULL, created_at integer NOT NULL,
      CONSTRAINT members_key PRIMARY KEY (dapp_id, person_id));
    CREATE INDEX members_by_person ON members (person_id);
    CREATE TABLE invitations (
      id text PRIMARY KEY, dapp_id text NOT NULL, role text NOT NULL, hash text NOT NULL UNIQUE, created_at integer NOT NULL,
      expires_at integer NOT NULL);
    CREATE TABLE person_sessions (
      id text PRIMARY KEY, person_id text NOT NULL, browser text NOT NULL, created_at integer NOT NULL,
      last_used_at integer NOT NULL);
    CREATE INDEX person_sessions_by_person ON person_sessions (person_id);
    CREATE TABLE passkey_challenges (id text PRIMARY KEY, expires_at integer NOT NULL);
    CREATE TABLE audit (
      id text PRIMARY KEY, at integer NOT NULL, actor text NOT NULL, actor_name text NOT NULL, dapp_id text,
      action text NOT NULL, subject text);
    CREATE INDEX audit_by_dapp ON audit (dapp_id, id)`),
  "0033_secret_hosts": execute("ALTER TABLE secrets ADD COLUMN allowed_hosts text"),
  "0034_passkey_browsers": execute("ALTER TABLE passkeys ADD COLUMN browser text NOT NULL DEFAULT ''"),
  "0035_label_requests": execute(`
    ALTER TABLE labels RENAME TO first_labels;
    CREATE TABLE labels (
      dapp_id text NOT NULL, network text NOT NULL, label text NOT NULL, request_id text NOT NULL, is_once integer NOT NULL,
      CONSTRAINT label_requests_key PRIMARY KEY (dapp_id, network, label, request_id));
    INSERT INTO labels SELECT * FROM first_labels;
    DROP TABLE first_labels`),
  "0036_late_rounds": execute(`
    CREATE TABLE late_rounds (
      chain_hash text NOT NULL, round text NOT NULL, signature text, CONSTRAINT late_rounds_key PRIMARY KEY (chain_hash, round))`),
  "0037_secret_keys": execute("ALTER TABLE secrets ADD COLUMN key_hash text"),
  "0038_late_round_times": execute(
    "ALTER TABLE late_rounds ADD COLUMN created_at integer NOT NULL DEFAULT 0",
  ),
  "0039_identities": execute(`
    CREATE TABLE identities (
      issuer text NOT NULL, subject text NOT NULL, person_id text NOT NULL, CONSTRAINT identities_key PRIMARY KEY (issuer, subject))`),
  "0041_audit_names": execute("ALTER TABLE audit ADD COLUMN subject_name text"),
  "0042_requests_on_chain": execute(
    "CREATE INDEX requests_on_chain ON requests (network, id) WHERE oracle_id IS NOT NULL",
  ),
  "0043_inviters": execute("ALTER TABLE invitations ADD COLUMN invited_by text NOT NULL DEFAULT ''"),
  "0044_audit_changes": execute("ALTER TABLE audit ADD COLUMN changes text"),
  "0045_operator_sessions": execute(
    "CREATE TABLE operator_sessions (id text PRIMARY KEY, ends_at integer NOT NULL)",
  ),
  "0046_key_lifetimes": execute(`
    ALTER TABLE api_keys ADD COLUMN access text NOT NULL DEFAULT 'full';
    ALTER TABLE api_keys ADD COLUMN expires_at integer;
    ALTER TABLE api_keys ADD COLUMN previous_hash blob;
    ALTER TABLE api_keys ADD COLUMN previous_sealed blob;
    ALTER TABLE api_keys ADD COLUMN previous_until integer;
    CREATE UNIQUE INDEX api_keys_previous ON api_keys (previous_hash)`),
  "0047_webhook_answers": execute(`
    ALTER TABLE webhooks ADD COLUMN last_success_at integer;
    ALTER TABLE webhook_attempts ADD COLUMN answer_headers text;
    CREATE INDEX webhook_attempts_by_event ON webhook_attempts (webhook_id, event_id, id)`),
  "0048_invited": execute("ALTER TABLE invitations ADD COLUMN name text NOT NULL DEFAULT ''"),
  // The size stands first: SQLite then reads sizes without reading what follows.
  "0049_refused_params": execute(`
    ALTER TABLE dry_runs ADD COLUMN params_bytes integer NOT NULL DEFAULT 0;
    ALTER TABLE dry_runs ADD COLUMN params text`),
};

/**
 * The newest migration that earlier versions can't live with. Later ones only add what the previous version may leave unread and unwritten,
 * so that version may keep running beside this one, as in a rolling upgrade: only these are applied while other processes serve. Whoever
 * adds a migration decides.
 */
export const LAST_BREAKING = "0046_key_lifetimes";

/** Hands {@link migrations} to Kysely's migrator. */
export const migrationProvider: MigrationProvider = { getMigrations: async () => migrations };

/** Returns the first applied migration that this version doesn't know, which means that a newer version made the database. */
export function findNewerMigration(names: readonly string[]): string | undefined {
  return names.find((name) => !(name in migrations));
}

/**
 * Returns a migration that executes statements, and then those for one kind of database. Columns have SQLite's types: on PostgreSQL,
 * `integer` has 64 bits, `blob` is `bytea`, and text is ordered by its bytes, as in SQLite. `;` ends a statement also in a literal, and
 * these words name types wherever they stand.
 */
function execute(
  statements: string,
  { sqlite = "", postgres = "" }: { readonly sqlite?: string; readonly postgres?: string } = {},
): Migration {
  return {
    async up(db) {
      const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
      const text = isPostgres ? toPostgres(`${statements};${postgres}`) : `${statements};${sqlite}`;
      for (const statement of text.split(";"))
        if (statement.trim() !== "") await sql.raw(statement).execute(db);
    },
  };
}

function toPostgres(statements: string): string {
  return (
    statements
      // SQLite numbers the rows of a table with an integer primary key by itself.
      .replaceAll("integer PRIMARY KEY", "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
      .replaceAll(/\binteger\b/g, "bigint")
      .replaceAll(/\bblob\b/g, "bytea")
      .replaceAll(/\btext\b/g, 'text COLLATE "C"')
  );
}
