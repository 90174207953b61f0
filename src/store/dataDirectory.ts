import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TycheError, messageOf } from "../lib/errors.ts";

/** Tells a data directory of ours from a folder with other things in it. */
const MARKER = "tyche-data";
const MASTER_KEY_BYTES = 32;

/** The folder that holds all state of one service. */
export interface DataDirectory {
  readonly path: string;
  /** 32 random bytes, made on first use; every other secret is derived from it. */
  readonly masterKey: Uint8Array;
  /** Path of a file or folder in it. */
  file(...names: readonly string[]): string;
  /** Writes a file whole or not at all, readable by the owner only. */
  writeSecret(name: string, text: string): void;
  /** Gives up the claim to be the only process that serves from here; idempotent. */
  close(): void;
}

/**
 * Opens the data directory, making it when absent.
 *
 * @param options.exclusive `true` for the one process that serves from it; the command line's other commands share.
 * @throws {DataDirectoryError} `data_dir_unusable` when it can't be written, holds foreign files or another process serves from it.
 */
export function openDataDirectory(path: string, options: { readonly exclusive: boolean }): DataDirectory {
  const file = (...names: readonly string[]): string => join(path, ...names);
  const writeSecret = (name: string, text: string): void => {
    const temporary = file(`.${name}.new`);
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, file(name));
  };
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const entries = readdirSync(path);
    if (entries.length > 0 && !entries.includes(MARKER)) {
      throw new DataDirectoryError(
        `${path} holds files that are not Tyche's; name an empty folder in TYCHE_DATA_DIR`,
      );
    }
    accessSync(path, constants.W_OK);
    if (entries.length === 0)
      writeFileSync(file(MARKER), "This folder holds the state of a Tyche service.\n");
  } catch (cause) {
    if (cause instanceof DataDirectoryError) throw cause;
    throw new DataDirectoryError(
      `${path} can't be used as data directory (${messageOf(cause)}); name another one in TYCHE_DATA_DIR`,
      cause,
    );
  }
  const release = options.exclusive ? claim(path, file("lock")) : () => {};
  try {
    if (!existsSync(file("master-key")))
      writeSecret("master-key", `${randomBytes(MASTER_KEY_BYTES).toString("hex")}\n`);
    const masterKey = Buffer.from(readFileSync(file("master-key"), "utf8").trim(), "hex");
    if (masterKey.length !== MASTER_KEY_BYTES) {
      throw new DataDirectoryError(
        `${file("master-key")} does not hold 64 hex digits; put the right key back, or start with a new folder`,
      );
    }
    return { path, masterKey, file, writeSecret, close: release };
  } catch (cause) {
    release();
    if (cause instanceof DataDirectoryError) throw cause;
    throw new DataDirectoryError(
      `${path} can't be used as data directory (${messageOf(cause)}); name another one in TYCHE_DATA_DIR`,
      cause,
    );
  }
}

/** Holds a lock that the operating system drops with the process, however it dies: SQLite's own on an empty database. */
function claim(path: string, lockFile: string): () => void {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile);
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock?.close();
    if (!/locked|busy/.test(messageOf(cause))) {
      throw new DataDirectoryError(
        `${path} can't be used as data directory (${messageOf(cause)}); name another one in TYCHE_DATA_DIR`,
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

/** The data directory can't be used; the message says why and what to do. */
export class DataDirectoryError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "data_dir_unusable", blame: "caller", cause });
  }
}
