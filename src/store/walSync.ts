import { closeSync, constants, openSync } from "node:fs";
import { dirname } from "node:path";
import { flushFile, flushPath } from "../lib/flushFile.ts";
import { shareFlush } from "../lib/sharedFlush.ts";

/** Flushes what a database in WAL mode has committed to the disk. */
export interface WalSync {
  /** Resolves once everything committed before the call is on disk. Concurrent calls share one flush. */
  sync(): Promise<void>;
  /** Resolves after the flush in flight; later calls of `sync` do nothing. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the write-ahead log of a database for flushing. Until a checkpoint, a commit is only in the log, and SQLite flushes both files
 * around a checkpoint (`synchronous = NORMAL`), so flushing the log is all that `FULL` adds. A flush takes 4–6 ms on an ordinary disk;
 * here it neither blocks the thread nor happens for each commit.
 *
 * @param database path of the database; it has been written to, so its log exists.
 */
export function openWalSync(database: string): WalSync {
  // Makes the files' names in their folder durable.
  flushPath(dirname(database));
  const file = openSync(`${database}-wal`, constants.O_RDWR);
  const flushes = shareFlush(() => flushFile(file));
  let isClosed = false;

  return {
    sync: () => (isClosed ? Promise.resolve() : flushes.run()),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled([flushes.underWay()]);
      closeSync(file);
    },
  };
}
