import { sql } from "kysely";
import { findSetting, saveSetting } from "./settings.ts";
import type { Queryable, Store } from "./store.ts";

/** A dapp as stored. */
export interface StoredDapp {
  readonly id: string;
  readonly name: string;
  readonly facilities: readonly string[];
  readonly createdAt: number;
}

/** An API key as stored; the key itself only sealed, and of a revoked one not at all. */
export interface StoredKey {
  readonly id: string;
  readonly dappId: string;
  /** SHA-256 of the key, 32 bytes. */
  readonly hash: Uint8Array;
  readonly sealed: Uint8Array;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly name: string;
  /** To the minute. */
  readonly lastUsedAt: number | null;
  /** Requests that calls with it may make on a day (UTC); `null` for any number. */
  readonly dailyLimit: number | null;
}

/** Stores a new dapp. */
export async function insertDapp(db: Queryable, dapp: StoredDapp): Promise<void> {
  await db
    .insertInto("dapps")
    .values({
      id: dapp.id,
      name: dapp.name,
      facilities: dapp.facilities.join(" "),
      created_at: dapp.createdAt,
    })
    .execute();
}

/** Returns every dapp that is not deleted, oldest first. */
export async function listDapps(db: Queryable): Promise<StoredDapp[]> {
  const rows = await db
    .selectFrom("dapps")
    .selectAll()
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    facilities: row.facilities.split(" ").filter((name) => name !== ""),
    createdAt: row.created_at,
  }));
}

/** Returns the ids of all dapps, deleted ones included: their requests are still there. */
export async function listDappIds(db: Queryable): Promise<string[]> {
  const rows = await db.selectFrom("dapps").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

/** Renames a dapp. Returns whether there is one with this id. */
export async function renameDapp(db: Queryable, dappId: string, name: string): Promise<boolean> {
  const result = await db
    .updateTable("dapps")
    .set({ name })
    .where("id", "=", dappId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Marks a dapp as deleted from `at` (ms) on, and revokes and erases its keys, in one transaction.
 *
 * @returns whether there was such a dapp.
 */
export async function deleteDapp(
  store: Pick<Store, "erase" | "write">,
  dappId: string,
  at: number,
): Promise<boolean> {
  return await store.erase(() =>
    store.write(async (db) => {
      const { numUpdatedRows } = await db
        .updateTable("dapps")
        .set({ deleted_at: at })
        .where("id", "=", dappId)
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await db
        .updateTable("api_keys")
        .set({ revoked_at: at, sealed: new Uint8Array() })
        .where("dapp_id", "=", dappId)
        .where("revoked_at", "is", null)
        .execute();
      await db.deleteFrom("dry_runs").where("dapp_id", "=", dappId).execute();
      return true;
    }),
  );
}

/** Returns the contracts that deleted dapps have linked on a network; `deletedAt` is Unix time in milliseconds. */
export async function listDeletedDappConsumers(
  db: Queryable,
  network: string,
): Promise<{ readonly dappId: string; readonly address: string; readonly deletedAt: number }[]> {
  const rows = await db
    .selectFrom("consumers")
    .innerJoin("dapps", "dapps.id", "consumers.dapp_id")
    .select(["dapps.id as dappId", "consumers.address", "dapps.deleted_at"])
    .where("consumers.network", "=", network)
    .where("dapps.deleted_at", "is not", null)
    .orderBy("dapps.id")
    .execute();
  return rows.map(({ dappId, address, deleted_at }) => ({ dappId, address, deletedAt: deleted_at! }));
}

/** Stores a new key. */
export async function insertKey(db: Queryable, key: StoredKey): Promise<void> {
  await db
    .insertInto("api_keys")
    .values({
      id: key.id,
      dapp_id: key.dappId,
      hash: key.hash,
      sealed: key.sealed,
      created_at: key.createdAt,
      revoked_at: key.revokedAt,
      name: key.name,
      last_used_at: key.lastUsedAt,
      daily_limit: key.dailyLimit,
    })
    .execute();
}

/** Returns a dapp's keys, oldest first, or everybody's when no dapp is named. */
export async function listKeys(db: Queryable, dappId?: string): Promise<StoredKey[]> {
  let query = db.selectFrom("api_keys").selectAll();
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const rows = await query.orderBy("id").execute();
  return rows.map((row) => ({
    id: row.id,
    dappId: row.dapp_id,
    hash: row.hash,
    sealed: row.sealed,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    name: row.name,
    lastUsedAt: row.last_used_at,
    dailyLimit: row.daily_limit,
  }));
}

/** Notes that a key was used at `at` (ms). */
export async function noteKeyUse(db: Queryable, keyId: string, at: number): Promise<void> {
  await db.updateTable("api_keys").set({ last_used_at: at }).where("id", "=", keyId).execute();
}

/** Returns how many requests were counted for a key on a day (`2026-11-22`). */
export async function readKeyRequests(db: Queryable, keyId: string, day: string): Promise<number> {
  const row = await db
    .selectFrom("api_keys")
    .select("day_requests")
    .where("id", "=", keyId)
    .where("counted_day", "=", day)
    .executeTakeFirst();
  return row?.day_requests ?? 0;
}

/** Counts a request for a key on a day (`2026-11-22`); returns how many that makes. */
export async function countKeyRequest(db: Queryable, keyId: string, day: string): Promise<number> {
  const row = await db
    .updateTable("api_keys")
    .set({
      day_requests: sql<number>`CASE WHEN counted_day = ${day} THEN day_requests + 1 ELSE 1 END`,
      counted_day: day,
    })
    .where("id", "=", keyId)
    .returning("day_requests")
    .executeTakeFirst();
  return row?.day_requests ?? 0;
}

/**
 * Marks a key as revoked from `at` (ms) on, and erases it: nothing that could be opened is left in the tables.
 *
 * @returns whether there was a live key with this id.
 */
export async function revokeKey(store: Pick<Store, "erase">, keyId: string, at: number): Promise<boolean> {
  const { numUpdatedRows } = await store.erase((db) =>
    db
      .updateTable("api_keys")
      .set({ revoked_at: at, sealed: new Uint8Array() })
      .where("id", "=", keyId)
      .where("revoked_at", "is", null)
      .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

/** Setting that tells with which master key the database was made. */
const FINGERPRINT = "master key fingerprint";

/** Returns what was noted of the master key, or `undefined` for a database from before that. */
export async function findKeyFingerprint(db: Queryable): Promise<string | undefined> {
  return await findSetting(db, FINGERPRINT);
}

/** Notes of the master key what tells it from others and gives nothing of it away. */
export async function saveKeyFingerprint(db: Queryable, fingerprint: string): Promise<void> {
  await saveSetting(db, FINGERPRINT, fingerprint);
}
