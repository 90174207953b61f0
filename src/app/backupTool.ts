import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { BackupError, backupDatabase, readBackup, restoreDatabase } from "../store/backup.ts";
import type { BackupFile } from "../store/backup.ts";
import { findNotedDatabase } from "../store/databaseNote.ts";
import { openDataDirectory } from "../store/dataDirectory.ts";
import { fingerprintOf } from "../store/masterKey.ts";

/** Where a command finds the state of a service. */
export interface StateLocation {
  readonly dataDir: string;
  /** The master key where it is kept outside the data directory. */
  readonly masterKey?: OutsideSecret | undefined;
}

/**
 * Copies the database of a data directory to a new file, while a service may run on it.
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
 * Puts a backup in the place of the database of a data directory that no service runs on.
 *
 * @throws {TycheError} when the backup can't be used, its keys belong to another master key, or a service runs.
 */
export function restore(
  file: string,
  { dataDir, masterKey }: StateLocation,
): BackupFile & { readonly setAsideAs?: string } {
  refuseServer(dataDir, (variable) => `pg_restore --clean --if-exists --dbname="$${variable}" ${file}`);
  const backup = readBackup(resolve(file));
  const directory = openDataDirectory(dataDir, { exclusive: true, masterKey, isRestoring: true });
  try {
    const { keyFingerprint = fingerprintOf(directory.masterKey) } = backup;
    if (keyFingerprint !== fingerprintOf(directory.masterKey))
      throw new BackupError(
        `the master key of ${dataDir} is not the one that ${file} was made with; put the right one there, or name it in TYCHE_MASTER_KEY_FILE`,
      );
    return { ...backup, ...restoreDatabase(resolve(file), directory.file("tyche.sqlite")) };
  } finally {
    directory.close();
  }
}

/** PostgreSQL has programs of its own for that. */
function refuseServer(dataDir: string, commandOf: (variable: string) => string): void {
  const variable = findNotedDatabase(dataDir);
  if (variable === undefined) return;
  throw new BackupError(
    `the database of ${dataDir} is a server's, which has its own programs: ${commandOf(variable)}`,
  );
}
