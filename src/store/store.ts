import { closeSync, constants, openSync } from "node:fs";
import { dirname } from "node:path";
import { Kysely, Migrator, type Transaction } from "kysely";
import { TycheError, messageOf } from "../lib/errors.ts";
import { flushFile, flushPath, shareFlush } from "../lib/flushFile.ts";
import { findNewerMigration, LAST_BREAKING, migrationProvider } from "./migrations.ts";
import type { Tables } from "./schema.ts";
import type { StoreDialect } from "./storeDialect.ts";
import { StoreError } from "./storeErrors.ts";
import type { Queryable } from "./queryable.ts";
import { findMissingMigrations, isUsable, listAppliedMigrations, noteUsable } from "./tableVersion.ts";

/** The service's database: one journal of dapps, keys, subscriptions, transactions and requests. */
export interface Store {
  readonly db: Kysely<Tables>;
  readonly migrated: Migrated;
  /**
   * Runs the writes of `work` in one transaction: all of them or none. Resolves once they are on disk and survive a power cut. If it
   * fails at the very end, it is unknown whether they were committed.
   *
   * @throws {StoreWriteError} for errors that are not ours.
   */
  write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** As `write`, but resolves once the writes are committed: a power cut may undo them. For data that can be determined again. */
  writeSoon<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Resolves once everything committed before the call is on disk. Throws {@link StoreWriteError}. */
  flush(): Promise<void>;
  /** Runs a write that replaces a secret, and leaves as little of the previous bytes as the database allows. */
  erase<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  /**
   * Copies everything committed from a file's write-ahead log to the file itself. To be called before the process ends because a file was
   * removed: a removed log is lost with the process. Never throws.
   */
  checkpoint(): void;
  close(): Promise<void>;
}

/** What opening a store has changed in its tables. */
export interface Migrated {
  /** The newest migration of before; absent for a new database. */
  readonly from?: string;
  /** Names of the migrations that were applied, in order. */
  readonly names: readonly string[];
  readonly ms: number;
}

export interface StoreOptions {
  /**
   * Path of a SQLite database, whose writes then survive a power cut. Default: they survive only the process, or the server takes care of
   * it.
   */
  readonly file?: string;
  /** Whether no other process serves from the database, so that its tables may be changed in any way. Default: yes. */
  readonly isAlone?: boolean;
  /**
   * Called with a short reason when committed writes can't be flushed to disk. The system may report the next flush as a success although
   * they are lost, so the process must end. Default: nothing.
   */
  readonly onFatal?: (reason: string) => void;
}

/**
 * Opens the database and migrates its tables to the current version.
 *
 * @throws {StoreError} `store_unusable` when the database is not one of ours, its server is unsuitable, or a migration fails; nothing is
 * changed then.
 */
export async function openStore(dialect: StoreDialect, options: StoreOptions = {}): Promise<Store> {
  const db = new Kysely<Tables>({ dialect });
  let disk: WalSync | undefined;
  let migrated: Migrated;
  try {
    await dialect.assertUsable?.(db);
    const applied = await listAppliedMigrations(db);
    if (options.isAlone === false) assertAdding(applied);
    const began = performance.now();
    const names = (await isNewer(db, applied, options.file)) ? [] : await migrate(db);
    const [from] = applied.slice(-1);
    migrated = { ...(from === undefined ? {} : { from }), names, ms: performance.now() - began };
    if (options.file !== undefined) disk = openWalSync(options.file);
  } catch (cause) {
    await db.destroy();
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(
      `the database ${options.file ?? "of the service"} can't be opened (${messageOf(cause)}); if it is damaged, put it back from a backup; another program's is not for this service`,
      cause,
    );
  }
  const writeSoon: Store["writeSoon"] = async (work) => {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      throw error instanceof TycheError ? error : new StoreWriteError(error);
    }
  };
  const flush = async (): Promise<void> => {
    try {
      await disk?.sync();
    } catch (error) {
      options.onFatal?.(`its writes can't be brought to disk (${messageOf(error)})`);
      throw new StoreWriteError(error);
    }
  };
  return {
    db,
    migrated,
    async write(work) {
      const result = await writeSoon(work);
      await flush();
      return result;
    },
    writeSoon,
    flush,
    erase: (work) => dialect.erase(db, () => work(db)),
    checkpoint: () => dialect.checkpoint?.(),
    async close() {
      await disk?.close();
      await db.destroy();
    },
  };
}

/** Migrates the tables to the current version; returns the names of the migrations applied. */
async function migrate(db: Kysely<Tables>): Promise<string[]> {
  const { error, results = [] } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest();
  if (error !== undefined) throw error;
  await noteUsable(db);
  return results.map(({ migrationName }) => migrationName);
}

/**
 * Whether a newer version migrated the database but declared that this version may still use it.
 *
 * @throws {StoreError} when it declared no such thing: this version must not read, let alone change, the newer one's data.
 */
async function isNewer(
  db: Kysely<Tables>,
  applied: readonly string[],
  file = "of the service",
): Promise<boolean> {
  const newer = findNewerMigration(applied);
  if (newer === undefined) return false;
  if (await isUsable(db, applied)) return true;
  throw new StoreError(
    `the database ${file} was made by a newer version of Tyche (${newer}); start that version, or put a backup from before the upgrade back with tyche restore`,
  );
}

/**
 * Checks that this version may still use the tables of a database that was unreachable.
 *
 * @throws {StoreError} when it may not; any other error if that can't be determined.
 */
export async function assertTables(dialect: StoreDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  try {
    const applied = await listAppliedMigrations(db);
    await isNewer(db, applied);
    const [missing] = findMissingMigrations(applied);
    if (missing !== undefined)
      throw new StoreError(`its tables have been replaced by others, which lack ${missing}`);
  } finally {
    await db.destroy();
  }
}

/** Refuses schema changes while another process serves, except those that the previous versions tolerate. */
function assertAdding(applied: readonly string[]): void {
  if (!applied.includes(LAST_BREAKING))
    throw new StoreError(
      `the database has to be changed (${LAST_BREAKING}) in a way that the version which serves from it can't live with; stop all of its processes, then start this version`,
    );
}

/** Writes failed. The callers that wait for them are not to blame, and a retry may succeed. */
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

/** Flushes what a database in WAL mode has committed to the disk. */
type WalSync = ReturnType<typeof openWalSync>;

/**
 * Opens the write-ahead log of a database for flushing. Until a checkpoint, a commit is only in the log, and SQLite flushes both files
 * around a checkpoint (`synchronous = NORMAL`), so flushing the log is all that `FULL` adds. A flush takes 4–6 ms on an ordinary disk;
 * here it neither blocks the thread nor happens for each commit.
 *
 * @param database path of the database; it has been written to, so its log exists.
 */
function openWalSync(database: string) {
  // Makes the files' names in their folder durable.
  flushPath(dirname(database));
  const file = openSync(`${database}-wal`, constants.O_RDWR);
  const flushes = shareFlush(() => flushFile(file));
  let isClosed = false;

  return {
    /** Resolves once everything committed before the call is on disk. Concurrent calls share one flush. */
    sync: (): Promise<void> => (isClosed ? Promise.resolve() : flushes.run()),
    /** Resolves after the flush in flight; later calls of `sync` do nothing. Idempotent. */
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled([flushes.underWay()]);
      closeSync(file);
    },
  };
}
