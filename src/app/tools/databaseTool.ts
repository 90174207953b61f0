import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Kysely, sql } from "kysely";
import { findDamage } from "../../lib/databaseCheck.ts";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import { setAside } from "../../lib/setAside.ts";
import { findServer } from "../../store/openDatabase.ts";
import { findDamagedRows } from "../../store/damagedRows.ts";
import { DatabaseCopyError, copyTables } from "../../store/databaseCopy.ts";
import { findForeign } from "../../store/foreignObjects.ts";
import { findNotedDatabase, noteDatabase } from "../../store/databaseNote.ts";
import { listChains, openDataDirectory } from "../../store/dataDirectory.ts";
import { createPostgresDialect } from "../../store/postgresDialect.ts";
import { lockPostgres } from "../../store/postgresLock.ts";
import type { Tables } from "../../store/schema.ts";
import { createSqliteDialect } from "../../store/sqliteDialect.ts";
import { openStore } from "../../store/store.ts";
import type { StoreDialect } from "../../store/storeDialect.ts";
import { StoreError } from "../../store/storeErrors.ts";
import { digestTables, findDifferences, type TableDigest } from "../../store/tableDigest.ts";
import { findMissingMigrations, isStranger, listAppliedMigrations } from "../../store/tableVersion.ts";

/** Where a service keeps its state, and its environment. */
export interface DatabaseLocation {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The master key, if it is kept outside the data directory. */
  readonly masterKey?: OutsideSecret | undefined;
}

type OnRows = (table: string, rows: number) => void;

/** The result of compacting a database: its file's size in bytes before and after. */
export interface CompactedDatabase {
  readonly database: string;
  readonly before: number;
  readonly after: number;
}

/**
 * Rewrites a stopped service's database file without the space that deleted rows left. Meanwhile needs as much space in the temporary
 * folder.
 *
 * @throws {TycheError} when a service is using it, it is on a server, or the disk lacks space; the file is then unchanged.
 */
export async function compactDatabase(location: DatabaseLocation): Promise<CompactedDatabase> {
  const { dataDir, environment, masterKey } = location;
  const server = findServer(dataDir, environment);
  if (server !== undefined)
    throw new DatabaseCopyError(
      `${nameOf(server.variable)} is on a server, which reuses the space of deleted rows by itself; to return it to the system: psql "$${server.variable}" -c "VACUUM FULL"`,
    );
  const file = existing(join(dataDir, "tyche.sqlite"));
  const directory = openDataDirectory(dataDir, { exclusive: true, masterKey });
  try {
    const before = statSync(file).size;
    await withTables(createSqliteDialect(file), async (db) => {
      // The temporary copy may be larger than the memory.
      await sql`PRAGMA temp_store = FILE`.execute(db);
      await sql`VACUUM`.execute(db);
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
    });
    return { database: file, before, after: statSync(file).size };
  } finally {
    directory.close();
  }
}

