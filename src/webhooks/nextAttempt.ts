const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first to the ninth failed attempt, in ms (Standard Webhooks, "Deliverability and reliability"): ten attempts in 75 hours. */
const PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Pauses differ by up to this part, so that what failed together doesn't return together. */
const JITTER = 0.1;
/** A receiver can't postpone an attempt further than this. */
const LONGEST_MS = 24 * HOUR;

/**
 * Returns when the next attempt is due, Unix time in milliseconds; `null` after the last one.
 *
 * @param failed number of attempts that have failed.
 * @param retryAfter the answer's `Retry-After`, which can only postpone the attempt.
 */
export function nextAttempt(
  failed: number,
  options: { readonly now: number; readonly retryAfter?: string | undefined; readonly random?: () => number },
): number | null {
  const { now, retryAfter = "", random = Math.random } = options;
  const pauseMs = PAUSES_MS[failed - 1];
  if (pauseMs === undefined) return null;
  const own = pauseMs * (1 + JITTER * (2 * random() - 1));
  return now + Math.round(Math.max(own, Math.min(parseRetryAfter(retryAfter, now), LONGEST_MS)));
}

/** Parses `Retry-After`, seconds or a date (RFC 9110, section 10.2.3), into milliseconds; 0 for anything else. */
function parseRetryAfter(text: string, now: number): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const at = Date.parse(text);
  return Number.isNaN(at) || !/[a-z]/i.test(text) ? 0 : Math.max(0, at - now);
}
