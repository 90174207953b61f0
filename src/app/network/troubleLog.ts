import { createBoundedMap } from "../../lib/boundedMap.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";

/** For how long the same trouble is not logged again, in ms. */
const PAUSE_MS = 60_000;
const MAX_TEXTS = 100;

/**
 * Returns what logs errors of work that is tried again and again, such as following a chain whose node is away: each text once a minute, with a
 * stack only if nobody throws it on purpose.
 */
export function createTroubleLog(
  log: { warn(members: object, message: string): void },
  message: string,
): (error: unknown) => void {
  const loggedAtMs = createBoundedMap<string, number>(MAX_TEXTS);
  return (error) => {
    const reason = messageOf(error);
    const beforeMs = loggedAtMs.get(reason);
    const nowMs = performance.now();
    if (beforeMs !== undefined && nowMs - beforeMs < PAUSE_MS) return;
    loggedAtMs.set(reason, nowMs);
    log.warn(error instanceof TycheError ? { reason } : { err: error }, message);
  };
}
