import { sql } from "kysely";
import { TycheError } from "../lib/errors.ts";
import type { Queryable } from "./store.ts";

/** Who dispatches on a network, and under which token. Only a server's database has leases: one of SQLite serves one process. */
export interface Lease {
  readonly network: string;
  /** Id of the replica. */
  readonly holder: string;
  /** Grows with each take-over. */
  readonly token: number;
}

/** A lease as it is stored. */
export interface StoredLease extends Lease {
  /** Whether it still holds, by the database's clock. */
  readonly isLive: boolean;
}

/** Keeps a replica that no longer dispatches on a network from writing and sending as if it did. */
export interface Fence {
  /**
   * Called in the transaction of each write, first of all: until it ends, nobody takes the lease.
   *
   * @throws {LeaseLostError} where another replica has taken it.
   */
  assertHeld(db: Queryable): Promise<void>;
  /**
   * Called before each broadcast. The database isn't asked: by the clocks of this process the lease may still hold.
   *
   * @throws {LeaseLostError}
   */
  assertLive(): void;
  /**
   * Called when it is open whether a write was committed: memory may lack it. The lease is given back, and whoever takes it next goes on with what
   * is stored.
   */
  abandon(): void;
}

/** Milliseconds since the epoch by the database's clock, which all replicas share. */
const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Returns the lease of a network as it stands. */
export async function findLease(db: Queryable, network: string): Promise<StoredLease | undefined> {
  const row = await db
    .selectFrom("leases")
    .select(["holder", "token", sql<boolean>`expires_at > ${NOW}`.as("is_live")])
    .where("network", "=", network)
    .executeTakeFirst();
  return row && { network, holder: row.holder, token: row.token, isLive: row.is_live };
}

/** Whether a network's lease has been nobody's for so long; one that was never taken has. */
export async function isLeaseAbandoned(db: Queryable, network: string, forMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("leases")
    .select(sql<boolean>`expires_at + ${forMs}::bigint <= ${NOW}`.as("is_abandoned"))
    .where("network", "=", network)
    .executeTakeFirst();
  return row?.is_abandoned ?? true;
}

/**
 * Takes a network's lease where nobody holds it. Waits for the writes under way of the holder before: after it, none of them is
 * committed any more.
 *
 * @returns the lease, or `undefined` where somebody else holds it.
 */
export async function takeLease(
  db: Queryable,
  {
    network,
    holder,
    lastsMs,
  }: { readonly network: string; readonly holder: string; readonly lastsMs: number },
): Promise<Lease | undefined> {
  const expiresAt = sql<number>`${NOW} + ${lastsMs}::bigint`;
  const row = await db
    .insertInto("leases")
    .values({ network, holder, token: 1, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict
        .column("network")
        .doUpdateSet({ holder, token: sql<number>`leases.token + 1`, expires_at: expiresAt })
        .where(sql<boolean>`leases.expires_at <= ${NOW}`),
    )
    .returning("token")
    .executeTakeFirst();
  return row && { network, holder, token: row.token };
}

/** Renews a lease; whether it was still the holder's. One that has run out, and that nobody has taken since, is renewed, too. */
export async function renewLease(db: Queryable, lease: Lease, lastsMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("leases")
    .set({ expires_at: sql<number>`${NOW} + ${lastsMs}::bigint` })
    .where("network", "=", lease.network)
    .where("token", "=", lease.token)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Gives a lease back: the next one may take it at once. */
export async function giveLeaseBack(db: Queryable, { network, token }: Lease): Promise<void> {
  await db
    .updateTable("leases")
    .set({ expires_at: NOW })
    .where("network", "=", network)
    .where("token", "=", token)
    .execute();
}

/**
 * Sees, in the transaction of a write, that the lease is still the holder's, and keeps it so until the transaction ends.
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

/** Another replica dispatches on the network now: nothing was written or sent. */
export class LeaseLostError extends TycheError {
  constructor(network: string) {
    super(`another replica dispatches on ${network} now`, {
      code: "store_conflict",
      blame: "us",
      retryable: true,
    });
  }
}
