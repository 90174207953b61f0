import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
  chmodSync,
  lstatSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TycheError, messageOf } from "../lib/errors.ts";
import { flushPath } from "../lib/flushFile.ts";
import { makeFolder } from "../lib/makeFolder.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { createMasterKey, parseMasterKey } from "./masterKey.ts";
import { setAside } from "../lib/setAside.ts";

/** Configuration file in the data directory: a folder that contains it is meant for Tyche, whatever else it holds. */
export const CONFIG_FILE = "tyche.json";
/** Distinguishes our data directories from folders with other contents. */
export const MARKER = "tyche-data";
/** Files that identify a directory that lost its marker, and that can't be recreated if lost. */
const DATABASE = "tyche.sqlite";
const CHAINS = "chains";
const MASTER_KEY = "master-key";
const FIRST_PAGE_BYTES = 4_096;
const SQLITE_HEADER = "SQLite format 3\0";
/** Modules that sources import: many files, all public. */
const MODULES = "modules";

/** The folder that holds all state of one service. */
export interface DataDirectory {
  readonly path: string;
  /** 32 random bytes, generated on first use; every other secret is derived from it. */
  readonly masterKey: Uint8Array;
  /** Whether the master key is kept outside the directory; if so, no other secret is stored in it either. */
  readonly isKeyOutside: boolean;
  /** Returns the path of a file or folder in the directory. */
  file(...names: readonly string[]): string;
  /** Writes a file atomically, readable by its owner only. */
  writeSecret(name: string, text: string): void;
  /** Releases the exclusive claim to serve from this directory. Idempotent. */
  close(): void;
}

export interface DataDirectoryOptions {
  /** `true` for the one process that serves from the directory; other commands of the command line share it. */
  readonly exclusive: boolean;
  /** Whether the database is about to be restored: it may be missing, and no new master key is generated. Default false. */
  readonly isRestoring?: boolean;
  /** The master key, if it is kept outside. Default: the file `master-key` in the directory, created along with it. */
  readonly masterKey?: OutsideSecret | undefined;
}

/**
 * Opens the data directory, creating it if absent, and restricts access to its owner.
 *
 * @throws {DataDirectoryError} `data_dir_unusable` when it can't be written, holds foreign files, lacks a file that can't be recreated
 * (its master key, or the database that its chains belong to), or another process serves from it.
 */
export function openDataDirectory(path: string, options: DataDirectoryOptions): DataDirectory {
  const file = (...names: readonly string[]): string => join(path, ...names);
  const writeSecret = (name: string, text: string): void => {
    const temporary = file(`.${name}.new`);
    try {
      writeFileSync(temporary, text, { mode: 0o600, flush: true });
      renameSync(temporary, file(name));
      flushPath(path);
    } catch (cause) {
      throw new DataDirectoryError(
        `${file(name)} can't be written (${messageOf(cause)}); move away what is in its place and see that the disk has room`,
        cause,
      );
    }
  };
  const unusable = (cause: unknown): TycheError => {
    if (cause instanceof TycheError) return cause;
    const isForbidden = (cause as NodeJS.ErrnoException).code === "EACCES";
    const remedy = isForbidden ? "give it, with all in it, to the user that runs Tyche (chown), or " : "";
    return new DataDirectoryError(
      `${path} can't be used as data directory (${messageOf(cause)}); ${remedy}name another one in TYCHE_DATA_DIR`,
      cause,
    );
  };
  try {
    makeFolder(path, FOLDER_MODE);
    claimFolder(path);
  } catch (cause) {
    throw unusable(cause);
  }
  const release = options.exclusive ? claim(path, file("lock")) : () => {};
  try {
    if (options.exclusive) closeToOthers(path, new Set([MODULES]));
    assertWhole(path, options);
    if (options.masterKey === undefined && !existsSync(file(MASTER_KEY)))
      writeSecret(MASTER_KEY, `${createMasterKey()}\n`);
    const masterKey = parseMasterKey(
      options.masterKey ?? { text: readFileSync(file(MASTER_KEY), "utf8"), from: file(MASTER_KEY) },
    );
    return {
      path,
      masterKey,
      isKeyOutside: options.masterKey !== undefined,
      file,
      writeSecret,
      close: release,
    };
  } catch (cause) {
    release();
    throw unusable(cause);
  }
}