/** The result of checking a database. */
export interface CheckedDatabase {
  readonly database: string;
  readonly tables: readonly TableDigest[];
  /** Problems found, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Checks a data directory's database, and compares it with another one if asked to. Changes nothing, and may run beside the service; a
 * comparison then also shows what was written meanwhile.
 *
 * @param options.from the file to check. Default: the database of the data directory.
 * @param options.to variable that holds the URL of the database to compare with.
 */
export async function checkDatabase(
  location: DatabaseLocation,
  options: {
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly onRows?: OnRows;
  } = {},
): Promise<CheckedDatabase> {
  const { from, to, onRows } = options;
  const server = from === undefined ? findServer(location.dataDir, location.environment) : undefined;
  const file = resolve(from ?? join(location.dataDir, "tyche.sqlite"));
  const database = server === undefined ? file : nameOf(server.variable);
  if (to !== undefined && server?.variable === to)
    throw new DatabaseCopyError(
      `${database} is the one that this data directory uses, so there is nothing to compare; name the earlier file with --from`,
    );
  const damage = server === undefined ? findDamage(existing(file)) : undefined;
  if (damage !== undefined) return { database, tables: [], problems: [`it is damaged (${damage})`] };
  return await withTables(
    server === undefined ? createSqliteDialect(file) : createPostgresDialect(server.url),
    async (db) => {
      const problems = [...(await findVersionProblems(db))];
      if (problems.length > 0) return { database, tables: [], problems };
      problems.push(...(await findForeign(db)));
      const tables = await digestTables(db, onRows);
      problems.push(...(await findDamagedRows(db)));
      if (to !== undefined)
        problems.push(
          ...(await compare(tables, { variable: to, url: urlOf(to, location.environment) }, onRows)),
        );
      return { database, tables, problems };
    },
  );
}

async function compare(
  tables: readonly TableDigest[],
  target: { readonly variable: string; readonly url: string },
  onRows: OnRows | undefined,
): Promise<string[]> {
  return await withTables(createPostgresDialect(target.url), async (db) => {
    const problems = await findVersionProblems(db);
    if (problems.length > 0) return problems.map((problem) => `${nameOf(target.variable)}: ${problem}`);
    const foreign = (await findForeign(db)).map((problem) => `${nameOf(target.variable)}: ${problem}`);
    const different = findDifferences(tables, await digestTables(db, onRows)).map(
      (table) => `${nameOf(target.variable)} holds different rows in ${table}`,
    );
    return [...foreign, ...different];
  });
}

async function findVersionProblems(db: Kysely<Tables>): Promise<string[]> {
  const missing = findMissingMigrations(await listAppliedMigrations(db));
  return missing.length === 0
    ? []
    : [`its tables lack ${missing.join(", ")}: a start of this version migrates them`];
}

export interface CopyDatabaseOptions {
  /** Variable that holds the URL of the target. */
  readonly to: string;
  /** Called with the progress. */
  readonly onRows?: OnRows;
  /** How long to wait for a process that serves from the target to exit, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/** The result of a copy. */
export interface CopiedDatabase {
  readonly tables: readonly TableDigest[];
  /** Where the earlier database is after the copy. */
  readonly setAsideAs: string;
}

/**
 * Copies the database of a stopped service's data directory to PostgreSQL, which the directory uses from then on. Safe to repeat: the file
 * is moved away only once everything is committed.
 *
 * @throws {TycheError} when a service is using either database, or the target holds something else.
 */
export async function copyDatabase(
  location: DatabaseLocation,
  options: CopyDatabaseOptions,
): Promise<CopiedDatabase> {
  const { dataDir, environment, masterKey } = location;
  const { to, onRows = () => {}, waitMs } = options;
  const url = urlOf(to, environment);
  const file = existing(join(dataDir, "tyche.sqlite"));
  const noted = findNotedDatabase(dataDir);
  if (noted !== undefined && noted !== to)
    throw new DatabaseCopyError(`the database of ${dataDir} is already the one that ${noted} names`);
  const chains = listChains(dataDir);
  if (chains.length > 0)
    throw new DatabaseCopyError(
      `${dataDir} has embedded chains (${chains.join(", ")}), which need the database beside them; configure networks with nodes of their own, move ${join(dataDir, "chains")} away, and copy again`,
    );
  const directory = openDataDirectory(dataDir, { exclusive: true, masterKey });
  try {
    const damage = findDamage(file);
    if (damage !== undefined)
      throw new StoreError(`the database ${file} is damaged (${damage}); restore it from a backup`);
    const tables = await withLock(url, () => copyFile(file, { url, variable: to }, onRows), waitMs);
    noteDatabase(directory, to);
    for (const log of ["-wal", "-shm"]) if (existsSync(file + log)) setAside(file + log);
    return { tables, setAsideAs: setAside(file) };
  } finally {
    directory.close();
  }
}

async function copyFile(
  file: string,
  target: { readonly url: string; readonly variable: string },
  onRows: OnRows,
): Promise<readonly TableDigest[]> {
  await withTables(createPostgresDialect(target.url), async (db) => {
    if (await isStranger(db))
      throw new DatabaseCopyError(
        `${nameOf(target.variable)} holds another program's tables; name an empty database`,
      );
  });
  const from = await openStore(createSqliteDialect(file), { file });
  try {
    const to = await openStore(createPostgresDialect(target.url));
    try {
      const tables = await copyTables(from.db, to.db, { onRows });
      await sql`ANALYZE`.execute(to.db);
      // Flushes the write-ahead log into the file, because only the file is moved away.
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(from.db);
      return tables;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Runs `work` on a database as it is, without migrating it. */
async function withTables<T>(dialect: StoreDialect, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const db = new Kysely<Tables>({ dialect });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Runs `work` while no process serves from a PostgreSQL database. */
async function withLock<T>(url: string, work: () => Promise<T>, waitMs?: number): Promise<T> {
  const unlock = await lockPostgres(url, { onLost: () => {}, ...(waitMs === undefined ? {} : { waitMs }) });
  try {
    return await work();
  } finally {
    await unlock();
  }
}

function urlOf(variable: string, environment: DatabaseLocation["environment"]): string {
  // The value may be the URL itself, so it is not repeated.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
    throw new DatabaseCopyError(
      "--to takes the name of the variable that holds the URL, such as DATABASE_URL: a URL would be visible in the process list",
    );
  const url = environment[variable]?.trim();
  if (!url) throw new DatabaseCopyError(`${variable}, which should hold the URL of the database, is not set`);
  return url;
}

function existing(file: string): string {
  if (existsSync(file)) return file;
  throw new DatabaseCopyError(`there is no database ${file}; name another data directory in TYCHE_DATA_DIR`);
}

function nameOf(variable: string): string {
  return `the database that ${variable} names`;
}
