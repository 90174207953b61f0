import type { Pipelining } from "../evm/pipelining.ts";

/** Gathers items while a commit is under way; the next commit carries them all. */
export interface GroupCommit<Item> {
  /** Adds items to the queue. An idle group commits them at once: all that are pushed in the same turn together. */
  push(...items: readonly Item[]): void;
  readonly queued: number;
  /** Commits under way. */
  readonly inFlight: number;
}

/** Options of {@link createGroupCommit}. */
export interface GroupCommitOptions<Item, Lane> {
  /** Who can commit; each carries one commit at a time. */
  readonly lanes: readonly Lane[];
  /** How many items from the front of the queue (at least 1) the next commit takes, and whether it then has no room for more. */
  readonly measure: (queue: readonly Item[]) => { readonly count: number; readonly full: boolean };
  readonly commit: (items: readonly Item[], lane: Lane) => Promise<void>;
  /** How long a commit of all the queued items waits for company, in ms; default: not at all. */
  readonly batchDelayMs?: (queued: number) => number;
  /** How long after the last commit that wasn't full such a one starts beside others, in ms. Default: only when no other is under way. */
  readonly paceMs?: number | undefined;
  readonly onError: (error: unknown, items: readonly Item[]) => void;
  /** Once aborted, nothing more is committed. */
  readonly signal: AbortSignal;
}

/**
 * Creates a group commit. With one commit under way, only a full one starts beside it on a free lane, or one whose pace has come: under
 * load every commit is full.
 */
export function createGroupCommit<Item, Lane>(options: GroupCommitOptions<Item, Lane>): GroupCommit<Item> {
  const { measure, commit, batchDelayMs = () => 0, paceMs, onError, signal } = options;
  const queue: Item[] = [];
  const free: Lane[] = [...options.lanes];
  const lanes = free.length;
  let scheduled = false;
  let lingering: NodeJS.Timeout | undefined;
  let pacing: NodeJS.Timeout | undefined;
  /** When a commit that wasn't full last started, by `performance.now()`. */
  let lastPartial = -Infinity;

  const pump = (hasLingered = false): void => {
    scheduled = false;
    while (queue.length > 0 && free.length > 0 && !signal.aborted) {
      const { count, full } = measure(queue);
      if (!full && (isHeld() || (!hasLingered && linger()))) return;
      clearTimeout(lingering);
      lingering = undefined;
      if (!full) lastPartial = performance.now();
      void run(queue.splice(0, count), free.shift()!);
    }
  };

  /** Whether a commit that isn't full waits for those under way, or for its pace. */
  const isHeld = (): boolean => {
    if (free.length === lanes) return false;
    if (paceMs === undefined) return true;
    const waitMs = lastPartial + paceMs - performance.now();
    if (waitMs <= 0) return false;
    pacing ??= setTimeout(() => {
      pacing = undefined;
      pump();
    }, Math.ceil(waitMs)).unref();
    return true;
  };

  /** Whether the commit waits for company. */
  const linger = (): boolean => {
    if (lingering !== undefined) return true;
    const waitMs = batchDelayMs(queue.length);
    if (waitMs === 0) return false;
    lingering = setTimeout(() => {
      lingering = undefined;
      pump(true);
    }, waitMs);
    return true;
  };

  const run = async (items: readonly Item[], lane: Lane): Promise<void> => {
    try {
      await commit(items, lane);
    } catch (error) {
      onError(error, items);
    }
    free.push(lane);
    pump();
  };

  return {
    push(...items) {
      queue.push(...items);
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(() => pump());
    },
    get queued() {
      return queue.length;
    },
    get inFlight() {
      return lanes - free.length;
    },
  };
}

/** How the commits of one kind share blocks; see `Pipelining`. Without a pace, only full ones start beside others. */
export interface CommitPipelining extends Omit<Pipelining, "paceMs"> {
  readonly paceMs: number | undefined;
}

/** Each account as often as it may have transactions under way, so that accounts take turns. */
export function lanesOf<Account>(accounts: readonly Account[], maxInFlight: number): Account[] {
  return Array.from({ length: maxInFlight }, () => accounts).flat();
}
