import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { flushPath } from "../../lib/flushFile.ts";
import { makeFolder } from "../../lib/makeFolder.ts";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import { setAside } from "../../lib/setAside.ts";
import { copyChains, isChainFile } from "../../networks/embedded/storage/chainCopy.ts";
import {
  BackupError,
  backupDatabase,
  packFolder,
  readBackup,
  restoreDatabase,
  unpackArchive,
  type BackupFile,
} from "../../store/backup.ts";
import { noteBackup } from "../../store/backupNote.ts";
import { findNotedDatabase } from "../../store/databaseNote.ts";
import { CONFIG_FILE, listChains, openDataDirectory } from "../../store/dataDirectory.ts";
import { fingerprintOf } from "../../store/masterKey.ts";

const DATABASE = "tyche.sqlite";
const CHAINS = "chains";
/** Of the backups that get their name here; they sort by time. */
const NAME = /^tyche-\d{8}T\d{6}Z\.tar\.gz$/;
const SQLITE_HEADER = "SQLite format 3\0";

/** Where a command finds a service's state. */
export interface StateLocation {
  readonly dataDir: string;
  /** The master key, if it is kept outside the data directory. */
  readonly masterKey?: OutsideSecret | undefined;
}

/** What a backup holds. */
export interface Backup {
  readonly file: string;
  readonly bytes: number;
  readonly chains: readonly string[];
  /** File of the data directory that holds the master key, which is in no backup; absent if it is kept outside. */
  readonly masterKeyFile?: string;
  /** Earlier backups that were deleted. */
  readonly deleted: readonly string[];
}

/**
 * Copies a data directory's database, its embedded chains and its configuration file to a new archive, even while a service uses them.
 *
 * The chains are copied first: the database then has every transaction that is on them, as each is stored before it is sent. What it
 * has and the chains lack, the service sends again after a restore. The data directory then says when it was backed up, for the service's
 * metrics.
 *
 * @param target a new file, or a folder (created if its path ends with a slash), in which the backup is named for the time.
 * @param options.keep backups in that folder to keep, this one included; older ones are deleted. Default: all.
 * @throws {BackupError}
 */
export async function backUp(
  target: string,
  { dataDir, keep }: Pick<StateLocation, "dataDir"> & { readonly keep?: number | undefined },
): Promise<Backup> {
  const isFolder =
    target.endsWith("/") || statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  if (keep !== undefined && !isFolder)
    throw new BackupError(`--keep deletes older backups of a folder, and ${target} is none; name a folder`);
  const now = new Date();
  const file = resolve(isFolder ? join(target, nameFor(now)) : target);
  const dump = isFolder ? join(target, "tyche.dump") : target;
  refuseServer(dataDir, (variable) => `pg_dump --format=custom --file=${dump} "$${variable}"`);
  const database = join(dataDir, DATABASE);
  if (!existsSync(database))
    throw new BackupError(
      `there is no database ${database} yet; start the service once, or name another folder in TYCHE_DATA_DIR`,
    );
  if (existsSync(file)) throw new BackupError(`${file} is there already; name a new file`);
  const chains = liveChains(dataDir);
  const stage = `${file}.new`;
  try {
    if (isFolder) makeFolder(target, 0o700);
    rmSync(stage, { recursive: true, force: true });
    mkdirSync(stage, { mode: 0o700 });
    const content = join(stage, "content");
    mkdirSync(content, { mode: 0o700 });
    await copyChains(
      chains.map((name) => ({ from: join(dataDir, CHAINS, name), to: join(content, CHAINS, name) })),
    );
    await backupDatabase(database, join(content, DATABASE));
    if (existsSync(join(dataDir, CONFIG_FILE)))
      copyFileSync(join(dataDir, CONFIG_FILE), join(content, CONFIG_FILE));
    const packed = join(stage, "archive");
    await packFolder(content, packed);
    chmodSync(packed, 0o600);
    flushPath(packed);
    // Unlike a rename, a link never replaces an existing file.
    linkSync(packed, file);
    flushPath(dirname(file));
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`${file} can't be written (${messageOf(cause)})`, cause);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  const deleted = keep === undefined ? [] : deleteOlder(target, keep);
  try {
    noteBackup(dataDir, now);
  } catch (cause) {
    throw new BackupError(`${file} is written, but ${dataDir} can't note that (${messageOf(cause)})`, cause);
  }
  const masterKeyFile = join(dataDir, "master-key");
  return {
    file,
    bytes: statSync(file).size,
    chains,
    ...(existsSync(masterKeyFile) && { masterKeyFile }),
    deleted,
  };
}

/** What a restore has done. */
export interface Restored extends BackupFile {
  /** Where the replaced database and chains are now. */
  readonly setAside: readonly string[];
  /** Embedded chains that came with the backup. */
  readonly chains: readonly string[];
  /** Embedded chains that stayed, as an earlier version's backup holds none: they may be newer than it. */
  readonly keptChains: readonly string[];
}

