import { retry, type RetryOptions } from "../../lib/retry.ts";

/** Pause after the first attempt to open a network; each further one is twice as long. */
const FIRST_PAUSE_MS = 1_000;
/** As long as a failing node of several is left alone. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Opens a network, one attempt at a time, until it succeeds: its nodes may be away for long.
 *
 * @throws the error of the last attempt, when `isFinal` says so or `signal` aborts.
 */
export async function untilOpen(
  open: () => Promise<void>,
  options: Pick<RetryOptions, "isFinal" | "onRetry" | "signal">,
): Promise<void> {
  await retry(open, {
    ...options,
    attempts: Infinity,
    pauseMs: (failures) => Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS),
  });
}
