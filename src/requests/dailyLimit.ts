import { sql } from "kysely";
import { TycheError } from "../lib/errors.ts";
import type { Dapp } from "../dapps/dapps.ts";
import { countKeyRequest, readKeyRequests } from "../store/dapps.ts";
import type { Queryable, Store } from "../store/store.ts";
import { dayOf, listUsage } from "../store/usage.ts";

const DAY_MS = 86_400_000;

/** A dapp, and the key that a call came with. */
type Caller = Pick<Dapp, "id" | "keyId" | "keyDailyLimit">;

/** Counts what each dapp has accepted on a day (UTC), and each key that has a limit of its own. */
export interface DailyLimit {
  /**
   * Takes one request off a dapp's day; gives back what returns it, for a call that made no request.
   *
   * @throws {DailyLimitError} when the day's requests of the dapp, or of the key, are used up.
   */
  take(caller: Caller): Promise<() => void>;
  /**
   * Called in the transaction that stores a request, after it has been counted for the dapp: counts it for the key, and where several
   * processes count, what those have accepted meanwhile counts as well. The rows of the dapp and the key are locked until the transaction ends.
   *
   * @throws {DailyLimitError} when the day's requests are used up: the transaction must not be committed then.
   */
  count(db: Queryable, caller: Caller): Promise<void>;
}

/**
 * Creates the limits. A restart changes nothing: a dapp's first call of a day reads what the store has counted.
 *
 * @param options.limit requests of each dapp on a day. Default: any number.
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
      let reading = taken.get(dappId);
      if (reading === undefined) {
        reading = readCount(store.db, dappId);
        taken.set(dappId, reading);
        reading.catch(() => taken.delete(dappId));
      }
      const day = await reading;
      if (day.count >= limit) throw new DailyLimitError("dapp", limit);
      day.count += 1;
      return () => (day.count -= 1);
    },
    async count(db, { id: dappId, keyId, keyDailyLimit }) {
      const sharedLimit = isShared ? limit : undefined;
      if (keyDailyLimit === undefined && sharedLimit === undefined) return;
      // Two transactions for one dapp go one after the other from here on.
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
      // The next call reads what the others have accepted.
      taken.delete(dappId);
      throw new DailyLimitError("dapp", sharedLimit);
    },
  };
}

/** A dapp or a key has made all the requests that it may make on a day. */
export class DailyLimitError extends TycheError {
  constructor(who: "dapp" | "API key", limit: number) {
    super(
      `this ${who} has made the ${limit} request${limit === 1 ? "" : "s"} that it may make on a day; the next day begins at 00:00 UTC`,
      {
        code: "rate_limited",
        blame: "caller",
        retryable: true,
        details: { retryAfterMs: DAY_MS - (Date.now() % DAY_MS) },
      },
    );
  }
}
