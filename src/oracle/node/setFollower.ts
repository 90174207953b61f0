import { setTimeout as sleep } from "node:timers/promises";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "../backoff.ts";
import type { OracleLog } from "../log.ts";
import type { NodeSet } from "./nodeSet.ts";

/** Tracks the coordinator's configuration through its logs. */
export interface SetFollower {
  /** Processes the set of a `ConfigSet` log. */
  onLog(set: NodeSet): void;
  onReorg(firstReplaced: bigint): void;
}

/**
 * Follows a coordinator's configuration. Blocks are reread after restarts, so a log counts only if its number is higher than the current
 * one's. If a reorg removes the current configuration, the chain is polled until it reports a different one. Only its log proves that the
 * same one also holds on the new branch: an RPC node that lags behind reports it as well.
 */
export function followNodeSet(options: {
  readonly first: NodeSet;
  readonly read: () => Promise<NodeSet>;
  readonly onChange: (set: NodeSet) => void;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}): SetFollower {
  const { read, onChange, log, signal } = options;
  let present = options.first;
  /** Whether the current one lies in a block that is gone. */
  let isReplaced = false;
  let reorgs = 0;

  const adopt = (set: NodeSet): void => {
    const isOther = set.configDigest !== present.configDigest;
    present = set;
    isReplaced = false;
    if (isOther) onChange(set);
  };

  async function ask(): Promise<void> {
    for (let attempt = 1; isReplaced && !signal.aborted; attempt += 1) {
      try {
        const reorgsBefore = reorgs;
        const set = await read();
        if (!isReplaced || signal.aborted) return;
        if (reorgs === reorgsBefore && set.configDigest !== present.configDigest) return adopt(set);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, "functions: the coordinator's configuration can't be read yet");
      }
      await sleep(pauseAfter(attempt, LONGEST_FREE_PAUSE_MS), undefined, { signal }).catch(() => {});
    }
  }

  return {
    onLog(set) {
      // On another branch, the same number may be another configuration.
      if (set.count > present.count || (isReplaced && set.count === present.count)) adopt(set);
    },
    onReorg(firstReplaced) {
      reorgs += 1;
      if (present.blockNumber < firstReplaced || isReplaced) return;
      isReplaced = true;
      // `ask` never rejects.
      void ask();
    },
  };
}
