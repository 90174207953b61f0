/** Counts the children that each caller holds. */
export interface Holders {
  readonly add: (caller: string) => void;
  readonly hasNone: (caller: string) => boolean;
  /**
   * Whether a caller may take one more: it must leave at least as many free as it holds, so that callers together don't
   * take all.
   */
  readonly mayTake: (caller: string) => boolean;
}

/** Creates a count in which nobody holds any. */
export function countHolders({
  perCaller,
  maxWorkers,
}: {
  /** Most children that one caller may hold, and most children overall. */
  readonly perCaller: number;
  readonly maxWorkers: number;
}): Holders {
  const held = new Map<string, number>();
  let total = 0;
  return {
    add: (caller) => {
      held.set(caller, (held.get(caller) ?? 0) + 1);
      total += 1;
    },
    hasNone: (caller) => !held.has(caller),
    mayTake: (caller) => (held.get(caller) ?? 0) < Math.min(perCaller, maxWorkers - total),
  };
}
