import { closeSync, existsSync, fstatSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { SqliteDialect, sql, type Kysely, type SqliteDatabase, type SqliteStatement } from "kysely";
import type { Tables } from "./schema.ts";
import type { StoreDialect } from "./storeDialect.ts";

/** Statements kept prepared; the hot path has a few dozen queries, so they all stay. */
const MAX_PREPARED_STATEMENTS = 200;

/** Why a database can't be used whose file, or write-ahead log, was removed. */
const REMOVED = "was removed while the service ran";
const LOG_REMOVED = "its write-ahead log was removed while the service ran";

/** SQLite's result codes (sqlite3.h) after which no further write can be relied on, with what a reader can do about each. */
const FATAL_CODES: ReadonlyMap<number, string> = new Map([
  [8, "it can't be written to (is the file system read-only?)"],
  [10, "reading or writing it failed (is the disk broken, or gone?)"],
  [11, "it is damaged"],
  [13, "the disk is full"],
  [14, "it can't be opened any more (was the data directory removed?)"],
  [26, "it is damaged"],
]);

/**
 * Creates a Kysely dialect over Node's built-in SQLite, which needs no native package.
 *
 * @param file path of the database file, or `:memory:`.
 * @param onFatal called with a short reason when a statement fails through no fault of its own: the disk is full, the file damaged. The
 * statement throws as well.
 */
export function createSqliteDialect(
  file: string,
  onFatal: (reason: string) => void = () => {},
): StoreDialect {
  let database: OpenDatabase | undefined;
  const dialect = new SqliteDialect({ database: async () => (database = openDatabase(file, onFatal)) });
  return Object.assign(dialect, { erase, checkpoint: () => database?.checkpoint() });
}

/** Makes SQLite overwrite freed space, and truncates the log, which holds the page's earlier version. */
async function erase<T>(db: Kysely<Tables>, work: () => Promise<T>): Promise<T> {
  await sql`PRAGMA secure_delete = ON`.execute(db);
  try {
    const result = await work();
    await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
    return result;
  } finally {
    await sql`PRAGMA secure_delete = OFF`.execute(db);
  }
}

interface OpenDatabase extends SqliteDatabase {
  /** See `Store.checkpoint`. */
  checkpoint(): void;
}

function openDatabase(file: string, onFatal: (reason: string) => void): OpenDatabase {
  // SQLite would create it readable by everyone, and gives the files beside it the same permissions. The file is never opened and closed
  // once SQLite has it open: that would drop SQLite's locks, which POSIX ties to the process, not the descriptor.
  if (file !== ":memory:" && !existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  // WAL: readers (the command line) don't block the service. NORMAL: a commit survives the death of the process; `openWalSync` makes it
  // survive a power cut, for many commits at once and off this thread. A checkpoint every 16 MB: a request's pages are rewritten at each
  // of its steps, and most requests have ended by then. MEMORY: a statement's temporary data would otherwise go to the temporary folder,
  // and if that is full, the error looks like a full disk of the database.
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY",
  );
  const isFile = file !== ":memory:";
  const presence = isFile ? openSync(file, "r") : undefined;
  /** The write-ahead log, which SQLite creates with the first statement. */
  let log: number | undefined;
  const checkpoint = (): void => {
    try {
      // Nothing that is not committed has been announced.
      if (database.isTransaction) database.exec("ROLLBACK");
      database.exec("PRAGMA wal_checkpoint(FULL)");
    } catch {
      // The disk is to blame as well, or the database is closed: nothing else can be done.
    }
  };
  const assertPresent = (): void => {
    if (log === undefined && isFile && existsSync(`${file}-wal`)) log = openSync(`${file}-wal`, "r");
    // Writing to a removed file succeeds, but everything written is lost when the process ends.
    const isGone = (descriptor: number | undefined): boolean =>
      descriptor !== undefined && fstatSync(descriptor).nlink === 0;
    const reason = isGone(presence) ? REMOVED : isGone(log) ? LOG_REMOVED : undefined;
    if (reason === undefined) return;
    checkpoint();
    onFatal(reason);
    throw new Error(`the database can't be written: ${reason}`);
  };
  const prepared = new Map<string, SqliteStatement>();
  return {
    close() {
      database.close();
      for (const descriptor of [presence, log]) if (descriptor !== undefined) closeSync(descriptor);
    },
    checkpoint,
    prepare(sql) {
      // After some errors, such as a full disk, SQLite has already rolled back: a second rollback would fail and hide the error.
      if (sql === "rollback" && !database.isTransaction) return NO_STATEMENT;
      let statement = prepared.get(sql);
      if (statement === undefined) {
        if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.clear();
        const beforeRun = (): void => {
          // Of a transaction, only the end matters: nothing of it is announced before.
          if (sql === "commit" || (sql !== "begin" && !database.isTransaction)) assertPresent();
        };
        statement = adaptStatement(database.prepare(sql), { onFatal, beforeRun });
        prepared.set(sql, statement);
      }
      return statement;
    },
  };
}

const NO_STATEMENT: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
};

function adaptStatement(
  statement: StatementSync,
  { onFatal, beforeRun }: { readonly onFatal: (reason: string) => void; readonly beforeRun: () => void },
): SqliteStatement {
  const watch = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      // The low byte is the code, the rest its detail.
      const reason = FATAL_CODES.get(Number((error as { errcode?: unknown }).errcode) & 0xff);
      if (reason !== undefined) onFatal(reason);
      throw error;
    }
  };
  return {
    // A statement that returns columns is a query, including INSERT … RETURNING.
    reader: statement.columns().length > 0,
    all: (parameters) => watch(() => statement.all(...(parameters as SQLInputValue[]))),
    run(parameters) {
      beforeRun();
      return watch(() => statement.run(...(parameters as SQLInputValue[])));
    },
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
