import { Kysely, Migrator } from "kysely";
import type { Dialect, Transaction } from "kysely";
import { TycheError } from "../lib/errors.ts";
import { migrationProvider } from "./migrations.ts";
import type { Tables } from "./schema.ts";

/** A connection or a transaction: whatever the queries of this folder run on. */
export type Queryable = Kysely<Tables> | Transaction<Tables>;

/** The service's database: one journal of dapps, keys, subscriptions, transactions and requests. */
export interface Store {
  readonly db: Kysely<Tables>;
  /** Runs the writes of `work` in one transaction: all of them or none. */
  write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the database and brings its tables to the present version.
 *
 * @throws {StoreError} `store_unusable` when the file is not one of ours or a migration fails; nothing is changed then.
 */
export async function openStore(dialect: Dialect): Promise<Store> {
  const db = new Kysely<Tables>({ dialect });
  try {
    const { error } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest();
    if (error !== undefined) throw error;
  } catch (cause) {
    await db.destroy();
    throw new StoreError(
      "the database in the data directory can't be opened; is it another program's or a newer version's?",
      cause,
    );
  }
  return {
    db,
    write: (work) => db.transaction().execute(work),
    close: () => db.destroy(),
  };
}

/** The database can't be used. */
export class StoreError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "store_unusable", blame: "us", cause });
  }
}
