import { rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Empty file of a data directory that is as old as the last backup: unlike what is in a file, everybody who may enter the folder can read that. */
const NOTE = "last-backup";

/** Records in a data directory that it was backed up. Throws what writing the file throws. */
export function noteBackup(dataDir: string, at: Date): void {
  const file = join(dataDir, NOTE);
  // Whoever may write the folder may replace the file, also one of another user.
  rmSync(file, { force: true });
  writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, at, at);
}

/** Returns when a data directory was last backed up, or else made, in seconds since 1970. */
export function readLastBackup(dataDir: string): number {
  const noted = statSync(join(dataDir, NOTE), { throwIfNoEntry: false })?.mtimeMs;
  return Math.floor((noted ?? statSync(dataDir).birthtimeMs) / 1_000);
}
