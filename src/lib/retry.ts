import { setTimeout as sleep } from "node:timers/promises";

export interface RetryOptions {
  /** Total number of attempts, at least 1. */
  readonly attempts: number;
  /** Pause in ms before the next attempt, given the number of failures so far (1, 2, …). */
  readonly pauseMs: (failures: number) => number;
  /** Whether another attempt after this error is pointless. Default: never. */
  readonly isFinal?: (error: unknown) => boolean;
  /** Whether an error means waiting for something, however long: it doesn't count as an attempt. Default: never. */
  readonly isWait?: (error: unknown) => boolean;
  /** Called before each pause; if it rejects, so does the whole retry. Default: nothing. */
  readonly onRetry?: (error: unknown) => Promise<void> | void;
  /** Ends the pauses: no further attempt is made. */
  readonly signal?: AbortSignal;
}

/**
 * Retries work until it succeeds, with a pause after each failure. Doesn't keep the process alive.
 *
 * @throws the error of the last attempt: after `attempts` of them, when `isFinal` says so, or when `signal` aborts.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts, pauseMs, isFinal = () => false, isWait = () => false, onRetry, signal } = options;
  let failures = 0;
  for (let waits = 0; ;) {
    try {
      return await work();
    } catch (error) {
      const pausesBefore = isWait(error) ? (waits += 1) : (failures += 1);
      if (failures >= attempts || signal?.aborted || isFinal(error)) throw error;
      await onRetry?.(error);
      const ms = pauseMs(pausesBefore);
      await sleep(ms, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
      if (signal?.aborted) throw error;
    }
  }
}
