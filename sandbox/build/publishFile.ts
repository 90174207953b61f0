import { linkSync, rmSync } from "node:fs";

/**
 * Puts what `write` writes to a draft at a path at once. Several processes may build at the same time: none may see half a file, and the
 * first one's file stays, because children are granted access to that very inode.
 */
export function publishFile(path: string, write: (draft: string) => void): void {
  const draft = `${path}.${process.pid}.${performance.now()}`;
  write(draft);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
}
