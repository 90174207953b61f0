import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Removes everyone's access but the owner's to a folder and everything in it: folders get mode 0700, files 0600. Leaves symbolic links
 * alone. Throws what the file system throws.
 *
 * @param skip names that are not descended into, such as a folder that may hold thousands of public files.
 */
export function closeToOthers(path: string, skip: ReadonlySet<string> = new Set()): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const wanted = stats.isDirectory() ? FOLDER_MODE : FILE_MODE;
  // Leaves the permissions of sockets and other special files alone.
  if (!stats.isDirectory() && !stats.isFile()) return;
  if ((stats.mode & 0o777) !== wanted) chmodSync(path, wanted);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) if (!skip.has(name)) closeToOthers(join(path, name));
}
