import { Kysely, Migrator } from "kysely";
import type { Transaction } from "kysely";
import { TycheError, messageOf } from "../lib/errors.ts";
import { findNewerMigration, migrationProvider } from "./migrations.ts";
import type { Tables } from "./schema.ts";
import type { StoreDialect } from "./storeDialect.ts";
import { StoreError } from "./storeErrors.ts";
import type { Queryable } from "./queryable.ts";
import {
  ADDING,
  findMissingMigrations,
  isUsable,
  listAppliedMigrations,
  noteUsable,
} from "./tableVersion.ts";
import { openWalSync } from "./walSync.ts";
import type { WalSync } from "./walSync.ts";

export type { Queryable } from "./queryable.ts";

/** The service's database: one journal of dapps, keys, subscriptions, transactions and requests. */
export interface Store {
  readonly db: Kysely<Tables>;
  /** Names of the migrations that opening it has made, in their order. */
  readonly migrated: readonly string[];
  /**
   * Runs the writes of `work` in one transaction: all of them or none. Resolves when they are on disk, power cuts included.
   * What fails at the very end leaves open whether they were committed.
   *
   * @throws {StoreWriteError} for what is not an error of ours.
   */
  write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Runs writes in one transaction that a power cut may take: for what is found out again after it. Throws what the database throws. */
  writeSoon<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Runs a write that replaces a secret; as little as the database allows is left of the earlier bytes. */
  erase<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Options of {@link openStore}. */
export interface StoreOptions {
  /**
   * Path of a database of SQLite, whose writes then outlive a power cut. Default: they outlive the process only, or are the server's
   * business.
   */
  readonly file?: string;
  /**
   * Whether no other process serves from the database: then its tables may be changed in any way. Default: yes.
   */
  readonly isAlone?: boolean;
  /**
   * Told, in a few words, when committed writes can't be brought to disk. The system may take the next flush for a success although
   * they are lost: the process must end. Default: nothing.
   */
  readonly onFatal?: (reason: string) => void;
}

/**
 * Opens the database and brings its tables to the present version.
 *
 * @throws {StoreError} `store_unusable` when the database is not one of ours, its server won't do, or a migration fails; nothing is changed then.
 */
export async function openStore(dialect: StoreDialect, options: StoreOptions = {}): Promise<Store> {
  const db = new Kysely<Tables>({ dialect });
  let disk: WalSync | undefined;
  let migrated: readonly string[];
  try {
    await dialect.assertUsable?.(db);
    if (options.isAlone === false) assertAdding(await listAppliedMigrations(db));
    migrated = (await isNewer(db, options.file)) ? [] : await migrate(db);
    if (options.file !== undefined) disk = openWalSync(options.file);
  } catch (cause) {
    await db.destroy();
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(
      `the database ${options.file ?? "of the service"} can't be opened (${messageOf(cause)}); if it is damaged, put it back from a backup; another program's is not for this service`,
      cause,
    );
  }
  return {
    db,
    migrated,
    async write(work) {
      const result = await db
        .transaction()
        .execute(work)
        .catch((error: unknown) => {
          throw error instanceof TycheError ? error : new StoreWriteError(error);
        });
      await disk?.sync().catch((error: unknown) => {
        options.onFatal?.(`its writes can't be brought to disk (${messageOf(error)})`);
        throw new StoreWriteError(error);
      });
      return result;
    },
    writeSoon: (work) => db.transaction().execute(work),
    erase: (work) => dialect.erase(db, () => work(db)),
    async close() {
      await disk?.close();
      await db.destroy();
    },
  };
}

/** Brings the tables to the present version; gives the names of the migrations that were made. */
async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const { error, results = [] } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest();
  if (error !== undefined) throw error;
  await noteUsable(db);
  return results.map(({ migrationName }) => migrationName);
}

/**
 * Whether a newer version has had the database and says that this one may go on with it.
 *
 * @throws {StoreError} when it doesn't say so: what that one stores is not to be read, let alone changed, by this one.
 */
async function isNewer(db: Kysely<Tables>, file = "of the service"): Promise<boolean> {
  const applied = await listAppliedMigrations(db);
  const newer = findNewerMigration(applied);
  if (newer === undefined) return false;
  if (await isUsable(db, applied)) return true;
  throw new StoreError(
    `the database ${file} was made by a newer version of Tyche (${newer}); start that version, or put a backup from before the upgrade back with tyche restore`,
  );
}

/**
 * Sees that the tables of a database which was out of reach are still such as this version may use.
 *
 * @throws {StoreError} when they aren't; anything else where that can't be told.
 */
export async function assertTables(dialect: StoreDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  try {
    await isNewer(db);
    const [missing] = findMissingMigrations(await listAppliedMigrations(db));
    if (missing !== undefined)
      throw new StoreError(`its tables have been replaced by others, which lack ${missing}`);
  } finally {
    await db.destroy();
  }
}

/** Refuses changes of tables from which another process serves, but for those that every version before lives with. */
function assertAdding(applied: readonly string[]): void {
  const [first] = findMissingMigrations(applied).filter((name) => !ADDING.includes(name));
  if (first !== undefined)
    throw new StoreError(
      `the database has to be changed (${first}) in a way that the version which serves from it can't live with; stop all of its processes, then start this version`,
    );
}

/** Writes failed. Nothing that waits for them is to blame, and another time they may succeed. */
export class StoreWriteError extends TycheError {
  constructor(cause: unknown) {
    super(`the database refused a write (${messageOf(cause)})`, {
      code: "store_unusable",
      blame: "us",
      retryable: true,
      cause,
    });
  }
}
