import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and those above it that are missing; does nothing if it exists. Unlike Node's `recursive`, it ends where the parent exists
 * and still nothing can be created in it, as in `/proc`: Node tries that forever.
 *
 * @param mode permissions of what is created. Default 0o777, less the umask.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let each = resolve(path); !existsSync(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) makeOne(each, mode);
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !existsSync(path)) throw error;
  }
}
