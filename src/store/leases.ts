import { sql } from "kysely";
import { TycheError } from "../lib/errors.ts";
import { fromRow } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { Store } from "./store.ts";

/** Which replica dispatches on a network, and under which token. Only server databases have leases: a SQLite database serves one process. */
export interface Lease {
  readonly network: string;
  /** Id of the replica. */
  readonly holder: string;
  /** Incremented with each takeover. */
  readonly token: number;
}

/** A stored lease. */
export interface StoredLease extends Lease {
  /** When it expires, Unix time in milliseconds by the database's clock. Each renewal changes it. */
  readonly expiresAt: number;
  /** Whether it has not expired, by the database's clock. */
  readonly isLive: boolean;
}

/** Prevents a replica that lost a network's lease from writing and sending as if it still held it. */
export interface Fence {
  /**
   * Must be called first in the transaction of each write: nobody can take the lease until that transaction ends.
   *
   * @throws {LeaseLostError} when another replica has taken it.
   */
  assertHeld(db: Queryable): Promise<void>;
  /**
   * Must be called before each broadcast. Doesn't query the database: checks that by this process's clocks the lease may still hold.
   *
   * @throws {LeaseLostError}
   */
  assertLive(): void;
  /**
   * Must be called when it is unknown whether a write was committed: memory may lack it. Releases the lease; the replica that takes it
   * next continues from what is stored.
   */
  abandon(): void;
}

/** Milliseconds since the epoch by the database's clock, which all replicas share. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Returns a network's lease. */
export async function findLease(db: Queryable, network: string): Promise<StoredLease | undefined> {
  const row = await db
    .selectFrom("leases")
    .select(["holder", "token", "expires_at", sql<boolean>`expires_at > ${NOW}`.as("is_live")])
    .where("network", "=", network)
    .executeTakeFirst();
  return row && { network, ...fromRow(row) };
}

/** Whether a network's lease expired at least `forMs` ago; true if it was never taken. */
export async function isLeaseAbandoned(db: Queryable, network: string, forMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("leases")
    .select(sql<boolean>`expires_at + ${forMs}::bigint <= ${NOW}`.as("is_abandoned"))
    .where("network", "=", network)
    .executeTakeFirst();
  return row?.is_abandoned ?? true;
}

/**
 * Takes a network's lease if nobody holds it. Waits for the previous holder's writes in flight; none of them can commit afterwards.
 *
 * @param options.unrenewed a lease that its holder has not renewed in time. If it is still the same, it counts as expired: the database's
 * clock may have been set back.
 * @returns the lease, or `undefined` if another replica holds it.
 */
export async function takeLease(
  db: Queryable,
  {
    network,
    holder,
    lastsMs,
    unrenewed,
  }: {
    readonly network: string;
    readonly holder: string;
    readonly lastsMs: number;
    readonly unrenewed?: StoredLease | undefined;
  },
): Promise<Lease | undefined> {
  const isExpired = sql<boolean>`expires_at <= ${NOW}`;
  const isFree =
    unrenewed === undefined
      ? isExpired
      : sql<boolean>`(${isExpired} or (token = ${unrenewed.token} and expires_at = ${unrenewed.expiresAt}))`;
  // Two statements: a conflict of rows that are new at the same moment may be found in either unique index, and DO UPDATE names only one.
  await db
    .insertInto("leases")
    .values({ network, holder, token: 0, expires_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db
    .updateTable("leases")
    .set({ holder, token: sql<number>`token + 1`, expires_at: sql<number>`${NOW} + ${lastsMs}::bigint` })
    .where("network", "=", network)
    .where(isFree)
    .returning("token")
    .executeTakeFirst();
  return row && { network, holder, token: row.token };
}

/** Renews a lease; returns whether it was still the holder's. An expired lease that nobody has taken since is renewed too. */
export async function renewLease(db: Queryable, lease: Lease, lastsMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("leases")
    .set({ expires_at: sql<number>`${NOW} + ${lastsMs}::bigint` })
    .where("network", "=", lease.network)
    .where("token", "=", lease.token)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Releases a lease: the next replica may take it at once. */
export async function giveLeaseBack(db: Queryable, { network, token }: Lease): Promise<void> {
  await db
    .updateTable("leases")
    .set({ expires_at: NOW })
    .where("network", "=", network)
    .where("token", "=", token)
    .execute();
}

/**
 * Checks, in the transaction of a write, that the lease is still the holder's, and keeps it so until the transaction ends.
 *
 * @throws {LeaseLostError}
 */
export async function assertLeaseHeld(db: Queryable, { network, token }: Lease): Promise<void> {
  const row = await db
    .selectFrom("leases")
    .select("token")
    .where("network", "=", network)
    .where("token", "=", token)
    .forKeyShare()
    .executeTakeFirst();
  if (row === undefined) throw new LeaseLostError(network);
}

/**
 * Lets a store write only while a lease holds: each `write` and `writeSoon` checks it first, in its transaction. `erase` has none, so no
 * check would last until its end: it stays as it is. Without a fence, so does the whole store.
 */
export function fenceWrites(store: Store, fence: Pick<Fence, "assertHeld"> | undefined): Store {
  if (fence === undefined) return store;
  const held =
    <Db extends Queryable, T>(work: (db: Db) => Promise<T>) =>
    async (db: Db): Promise<T> => {
      await fence.assertHeld(db);
      return await work(db);
    };
  return {
    ...store,
    write: (work) => store.write(held(work)),
    writeSoon: (work) => store.writeSoon(held(work)),
  };
}

/** Another replica dispatches on the network; nothing was written or sent. */
export class LeaseLostError extends TycheError {
  constructor(network: string) {
    super(`another replica dispatches on ${network} now`, {
      code: "store_conflict",
      blame: "us",
      retryable: true,
    });
  }
}
