/** Items idle for longer than this, in ms, are not expected to join a transaction. */
export const ACTIVE_MS = 2_000;
/** How much longer a transaction waits for each item that may yet join it, in ms: a tenth of that item's total cost. */
const MS_PER_OTHER = 0.4;
/** At a few hundred items a second, transactions are large enough after this time. */
const MAX_MS = 80;
/** Less is not worth a timer, and a lone caller's items never wait. */
const MIN_MS = 1;

/**
 * Returns how long, in ms, a transaction that is not full waits for more while `others` items are in earlier stages. Close to zero while there
 * are few; under load, a small part of the time that each item waits anyway, so that transactions are full.
 */
export function gatherDelayMs(others: number): number {
  const ms = Math.min(MAX_MS, others * MS_PER_OTHER);
  return ms < MIN_MS ? 0 : ms;
}
