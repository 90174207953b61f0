import { sql } from "kysely";
import { TycheError } from "../lib/errors.ts";
import type { Queryable, Store } from "../store/store.ts";
import { dayOf, listUsage } from "../store/usage.ts";

const DAY_MS = 86_400_000;

/** Counts what each dapp has accepted on a day (UTC). */
export interface DailyLimit {
  /**
   * Takes one request off a dapp's day; gives back what returns it, for a call that made no request.
   *
   * @throws {DailyLimitError} when the day's requests are used up.
   */
  take(dappId: string): Promise<() => void>;
  /**
   * Called in the transaction that stores a request, after it has been counted, where several processes count: what those have accepted meanwhile
   * counts as well. The dapp's row is locked until the transaction ends.
   *
   * @throws {DailyLimitError} when the day's requests are used up: the transaction must not be committed then.
   */
  assertWithin(db: Queryable, dappId: string): Promise<void>;
}

/**
 * Creates the limit. A restart changes nothing: a dapp's first call of a day reads what the store has counted.
 *
 * @param limit requests a day. Default: any number.
 */
export function createDailyLimit(store: Store, limit: number | undefined): DailyLimit {
  let today = "";
  const taken = new Map<string, Promise<{ count: number }>>();

  const readCount = async (db: Queryable, dappId: string): Promise<{ count: number }> => {
    const rows = await listUsage(db, { dappId, from: today, to: today });
    const requests = rows.filter(({ kind }) => kind !== "dry-run");
    return { count: requests.reduce((sum, row) => sum + row.requests, 0) };
  };

  return {
    async take(dappId) {
      if (limit === undefined) return () => {};
      const now = Date.now();
      if (dayOf(now) !== today) {
        today = dayOf(now);
        taken.clear();
      }
      let reading = taken.get(dappId);
      if (reading === undefined) {
        reading = readCount(store.db, dappId);
        taken.set(dappId, reading);
        reading.catch(() => taken.delete(dappId));
      }
      const day = await reading;
      if (day.count >= limit) throw new DailyLimitError(limit, DAY_MS - (now % DAY_MS));
      day.count += 1;
      return () => (day.count -= 1);
    },
    async assertWithin(db, dappId) {
      if (limit === undefined) return;
      // Two transactions for one dapp go one after the other from here on.
      await db
        .updateTable("dapps")
        .set({ name: sql<string>`name` })
        .where("id", "=", dappId)
        .execute();
      const { count } = await readCount(db, dappId);
      if (count <= limit) return;
      // The next call reads what the others have accepted.
      taken.delete(dappId);
      throw new DailyLimitError(limit, DAY_MS - (Date.now() % DAY_MS));
    },
  };
}

/** A dapp has made all the requests that it may make on a day. */
export class DailyLimitError extends TycheError {
  constructor(limit: number, retryAfterMs: number) {
    super(
      `this dapp has made the ${limit} requests that it may make on a day; the next day begins at 00:00 UTC`,
      {
        code: "rate_limited",
        blame: "caller",
        retryable: true,
        details: { retryAfterMs },
      },
    );
  }
}
