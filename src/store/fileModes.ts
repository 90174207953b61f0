import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Takes away everybody's rights to a folder and all that is in it but its owner's, whatever they were before: folders get 0700, files 0600.
 * Symbolic links are left alone. Throws what the file system throws.
 *
 * @param skip names that aren't looked into, such as a folder that may hold thousands of files nobody has to hide.
 */
export function closeToOthers(path: string, skip: ReadonlySet<string> = new Set()): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const wanted = stats.isDirectory() ? FOLDER_MODE : FILE_MODE;
  // A socket or a program's own permissions are none of ours.
  if (!stats.isDirectory() && !stats.isFile()) return;
  if ((stats.mode & 0o777) !== wanted) chmodSync(path, wanted);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) if (!skip.has(name)) closeToOthers(join(path, name));
}
