import { sql } from "kysely";
import { TycheError } from "../../lib/errors.ts";
import type { Dapp } from "../../dapps/dapps.ts";
import { shareByKey } from "../../lib/memo.ts";
import { DAY_MS } from "../../lib/time.ts";
import { countKeyRequest, readKeyRequests } from "../../store/dapps.ts";
import type { Store } from "../../store/store.ts";
import type { Queryable } from "../../store/queryable.ts";
import { dayOf, listUsage } from "../../store/usage.ts";

/** A dapp, and the API key that a call was made with. */
type Caller = Pick<Dapp, "id" | "keyId" | "keyDailyLimit">;

/** Counts the requests accepted per day (UTC) for each dapp, and for each API key with its own limit. */
export interface DailyLimit {
  /**
   * Reserves one of a dapp's requests of the day; returns a function that releases it, for a call that created no request.
   *
   * @throws {DailyLimitError} when the dapp or the key has used up its requests of the day.
   */
  take(caller: Caller): Promise<() => void>;
  /**
   * Counts a request for the key. Called in the transaction that stores the request, after it was counted for the dapp. If
   * several processes accept requests, those that the others have accepted in the meantime count as well. The rows of the
   * dapp and the key stay locked until the transaction ends.
   *
   * @throws {DailyLimitError} when the requests of the day are used up; the transaction must then not be committed.
   */
  count(db: Queryable, caller: Caller): Promise<void>;
}

/**
 * Creates the daily limits. They survive a restart: a dapp's first call of the day reads the count from the store.
 *
 * @param options.limit maximum number of requests per dapp and day. Default: unlimited.
 * @param options.isShared whether other processes accept into the same store. Default `false`.
 */
export function createDailyLimit(
  store: Store,
  options: { readonly limit?: number; readonly isShared?: boolean },
): DailyLimit {
  const { limit, isShared = false } = options;
  let today = "";
  const taken = new Map<string, Promise<{ count: number }>>();

  const readCount = async (db: Queryable, dappId: string): Promise<{ count: number }> => {
    const rows = await listUsage(db, { dappId, from: today, to: today });
    const requests = rows.filter(({ kind }) => kind !== "dry-run");
    return { count: requests.reduce((sum, row) => sum + row.requests, 0) };
  };

  return {
    async take({ id: dappId, keyId, keyDailyLimit }) {
      const now = Date.now();
      if (
        keyDailyLimit !== undefined &&
        (await readKeyRequests(store.db, keyId, dayOf(now))) >= keyDailyLimit
      )
        throw new DailyLimitError("API key", keyDailyLimit);
      if (limit === undefined) return () => {};
      if (dayOf(now) !== today) {
        today = dayOf(now);
        taken.clear();
      }
      const day = await shareByKey(taken, dappId, () => readCount(store.db, dappId));
      if (day.count >= limit) throw new DailyLimitError("dapp", limit);
      day.count += 1;
      return () => (day.count -= 1);
    },
    async count(db, { id: dappId, keyId, keyDailyLimit }) {
      const sharedLimit = isShared ? limit : undefined;
      if (keyDailyLimit === undefined && sharedLimit === undefined) return;
      // From here on, transactions of the same dapp run one after the other.
      await db
        .updateTable("dapps")
        .set({ name: sql<string>`name` })
        .where("id", "=", dappId)
        .execute();
      if (
        keyDailyLimit !== undefined &&
        (await countKeyRequest(db, keyId, dayOf(Date.now()))) > keyDailyLimit
      )
        throw new DailyLimitError("API key", keyDailyLimit);
      if (sharedLimit === undefined) return;
      const { count } = await readCount(db, dappId);
      if (count <= sharedLimit) return;
      // Makes the next call read the count again, with what the others have accepted.
      taken.delete(dappId);
      throw new DailyLimitError("dapp", sharedLimit);
    },
  };
}

/** A dapp or an API key has used up its requests of the day. */
export class DailyLimitError extends TycheError {
  constructor(who: "dapp" | "API key", limit: number) {
    super(
      `this ${who} has made its ${limit} request${limit === 1 ? "" : "s"} for today; the next day begins at 00:00 UTC`,
      {
        code: "rate_limited",
        blame: "caller",
        retryable: true,
        details: { retryAfterMs: DAY_MS - (Date.now() % DAY_MS) },
      },
    );
  }
}
