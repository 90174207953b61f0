import { setImmediate } from "node:timers/promises";
import { countRequests, type RequestCounts } from "../store/activity.ts";
import type { Store } from "../store/store.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Requests of an hour that are counted: a read of so many takes some 10 ms. */
export const MAX_COUNTED = 20_000;
/** Whoever looks again within this time sees the same. */
const KEPT_MS = 2_000;

export type { RequestCounts } from "../store/activity.ts";

/** What all dapps asked for in one hour. */
export interface ActiveHour extends RequestCounts {
  /** Its beginning, Unix time in milliseconds. */
  readonly from: number;
}

/** Creates what counts the requests of the last 24 hours, oldest first, the one under way included. Past hours are counted once. */
export function createActivity(
  store: Pick<Store, "db">,
  now: () => number = Date.now,
): () => Promise<readonly ActiveHour[]> {
  const past = new Map<number, ActiveHour>();
  let latest: { readonly at: number; readonly hours: Promise<readonly ActiveHour[]> } | undefined;

  const read = async (at: number): Promise<readonly ActiveHour[]> => {
    const current = at - (at % HOUR_MS);
    const hours: ActiveHour[] = [];
    for (let from = current - (HOURS - 1) * HOUR_MS; from <= current; from += HOUR_MS) {
      const range = { from, to: from + HOUR_MS, limit: MAX_COUNTED };
      const hour = past.get(from) ?? { from, ...(await countRequests(store.db, range)) };
      hours.push(hour);
      // Requests that still wait may fail an hour later.
      if (from < current - HOUR_MS && !past.has(from)) past.set(from, hour);
      // Reads of SQLite are this thread's: others have their turn.
      await setImmediate();
    }
    for (const from of past.keys()) if (from < hours[0]!.from) past.delete(from);
    return hours;
  };

  return () => {
    const at = now();
    if (latest === undefined || Math.abs(at - latest.at) > KEPT_MS) {
      const hours = read(at);
      latest = { at, hours };
      hours.catch(() => (latest = undefined));
    }
    return latest.hours;
  };
}
