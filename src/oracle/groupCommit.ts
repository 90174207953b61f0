import type { Pipelining } from "../evm/pipelining.ts";

/** Gathers items while a commit is in flight; the next commit carries them all. */
export interface GroupCommit<Item> {
  /** Adds items to the queue. An idle group commits at once, with all items pushed in the same turn. */
  push(...items: readonly Item[]): void;
  readonly queued: number;
  /** Commits in flight. */
  readonly inFlight: number;
}

/** Which items share a commit. */
export interface Fitting<Item> {
  readonly isAlone: (item: Item) => boolean;
  /** Whether several items fit one commit; if they do, so do fewer from the front. */
  readonly fits: (items: readonly Item[]) => boolean;
  /** Maximum number of items. Default: no maximum. */
  readonly most?: number;
}

export interface GroupCommitOptions<Item, Lane> extends Fitting<Item> {
  /** Accounts or nodes that can commit, in turn. */
  readonly lanes: readonly Lane[];
  readonly pipelining: Pick<CommitPipelining, "maxInFlight" | "paceMs">;
  readonly commit: (items: readonly Item[], lane: Lane) => Promise<void>;
  /** How long a commit of all queued items waits for more, in ms. Default: not at all. */
  readonly gatherDelayMs?: (queued: number) => number;
  /** Called with what a commit rejects with. */
  readonly onError: (error: unknown, items: readonly Item[]) => void;
  /** Once aborted, nothing more is committed or told. */
  readonly signal: AbortSignal;
}

/**
 * Creates a group commit. While a commit is in flight, another one starts on a free lane only if it is full or its pace allows it: under
 * load every commit is full.
 */
export function createGroupCommit<Item, Lane>(options: GroupCommitOptions<Item, Lane>): GroupCommit<Item> {
  const { commit, gatherDelayMs = () => 0, onError, signal } = options;
  const { maxInFlight, paceMs } = options.pipelining;
  const queue: Item[] = [];
  const free = lanesOf(options.lanes, maxInFlight);
  const lanes = free.length;
  let scheduled = false;
  let lingering: NodeJS.Timeout | undefined;
  let pacing: NodeJS.Timeout | undefined;
  /** When a partial commit last started, by `performance.now()`. */
  let lastPartial = -Infinity;

  const pump = (hasLingered = false): void => {
    scheduled = false;
    while (queue.length > 0 && free.length > 0 && !signal.aborted) {
      const { count, full } = measureFront(queue, options);
      if (!full && (isHeld() || (!hasLingered && linger()))) return;
      clearTimeout(lingering);
      lingering = undefined;
      if (!full) lastPartial = performance.now();
      void run(queue.splice(0, count), free.shift()!);
    }
  };

  /** Whether a partial commit must wait for those in flight, or for its pace. */
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

  /** Whether the commit waits for more items. */
  const linger = (): boolean => {
    if (lingering !== undefined) return true;
    const waitMs = gatherDelayMs(queue.length);
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
      if (!signal.aborted) onError(error, items);
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

/** Returns how many items from the front of a queue one commit takes, at least one, and whether it is then full. */
export function measureFront<Item>(
  queue: readonly Item[],
  { isAlone, fits, most }: Fitting<Item>,
): { readonly count: number; readonly full: boolean } {
  const takesNoMore = (count: number): boolean => count === most || isAlone(queue[count - 1]!);
  let count = 1;
  while (
    count < queue.length &&
    !takesNoMore(count) &&
    !isAlone(queue[count]!) &&
    fits(queue.slice(0, count + 1))
  )
    count += 1;
  return { count, full: count < queue.length || takesNoMore(count) };
}

/** How commits of one kind share blocks; see `Pipelining`. Without a pace, only full ones start beside others. */
export interface CommitPipelining extends Omit<Pipelining, "paceMs"> {
  readonly paceMs: number | undefined;
}

/** Repeats each account as often as it may have transactions in flight, in an order in which accounts take turns. */
export function lanesOf<Account>(accounts: readonly Account[], maxInFlight: number): Account[] {
  return Array.from({ length: maxInFlight }, () => accounts).flat();
}
