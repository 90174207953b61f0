import { setTimeout as sleep } from "node:timers/promises";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "../backoff.ts";
import type { OracleLog } from "../log.ts";
import type { NodeSet } from "./nodeSet.ts";

/** Knows the coordinator's configuration by its logs. */
export interface SetFollower {
  /** Takes the set of a `ConfigSet` log. */
  onLog(set: NodeSet): void;
  onReorg(firstReplaced: bigint): void;
}

/**
 * Follows a coordinator's configuration. Blocks are read again after restarts, so a log counts where its number is higher than that
 * of the present one; where a reorganisation takes the present one away, the chain is asked until it tells another one. That the same
 * one holds on the new branch, too, only its log shows: a node that is behind says so as well.
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
  /** The present one lies in a block that is gone. */
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
