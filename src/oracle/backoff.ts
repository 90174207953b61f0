/** First pause after a failed attempt; each further failure doubles it. */
const FIRST_PAUSE_MS = 500;
/** Longest pause where an attempt costs gas: who keeps failing must not cost the oracle more than a few attempts a day. */
export const LONGEST_COSTLY_PAUSE_MS = 3_600_000;
/** Longest pause where an attempt costs nothing: a node or sandbox that comes back is found soon. */
export const LONGEST_FREE_PAUSE_MS = 10_000;

/** Returns how long to wait after the nth failed attempt (1-based), in milliseconds. */
export function pauseAfter(attempts: number, longestMs: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), longestMs);
}

/** Calls back once, at the earliest of the moments it was asked for. */
export interface Alarm {
  /** Asks for a call in `delayMs` from now; an earlier one that is due stands. */
  within(delayMs: number): void;
  cancel(): void;
}

/** Creates an alarm that keeps no process alive. */
export function createAlarm(ring: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;
  return {
    within(delayMs) {
      const at = performance.now() + delayMs;
      if (at >= dueAt) return;
      clearTimeout(timer);
      dueAt = at;
      timer = setTimeout(() => {
        dueAt = Infinity;
        ring();
      }, Math.ceil(delayMs)).unref();
    },
    cancel() {
      clearTimeout(timer);
      dueAt = Infinity;
    },
  };
}