/**
 * Replaces a data directory's database and chains with those of a backup; no service may be using the directory. A backup of an earlier
 * version is a database alone.
 *
 * @throws {TycheError} when the backup can't be used, its keys belong to another master key, or a service is
 * running.
 */
export async function restore(file: string, { dataDir, masterKey }: StateLocation): Promise<Restored> {
  refuseServer(dataDir, (variable) => `pg_restore --clean --if-exists --dbname="$${variable}" ${file}`);
  const backup = resolve(file);
  if (!existsSync(backup)) throw new BackupError(`there is no file ${backup}`);
  const directory = openDataDirectory(dataDir, { exclusive: true, masterKey, isRestoring: true });
  const stage = directory.file(".restore.new");
  try {
    rmSync(stage, { recursive: true, force: true });
    const database = isDatabase(backup) ? backup : await unpack(backup, stage);
    const facts = readBackup(database);
    const { keyFingerprint = fingerprintOf(directory.masterKey) } = facts;
    if (keyFingerprint !== fingerprintOf(directory.masterKey))
      throw new BackupError(
        `the master key of ${dataDir} does not match the backup ${file}; put the right key there, or name it in TYCHE_MASTER_KEY_FILE`,
      );
    // First the database: under newer chains it serves nothing until the restore is repeated, and sends nothing twice.
    const { setAsideAs } = restoreDatabase(database, directory.file(DATABASE));
    const earlier = setAsideAs === undefined ? [] : [setAsideAs];
    if (database === backup)
      return { ...facts, setAside: earlier, chains: [], keptChains: liveChains(dataDir) };
    for (const name of liveChains(dataDir)) earlier.push(setAside(directory.file(CHAINS, name)));
    const chains = listChains(stage);
    mkdirSync(directory.file(CHAINS), { recursive: true, mode: 0o700 });
    for (const name of chains) {
      // One that was never started.
      rmSync(directory.file(CHAINS, name), { recursive: true, force: true });
      renameSync(join(stage, CHAINS, name), directory.file(CHAINS, name));
    }
    flushPath(directory.file(CHAINS));
    const configuration = join(stage, CONFIG_FILE);
    if (existsSync(configuration) && !existsSync(directory.file(CONFIG_FILE)))
      renameSync(configuration, directory.file(CONFIG_FILE));
    return { ...facts, setAside: earlier, chains, keptChains: [] };
  } catch (cause) {
    if (cause instanceof TycheError) throw cause;
    throw new BackupError(`${file} can't be restored (${messageOf(cause)})`, cause);
  } finally {
    rmSync(stage, { recursive: true, force: true });
    directory.close();
  }
}

/** Unpacks an archive and returns its database's path; refuses one with anything that no backup holds. */
async function unpack(file: string, stage: string): Promise<string> {
  mkdirSync(stage, { mode: 0o700 });
  await unpackArchive(file, stage).catch((cause: unknown) => {
    throw new BackupError(`${file} is no backup, or is damaged (${messageOf(cause)})`, cause);
  });
  const stranger = readdirSync(stage, { recursive: true, encoding: "utf8" }).find((name) => {
    const [folder, chain, own, ...more] = name.split("/");
    const stats = lstatSync(join(stage, name));
    if (folder !== CHAINS || own === undefined)
      return folder === CHAINS ? !stats.isDirectory() : chain !== undefined || !stats.isFile();
    return more.length > 0 || !stats.isFile() || !isChainFile(own);
  });
  if (stranger !== undefined) throw new BackupError(`${file} is no backup of Tyche: it holds ${stranger}`);
  return join(stage, DATABASE);
}

/** Returns the chains that have anything stored, without those set aside. */
function liveChains(dataDir: string): string[] {
  return listChains(dataDir).filter((name) => !name.includes(".set-aside-"));
}

function isDatabase(file: string): boolean {
  const head = Buffer.alloc(SQLITE_HEADER.length);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, head);
  } catch {
    // A folder.
  } finally {
    closeSync(descriptor);
  }
  return head.toString("latin1") === SQLITE_HEADER;
}

function nameFor(time: Date): string {
  return `tyche-${time.toISOString().replaceAll(/[-:]|\.\d+/g, "")}.tar.gz`;
}

/** Deletes all but the newest backups of a folder; returns their paths. */
function deleteOlder(folder: string, keep: number): string[] {
  const older = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .toSorted()
    .slice(0, -keep)
    .map((name) => join(folder, name));
  for (const file of older) rmSync(file);
  return older;
}

/** PostgreSQL has its own backup programs. */
function refuseServer(dataDir: string, commandOf: (variable: string) => string): void {
  const variable = findNotedDatabase(dataDir);
  if (variable === undefined) return;
  throw new BackupError(
    `the database of ${dataDir} is on a server; use its own tools: ${commandOf(variable)}`,
  );
}
