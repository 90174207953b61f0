import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import { BackupError, backupDatabase, readBackup, restoreDatabase } from "../../store/backup.ts";
import type { BackupFile } from "../../store/backup.ts";
import { findNotedDatabase } from "../../store/databaseNote.ts";
import { listChains, openDataDirectory } from "../../store/dataDirectory.ts";
import { fingerprintOf } from "../../store/masterKey.ts";

/** Where a command finds a service's state. */
export interface StateLocation {
  readonly dataDir: string;
  /** The master key, if it is kept outside the data directory. */
  readonly masterKey?: OutsideSecret | undefined;
}

/**
 * Copies a data directory's database to a new file, even while a service uses it.
 *
 * @throws {BackupError}
 */
export async function backUp(file: string, { dataDir }: Pick<StateLocation, "dataDir">): Promise<BackupFile> {
  refuseServer(dataDir, (variable) => `pg_dump --format=custom --file=${file} "$${variable}"`);
  const database = join(dataDir, "tyche.sqlite");
  if (!existsSync(database))
    throw new BackupError(
      `there is no database ${database} yet; start the service once, or name another folder in TYCHE_DATA_DIR`,
    );
  return await backupDatabase(database, resolve(file));
}

/**
 * Replaces a data directory's database with a backup; no service may be using the directory.
 *
 * @returns also the embedded chains, which may be newer than the backup now.
 * @throws {TycheError} when the backup can't be used, its keys belong to another master key, or a service is
 * running.
 */
export function restore(
  file: string,
  { dataDir, masterKey }: StateLocation,
): BackupFile & { readonly setAsideAs?: string; readonly chains: readonly string[] } {
  refuseServer(dataDir, (variable) => `pg_restore --clean --if-exists --dbname="$${variable}" ${file}`);
  const backup = readBackup(resolve(file));
  const directory = openDataDirectory(dataDir, { exclusive: true, masterKey, isRestoring: true });
  try {
    const { keyFingerprint = fingerprintOf(directory.masterKey) } = backup;
    if (keyFingerprint !== fingerprintOf(directory.masterKey))
      throw new BackupError(
        `the master key of ${dataDir} does not match the backup ${file}; put the right key there, or name it in TYCHE_MASTER_KEY_FILE`,
      );
    const chains = listChains(dataDir).filter((name) => !name.includes(".set-aside-"));
    return { ...backup, ...restoreDatabase(resolve(file), directory.file("tyche.sqlite")), chains };
  } finally {
    directory.close();
  }
}

/** PostgreSQL has its own backup programs. */
function refuseServer(dataDir: string, commandOf: (variable: string) => string): void {
  const variable = findNotedDatabase(dataDir);
  if (variable === undefined) return;
  throw new BackupError(
    `the database of ${dataDir} is on a server; use its own tools: ${commandOf(variable)}`,
  );
}
