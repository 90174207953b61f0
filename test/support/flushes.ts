import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Tells what a power cut at this moment would leave of files that this process writes. */
export interface Flushes {
  /** Length that a file had when it was last flushed; 0 when it never was. */
  flushedBytes(file: string): number;
  restore(): void;
}

/**
 * Notes from now on, for each file, how much of it was there when `fdatasync` was called on it and has returned: the rest is in the
 * operating system's memory alone. Node's own function is wrapped, so that the product runs as it is.
 */
export function watchFlushes(): Flushes {
  const { fdatasync } = fs;
  const flushed = new Map<number, number>();
  const wrapped = (descriptor: number, callback: fs.NoParamCallback): void => {
    // Read before: what is written meanwhile may not be in it.
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

/** What a power cut would leave of a database in WAL mode: the bytes of its two files. */
export interface DatabaseImage {
  readonly database: Buffer;
  readonly wal: Buffer;
}

/** Tells what a power cut at this moment would leave of a database that this process writes. */
export interface DatabaseFlushes {
  /** Both files as they were when the last flush of the log began that has ended; `undefined` before the first one. */
  image(): DatabaseImage | undefined;
  restore(): void;
}

/**
 * Copies from now on both files of a database when `fdatasync` is called on its write-ahead log, and takes the copy for what is on disk
 * once the call has returned. What SQLite flushes by itself at a checkpoint lies before that, in the same files: no statement runs meanwhile.
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

/** Keeps every flush of this process from now on from ending, until {@link HeldFlushes.release}. */
export interface HeldFlushes {
  /** Flushes that wait. */
  count(): number;
  /** Lets those that wait end, and the others go as they did before. */
  release(): void;
}

/** Holds `fdatasync` back, as a disk that takes its time does. */
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
