import { retry } from "../../lib/retry.ts";
import { DatabaseAwayError } from "../../store/databaseAway.ts";

const PAUSE_MS = 250;

/**
 * Reads from the store, and retries while the database is away.
 *
 * @param until ends the attempts: an `AbortSignal`, or their maximum number.
 * @throws what `read` throws, and {@link DatabaseAwayError} once the attempts are over.
 */
export function readPatiently<T>(read: () => Promise<T>, until: AbortSignal | number): Promise<T> {
  return retry(read, {
    attempts: typeof until === "number" ? until : Infinity,
    pauseMs: () => PAUSE_MS,
    isFinal: (error) => !(error instanceof DatabaseAwayError),
    ...(typeof until === "number" ? {} : { signal: until }),
  });
}
