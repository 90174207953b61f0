const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Runs work by key, but not again too soon after it failed. */
export type HoldOff = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export interface HoldOffOptions {
  /** Default: the process's monotonic clock, in milliseconds. */
  readonly now?: () => number;
  /** Whether a failure with this error cost nothing, so that the pause is 1 s each time. Default: never. */
  readonly isFree?: (error: unknown) => boolean;
}

/**
 * Creates a guard that keeps failing work, which costs something each time, from being retried at every opportunity. After a failure the
 * same error is rethrown without a retry, for 1 s at first and twice as long with each further failure, up to a minute.
 */
export function createHoldOff(options: HoldOffOptions = {}): HoldOff {
  const { now = () => performance.now(), isFree = () => false } = options;
  const failures = new Map<
    string,
    { readonly error: unknown; readonly count: number; readonly until: number }
  >();
  return async (key, work) => {
    const failure = failures.get(key);
    if (failure !== undefined && now() < failure.until) throw failure.error;
    try {
      const result = await work();
      failures.delete(key);
      return result;
    } catch (error) {
      const count = (failure?.count ?? 0) + 1;
      const pauseMs = isFree(error)
        ? FIRST_PAUSE_MS
        : Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS);
      failures.set(key, { error, count, until: now() + pauseMs });
      throw error;
    }
  };
}
