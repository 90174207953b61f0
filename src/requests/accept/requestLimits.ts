import type { Dapp } from "../../dapps/dapp.ts";
import { countOf } from "../../lib/countOf.ts";
import { TycheError } from "../../lib/errors.ts";
import { shareByKey } from "../../lib/memo.ts";
import { RateLimitedError } from "../../lib/rateLimit.ts";
import { DAY_MS } from "../../lib/time.ts";
import { countKeyRequest, lockDapp, readKeyRequests } from "../../store/dapps.ts";
import type { Store } from "../../store/store.ts";
import type { Queryable } from "../../store/queryable.ts";
import { dayOf, listUsage } from "../../store/usage.ts";
import type { RequestBook } from "../requestBook.ts";

const RETRY_AFTER_MS = 2_000;

/** A request's place: its network and its dapp. */
export interface Place {
  readonly network: string;
  readonly dappId: string;
}

/** The places of all networks. */
export interface OpenLimits {
  /**
   * Takes a place for a request that is about to be stored. Each network has its own places, and a dapp may hold as many of
   * them as it leaves free: one dapp alone gets half, two get a third each, and a newcomer always finds some.
   *
   * @returns a function that gives the place back, to be called once the request is stored, and so counted by itself, or
   * will never be stored.
   * @throws {OverloadedError} when all places of the network are taken.
   * @throws {OpenLimitError} when the dapp has its share.
   */
  take(place: Place): () => void;
}

/** Creates the places: `book` counts stored requests, and those about to be stored are counted here. */
export function createOpenLimits(book: Pick<RequestBook, "openCount">, limit: number): OpenLimits {
  const coming = new Set<Place>();
  const countComing = (test: (place: Place) => boolean): number => [...coming].filter(test).length;
  return {
    take(place) {
      const { network, dappId } = place;
      const open = book.openCount(network) + countComing((one) => one.network === network);
      if (open >= limit) throw new OverloadedError(limit);
      const isOwn = (one: Place): boolean => one.network === network && one.dappId === dappId;
      const own = book.openCount(network, dappId) + countComing(isOwn);
      if (own >= limit - open) throw new OpenLimitError(own, network);
      coming.add(place);
      return () => void coming.delete(place);
    },
  };
}

/** A network has as many open requests as the service allows. */
export class OverloadedError extends TycheError {
  constructor(limit: number) {
    super(`${limit} requests are waiting on this network already; try again in a few seconds`, {
      code: "overloaded",
      blame: "us",
      retryable: true,
    });
  }
}

/** A dapp has as many open requests on a network as its share allows. */
export class OpenLimitError extends RateLimitedError {
  constructor(own: number, network: string) {
    super(
      `this dapp has ${own} requests in progress on ${network}, which is its share of the capacity; try again when some have ended`,
      RETRY_AFTER_MS,
    );
  }
}

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
      await lockDapp(db, dappId);
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
export class DailyLimitError extends RateLimitedError {
  constructor(who: "dapp" | "API key", limit: number) {
    super(
      `this ${who} has made its ${countOf(limit, "request")} for today; the next day begins at 00:00 UTC`,
      DAY_MS - (Date.now() % DAY_MS),
    );
  }
}
