import { execFile } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, backup } from "node:sqlite";
import { promisify } from "node:util";
import { findDamage } from "../lib/databaseCheck.ts";
import { TycheError, messageOf } from "../lib/errors.ts";
import { flushPath } from "../lib/flushFile.ts";
import { setAside } from "../lib/setAside.ts";
import { describeForeign, SQLITE_OBJECTS, type SchemaObject } from "./foreignObjects.ts";
import { findNewerMigration } from "./migrations.ts";

/** Copies all pages in one step, which reads a single snapshot: a copy in several steps starts over with each write in between. */
const ALL_PAGES = 2 ** 31 - 1;

/** Facts about a backup. */
export interface BackupFile {
  /** Size in bytes. */
  readonly bytes: number;
  /** When the most recently changed request in it changed, in milliseconds since the epoch; absent if it holds no requests. */
  readonly changedAt?: number;
  /** Fingerprint of the master key; absent in databases that predate it. */
  readonly keyFingerprint?: string;
}

/**
 * Copies a snapshot of a database to a new file that only its owner may read, while the service keeps writing to the database. The copy
 * is verified and flushed to disk before it gets its name.
 *
 * @throws {BackupError} when the target already exists, or the copy can't be written or read.
 */
export async function backupDatabase(database: string, target: string): Promise<BackupFile> {
  if (existsSync(target)) throw new BackupError(`${target} is there already; name a new file`);
  const copy = `${target}.new`;
  try {
    rmSync(copy, { force: true });
    closeSync(openSync(copy, "wx", 0o600));
    const source = new DatabaseSync(database, { readOnly: true, timeout: 5_000 });
    try {
      await backup(source, copy, { rate: ALL_PAGES });
    } finally {
      source.close();
    }
    closeLog(copy);
    const known = readBackup(copy);
    flushPath(copy);
    // Unlike a rename, a link never replaces an existing file.
    linkSync(copy, target);
    rmSync(copy);
    flushPath(dirname(target));
    return known;
  } catch (cause) {
    rmSync(copy, { force: true });
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`${target} can't be written (${messageOf(cause)})`, cause);
  }
}

/**
 * Verifies a backup and reads its facts.
 *
 * @throws {BackupError} when it is damaged, is not a Tyche database, has views, triggers or tables of others, or was made by a newer
 * version.
 */
export function readBackup(file: string): BackupFile {
  if (!existsSync(file)) throw new BackupError(`there is no file ${file}`);
  let database: DatabaseSync | undefined;
  try {
    const damage = findDamage(file);
    if (damage !== undefined) throw new BackupError(`${file} is damaged (${damage})`);
    database = new DatabaseSync(file, { readOnly: true });
    const names = database.prepare("SELECT name FROM kysely_migration").all() as { name: string }[];
    const newer = findNewerMigration(names.map(({ name }) => name));
    if (newer !== undefined)
      throw new BackupError(`${file} is a newer version's (${newer}); restore it with that version`);
    const objects = database.prepare(SQLITE_OBJECTS).all() as unknown as SchemaObject[];
    const [foreign] = describeForeign(objects);
    if (foreign !== undefined) throw new BackupError(`${file} can't be relied on: ${foreign}`);
    const { at } = database.prepare("SELECT max(updated_at) AS at FROM requests").get() as {
      at: number | null;
    };
    const key = database.prepare("SELECT value FROM settings WHERE name = 'master key fingerprint'").get();
    return {
      bytes: statSync(file).size,
      ...(at === null ? {} : { changedAt: at }),
      ...(key === undefined ? {} : { keyFingerprint: key["value"] as string }),
    };
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`${file} is no backup of a Tyche database (${messageOf(cause)})`, cause);
  } finally {
    database?.close();
  }
}

/**
 * Restores a backup over a database that no process has open. The previous database and its write-ahead log are set aside. Safe to repeat
 * after a crash at any point: the previous database's log never lies beside the restored one.
 *
 * @returns where the previous database is now; absent if there was none.
 * @throws {BackupError} when a file can't be written or moved.
 */
export function restoreDatabase(file: string, database: string): { readonly setAsideAs?: string } {
  const copy = `${database}.new`;
  try {
    rmSync(copy, { force: true });
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
    flushPath(copy);
    for (const log of ["-wal", "-shm"]) if (existsSync(database + log)) setAside(database + log);
    const setAsideAs = existsSync(database) ? setAside(database) : undefined;
    renameSync(copy, database);
    flushPath(dirname(database));
    return setAsideAs === undefined ? {} : { setAsideAs };
  } catch (cause) {
    throw new BackupError(`${database} can't be put back (${messageOf(cause)})`, cause);
  }
}

/** Turns a database into a single file, without a write-ahead log beside it. */
function closeLog(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = DELETE");
  database.close();
}

const run = promisify(execFile);

/**
 * Packs a folder's contents into a new `.tar.gz`.
 *
 * @throws {BackupError}
 */
export async function packFolder(folder: string, file: string): Promise<void> {
  await tar(["-czf", file, "-C", folder, "."]);
}

/**
 * Unpacks a `.tar.gz` into an existing folder.
 *
 * @throws {BackupError} when it is damaged or isn't one.
 */
export async function unpackArchive(file: string, folder: string): Promise<void> {
  await tar(["-xzf", file, "-C", folder, "--no-same-owner", "--no-same-permissions"]);
}

async function tar(args: readonly string[]): Promise<void> {
  try {
    await run("tar", args);
  } catch (cause) {
    const { code, stderr } = cause as { readonly code?: unknown; readonly stderr?: string };
    const [said] = (stderr ?? "").trim().split("\n");
    throw new BackupError(code === "ENOENT" ? "the program tar is missing" : said || String(cause), cause);
  }
}

/** A backup can't be made or restored; the message says why and what to do. */
export class BackupError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "backup_failed", blame: "caller", cause });
  }
}
