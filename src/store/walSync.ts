import { closeSync, constants, openSync } from "node:fs";
import { dirname } from "node:path";
import { flushFile, flushPath } from "../lib/flushFile.ts";
import { shareFlush } from "../lib/sharedFlush.ts";

/** Brings what a database in WAL mode has committed to the disk itself. */
export interface WalSync {
  /** Resolves when everything committed before the call is on disk. Calls that come together share one flush. */
  sync(): Promise<void>;
  /** Resolves after the flush under way; later calls of `sync` do nothing. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the write-ahead log of a database for flushing. The log's bytes are what a commit is until it is checkpointed, and SQLite flushes
 * both files around a checkpoint (`synchronous = NORMAL`), so this is all that `FULL` adds: but a flush takes 4–6 ms on an ordinary
 * disk, and here neither blocks the thread nor is taken for each commit.
 *
 * @param database path of the database, which has been written to: its log exists.
 */
export function openWalSync(database: string): WalSync {
  // The files' names in their folder.
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
