import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Tells what a power cut at this moment would leave of the files that this process writes. */
export interface Flushes {
  /** The file's length at its last flush; 0 if it was never flushed. */
  flushedBytes(file: string): number;
  restore(): void;
}

/**
 * Records how long each file was when an `fdatasync` on it began, once that has returned: anything beyond is only in the operating
 * system's memory. It wraps Node's own function, so the product runs unchanged.
 */
export function watchFlushes(): Flushes {
  const { fdatasync } = fs;
  const flushed = new Map<number, number>();
  const wrapped = (descriptor: number, callback: fs.NoParamCallback): void => {
    // Read before the flush: writes that arrive during it may not be covered.
    const { ino, size } = fs.fstatSync(descriptor);
    fdatasync(descriptor, (error) => {
      if (error === null) flushed.set(ino, size);
      callback(error);
    });
  };
  fs.fdatasync = wrapped as typeof fs.fdatasync;
  syncBuiltinESMExports();
  return {
    flushedBytes: (file) => flushed.get(fs.statSync(file).ino) ?? 0,
    restore() {
      fs.fdatasync = fdatasync;
      syncBuiltinESMExports();
    },
  };
}

/** What a power cut would leave of a database in WAL mode: the contents of its two files. */
export interface DatabaseImage {
  readonly database: Buffer;
  readonly wal: Buffer;
}

/** Tells what a power cut at this moment would leave of a database that this process writes. */
export interface DatabaseFlushes {
  /** Both files as they were when the last completed flush of the log began; `undefined` before the first one. */
  image(): DatabaseImage | undefined;
  restore(): void;
}

/**
 * Copies both files of a database whenever `fdatasync` is called on its write-ahead log, and takes the copy as the state on disk once the
 * call has returned. SQLite's own checkpoint flushes come before that, in the same files, and no statement runs during the copy.
 */
export function watchDatabaseFlushes(database: string): DatabaseFlushes {
  const { fdatasync } = fs;
  let image: DatabaseImage | undefined;
  const wrapped = (descriptor: number, callback: fs.NoParamCallback): void => {
    const isLog = fs.fstatSync(descriptor).ino === fs.statSync(`${database}-wal`).ino;
    const copy = isLog
      ? { database: fs.readFileSync(database), wal: fs.readFileSync(`${database}-wal`) }
      : undefined;
    fdatasync(descriptor, (error) => {
      if (error === null && copy !== undefined) image = copy;
      callback(error);
    });
  };
  fs.fdatasync = wrapped as typeof fs.fdatasync;
  syncBuiltinESMExports();
  return {
    image: () => image,
    restore() {
      fs.fdatasync = fdatasync;
      syncBuiltinESMExports();
    },
  };
}

/** Flushes of this process that are held back until {@link HeldFlushes.release}. */
export interface HeldFlushes {
  /** Number of flushes waiting. */
  count(): number;
  /** Runs the waiting flushes, and stops holding back others. */
  release(): void;
}

/** Holds `fdatasync` back, like a slow disk. */
export function holdFlushes(): HeldFlushes {
  const { fdatasync } = fs;
  const held: (() => void)[] = [];
  fs.fdatasync = ((descriptor: number, callback: fs.NoParamCallback) => {
    held.push(() => fdatasync(descriptor, callback));
  }) as typeof fs.fdatasync;
  syncBuiltinESMExports();
  return {
    count: () => held.length,
    release() {
      fs.fdatasync = fdatasync;
      syncBuiltinESMExports();
      for (const flush of held.splice(0)) flush();
    },
  };
}
