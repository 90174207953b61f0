import { setImmediate } from "node:timers/promises";
import { countRequests, type RequestCounts } from "../../store/requestLists.ts";
import type { Store } from "../../store/store.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Maximum number of requests counted per hour: reading that many takes about 10 ms. */
export const MAX_COUNTED = 20_000;
/** How long a result is cached. */
const KEPT_MS = 2_000;

/** What all dapps asked for in one hour. */
export interface ActiveHour extends RequestCounts {
  /** Start of the hour, Unix time in milliseconds. */
  readonly from: number;
}

/** Creates the counter of requests in each of the last 24 hours, oldest first, including the current one. Past hours are counted once. */
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
      // Requests still pending may fail in the following hour.
      if (from < current - HOUR_MS && !past.has(from)) past.set(from, hour);
      // SQLite reads block this thread: let other work run in between.
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
