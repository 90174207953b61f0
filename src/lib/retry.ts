import { setTimeout as sleep } from "node:timers/promises";

/** Options of {@link retry}. */
export interface RetryOptions {
  /** Attempts in all, at least 1. */
  readonly attempts: number;
  /** Pause in ms before the next attempt, by how many have failed so far (1, 2, …). */
  readonly pauseMs: (failures: number) => number;
  /** Whether another attempt after this error is pointless. Default: never. */
  readonly isFinal?: (error: unknown) => boolean;
  /** Called before each pause; if it rejects, so does the whole. Default: nothing. */
  readonly onRetry?: (error: unknown) => Promise<void> | void;
  /** Ends the pauses: no further attempt is made. */
  readonly signal?: AbortSignal;
}

/**
 * Does some work until it succeeds, with a pause after each failure. Keeps no process alive.
 *
 * @throws the error of the last attempt: after `attempts` of them, when `isFinal` says so, or when `signal` aborts.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts, pauseMs, isFinal = () => false, onRetry, signal } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (failures >= attempts || signal?.aborted || isFinal(error)) throw error;
      await onRetry?.(error);
      await sleep(pauseMs(failures), undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
      if (signal?.aborted) throw error;
    }
  }
}
