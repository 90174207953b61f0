/** Who holds how many children. */
export interface Holders {
  readonly add: (caller: string) => void;
  readonly hasNone: (caller: string) => boolean;
  /** Whether a caller may take one more: it leaves others as many as it holds, so that callers together don't take all. */
  readonly mayTake: (caller: string) => boolean;
}

/** Starts to count; nobody holds any. */
export function countHolders({
  perCaller,
  maxWorkers,
}: {
  /** Children that one caller may hold, and children at most. */
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
