/** What has stood still for longer than this, in ms, is not on its way to join a batch. */
export const ACTIVE_MS = 2_000;
/** How much longer a batch waits for each item that may yet join it, in ms: a tenth of what that item costs in all. */
const MS_PER_OTHER = 0.4;
/** At a few hundred items a second, batches are long enough after this time. */
const MAX_MS = 80;
/** Less is not worth a timer, and a lone caller's items never wait. */
const MIN_MS = 1;

/**
 * How long (in ms) a batch that is not full waits for company when `others` items are on their way through earlier stages. Next to
 * nothing while few are under way; under load a small part of the time that each waits anyway, for transactions that are full.
 */
export function batchDelayMs(others: number): number {
  const ms = Math.min(MAX_MS, others * MS_PER_OTHER);
  return ms < MIN_MS ? 0 : ms;
}
