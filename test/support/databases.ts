/* eslint-disable no-empty-pattern -- Vitest reads from this pattern which others a fixture needs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, test } from "vitest";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startPostgres, type PostgresServer } from "./postgres.ts";

/** A database for the tests of one file. */
export interface TestDatabase {
  open(options?: { readonly isAlone: boolean }): Promise<Store>;
  remove(): Promise<void>;
}

/** Gives `take` a new database before the first test of a block. */
export type DatabaseSetup = (take: (database: TestDatabase) => Promise<void>) => void;

/**
 * The PostgreSQL server of a worker, for `withPostgres.beforeAll`: it starts when the first file asks for it, and stops with the worker. Files
 * keep apart by databases of their own; one that stops the server or cuts others' connections starts its own.
 */
export const withPostgres = test.extend(
  "postgres",
  { scope: "worker" },
  async ({}, { onCleanup }): Promise<PostgresServer> => {
    const server = await startPostgres();
    onCleanup(() => server.remove());
    return server;
  },
);

/** Every kind of database that a service can use. */
export const DATABASES: readonly (readonly [string, DatabaseSetup])[] = [
  ["SQLite", (take) => beforeAll(() => take(createSqliteDatabase()))],
  [
    "PostgreSQL",
    (take) => withPostgres.beforeAll(async ({ postgres }) => take(await createPostgresDatabase(postgres))),
  ],
];

/** Tables, in the order to empty them: those that others reference come last. */
const TABLES = [
  "audit",
  "passkey_challenges",
  "person_sessions",
  "operator_sessions",
  "invitations",
  "members",
  "passkeys",
  "people",
  "late_rounds",
  "run_logs",
  "log_cursors",
  "log_triggers",
  "trigger_runs",
  "schedules",
  "webhook_attempts",
  "webhook_deliveries",
  "webhook_events",
  "webhooks",
  "usage",
  "dry_runs",
  "requests",
  "transactions",
  "sources",
  "consumers",
  "subscriptions",
  "chains",
  "oracle_rounds",
  "oracle_evidence",
  "api_keys",
  "dapps",
  "settings",
] as const;

/**
 * Opens a database for the tests of a block, and empties its tables after each of them. `take` gets the store before the first
 * test.
 */
export function useStore(prepare: DatabaseSetup, take: (store: Store, database: TestDatabase) => void): void {
  let database: TestDatabase | undefined;
  let store: Store | undefined;
  prepare(async (created) => {
    database = created;
    store = await database.open();
    take(store, database);
  });
  afterAll(async () => {
    await store?.close();
    await database?.remove();
  });
  afterEach(async () => {
    if (store !== undefined) await emptyTables(store);
  });
}

/** Empties every table. */
async function emptyTables({ db }: Store): Promise<void> {
  for (const table of TABLES) await db.deleteFrom(table).execute();
}

function createSqliteDatabase(): TestDatabase {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-store-"));
  return {
    open: (options) => openStore(createSqliteDialect(path.join(folder, "tyche.sqlite")), options),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function createPostgresDatabase(server: PostgresServer): Promise<TestDatabase> {
  const url = await server.createDatabase();
  // It goes with the server.
  return { open: (options) => openStore(createPostgresDialect(url), options), remove: async () => {} };
}
