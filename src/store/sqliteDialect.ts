import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { SqliteDialect } from "kysely";
import type { SqliteDatabase, SqliteStatement } from "kysely";

/** Statements kept prepared; the queries of the hot path are a few dozen, so they all stay. */
const MAX_PREPARED_STATEMENTS = 200;

/** SQLite's result codes (sqlite3.h) after which nothing more can be relied on to be stored, with what a reader can do about them. */
const FATAL_CODES: ReadonlyMap<number, string> = new Map([
  [8, "it can't be written to (is the file system read-only?)"],
  [10, "reading or writing it failed (is the disk broken, or gone?)"],
  [11, "it is damaged"],
  [13, "the disk is full"],
  [14, "it can't be opened any more (was the data directory removed?)"],
  [26, "it is damaged"],
]);

/**
 * Makes a Kysely dialect over Node's built-in SQLite, so that no native package has to be installed.
 *
 * @param file path of the database file, or `:memory:`.
 * @param onFatal told, with what is wrong in a few words, when a statement fails for a reason that is not its own: the disk is
 * full, the file damaged. The statement throws besides.
 */
export function createSqliteDialect(
  file: string,
  onFatal: (reason: string) => void = () => {},
): SqliteDialect {
  return new SqliteDialect({ database: async () => openDatabase(file, onFatal) });
}

function openDatabase(file: string, onFatal: (reason: string) => void): SqliteDatabase {
  const database = new DatabaseSync(file);
  // WAL: readers (the command line) don't block the service. NORMAL: a commit survives the death of the process;
  // only a power cut may take the last commits, and never the integrity of the file. A checkpoint every 16 MB: a request's pages are
  // written again at each of its steps, and most of them are over by then.
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON",
  );
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.clear();
        statement = adaptStatement(database.prepare(sql), onFatal);
        prepared.set(sql, statement);
      }
      return statement;
    },
  };
}

function adaptStatement(statement: StatementSync, onFatal: (reason: string) => void): SqliteStatement {
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
    // A statement that gives back columns is a query, INSERT … RETURNING included.
    reader: statement.columns().length > 0,
    all: (parameters) => watch(() => statement.all(...(parameters as SQLInputValue[]))),
    run: (parameters) => watch(() => statement.run(...(parameters as SQLInputValue[]))),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
