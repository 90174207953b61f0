import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startPostgres } from "./postgres.ts";

/** A database for the tests of one file. */
export interface TestDatabase {
  open(): Promise<Store>;
  remove(): Promise<void>;
}

/** Every kind of database that a service can use. */
export const DATABASES: readonly (readonly [string, () => Promise<TestDatabase>])[] = [
  ["SQLite", createSqliteDatabase],
  ["PostgreSQL", createPostgresDatabase],
];

/** Tables, in the order to empty them: those that others reference come last. */
const TABLES = [
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
export function useStore(
  create: () => Promise<TestDatabase>,
  take: (store: Store, database: TestDatabase) => void,
): void {
  let database: TestDatabase | undefined;
  let store: Store | undefined;
  beforeAll(async () => {
    database = await create();
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
export async function emptyTables({ db }: Store): Promise<void> {
  for (const table of TABLES) await db.deleteFrom(table).execute();
}

async function createSqliteDatabase(): Promise<TestDatabase> {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-store-"));
  return {
    open: () => openStore(createSqliteDialect(path.join(folder, "tyche.sqlite"))),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function createPostgresDatabase(): Promise<TestDatabase> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  return { open: () => openStore(createPostgresDialect(url)), remove: () => server.remove() };
}
