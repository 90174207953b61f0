import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** File of a data directory that says when it was last backed up. */
const NOTE = "last-backup";

/** Records in a data directory that it was backed up. Throws what writing the file throws. */
export function noteBackup(dataDir: string, at: Date): void {
  const file = join(dataDir, NOTE);
  // Whoever may write the folder may replace the file, also one of another user.
  rmSync(file, { force: true });
  writeFileSync(file, `${at.toISOString()}\n`, { mode: 0o600 });
}

/** Returns when a data directory was last backed up, in seconds since 1970; 0 if it never was, or nobody can tell. */
export function readLastBackup(dataDir: string): number {
  try {
    return Math.floor(Date.parse(readFileSync(join(dataDir, NOTE), "utf8").trim()) / 1_000) || 0;
  } catch {
    return 0;
  }
}