/** Marks a folder as ours if it is empty or has a configuration file; refuses one with other contents. */
function claimFolder(path: string): void {
  const entries = readdirSync(path);
  const isOurs =
    entries.includes(MARKER) ||
    entries.includes(CONFIG_FILE) ||
    // On a new machine it is put there before the rest is restored.
    entries.includes(MASTER_KEY);
  if (entries.length > 0 && !isOurs)
    throw new DataDirectoryError(
      `${path} holds files that are not Tyche's; name an empty folder in TYCHE_DATA_DIR`,
    );
  accessSync(path, constants.W_OK);
  if (!entries.includes(MARKER))
    writeFileSync(join(path, MARKER), "This folder holds the state of a Tyche service.\n", { mode: 0o600 });
}

/** Refuses a directory that has lost a file without which the rest is worthless: recreating that file would hide the loss. */
function assertWhole(path: string, options: DataDirectoryOptions): void {
  const database = join(path, DATABASE);
  const hasChains = listChains(path).length > 0;
  const databaseBytes = statSync(database, { throwIfNoEntry: false })?.size;
  const remedy = "put it back from a backup, or name an empty folder in TYCHE_DATA_DIR to begin anew";
  if (hasChains && (!databaseBytes || isBlank(database)) && options.isRestoring !== true)
    throw new DataDirectoryError(
      `${database} is ${databaseBytes === undefined ? "missing" : "empty"}, and the chains beside it belong to it; ${remedy}`,
    );
  const isKeyMissing = options.masterKey === undefined && !existsSync(join(path, MASTER_KEY));
  if (isKeyMissing && (hasChains || databaseBytes || options.isRestoring === true))
    throw new DataDirectoryError(
      `${join(path, MASTER_KEY)} is missing, and every key of this directory derives from it; no backup holds it: put there the copy that you keep, or name where the key is in TYCHE_MASTER_KEY_FILE`,
    );
}

/** Whether a database has no tables, as one whose write-ahead log was lost before SQLite's first checkpoint. */
function isBlank(file: string): boolean {
  // Each table has a page of its own after the first.
  if (statSync(file).size > FIRST_PAGE_BYTES) return false;
  if (!readFileSync(file, "latin1").startsWith(SQLITE_HEADER)) return false;
  if (!statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) return true;
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  } finally {
    database.close();
  }
}

/** Returns the names of the chains that have anything stored. */
export function listChains(path: string): string[] {
  const folder = join(path, CHAINS);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder).filter((name) => {
    const isFolder = statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true;
    return isFolder && readdirSync(join(folder, name)).some((file) => file !== "anvil.pid");
  });
}

/** Takes a lock that the operating system releases when the process dies, however it dies: SQLite's lock on an empty database. */
function claim(path: string, lockFile: string): () => void {
  let lock: DatabaseSync | undefined;
  try {
    try {
      lock = lockExclusively(lockFile);
    } catch (cause) {
      if (!/not a database|unable to open/.test(messageOf(cause)) || !existsSync(lockFile)) throw cause;
      // Nobody holds the lock, or the error would say so: set aside whatever has taken the file's place.
      setAside(lockFile);
      lock = lockExclusively(lockFile);
    }
  } catch (cause) {
    if (!/locked|busy/.test(messageOf(cause))) {
      throw new DataDirectoryError(
        `${lockFile} can't be locked (${messageOf(cause)}); mend that, or name another folder in TYCHE_DATA_DIR`,
        cause,
      );
    }
    throw new DataDirectoryError(
      `another process serves from ${path}; stop it, or name another folder in TYCHE_DATA_DIR`,
      cause,
    );
  }
  let held = true;
  return () => {
    if (held) lock.close();
    held = false;
  };
}

function lockExclusively(file: string): DatabaseSync {
  const lock = new DatabaseSync(file);
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** The data directory can't be used; the message says why and what to do. */
export class DataDirectoryError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "data_dir_unusable", blame: "caller", cause });
  }
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Removes everyone's access but the owner's to a folder and everything in it: folders get mode 0700, files 0600. Leaves symbolic links
 * alone. Throws what the file system throws.
 *
 * @param skip names that are not descended into, such as a folder that may hold thousands of public files.
 */
function closeToOthers(path: string, skip: ReadonlySet<string> = new Set()): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const wanted = stats.isDirectory() ? FOLDER_MODE : FILE_MODE;
  // Leaves the permissions of sockets and other special files alone.
  if (!stats.isDirectory() && !stats.isFile()) return;
  if ((stats.mode & 0o777) !== wanted) chmodSync(path, wanted);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) if (!skip.has(name)) closeToOthers(join(path, name));
}
