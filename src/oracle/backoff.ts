/** First pause after a failed attempt; each further failure doubles it. */
const FIRST_PAUSE_MS = 500;
/** Longest pause if an attempt costs gas: a consumer that keeps failing must cost the oracle only a few attempts a day. */
export const LONGEST_COSTLY_PAUSE_MS = 3_600_000;
/** Longest pause if an attempt is free: a node or sandbox that recovers is found soon. */
export const LONGEST_FREE_PAUSE_MS = 10_000;

/** Returns how long to wait after the nth failed attempt (1-based), in milliseconds. */
export function pauseAfter(attempts: number, longestMs: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), longestMs);
}

/** A timer that fires once, at the earliest of the times requested. */
export interface Alarm {
  /** Requests a call in `delayMs`; an earlier one that is already due stands. */
  within(delayMs: number): void;
}

/** Creates an alarm that doesn't keep the process alive, and doesn't ring once `signal` is aborted. */
export function createAlarm(ring: () => void, signal: AbortSignal): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return {
    within(delayMs) {
      const at = performance.now() + delayMs;
      if (at >= dueAt || signal.aborted) return;
      clearTimeout(timer);
      dueAt = at;
      timer = setTimeout(() => {
        dueAt = Infinity;
        ring();
      }, Math.ceil(delayMs)).unref();
    },
  };
}
