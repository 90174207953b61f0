import { foldName } from "../domain/names.ts";
import { sql, type Selectable } from "kysely";
import type { Beacon } from "../domain/vocabulary.ts";
import { fromRow, toRow, type Stored } from "./columns.ts";
import { findSetting, saveSetting } from "./settings.ts";
import type { Tables } from "./schema.ts";
import type { Store } from "./store.ts";
import type { Queryable } from "./queryable.ts";
import { deleteLogTriggersOf } from "./logTriggers.ts";
import { deleteMembersOf } from "./people.ts";
import { deleteSchedulesOf } from "./schedules.ts";
import { deleteDappSecrets } from "./secrets.ts";
import { deleteWebhooksOf } from "./webhooks.ts";

/** A stored dapp. */
export interface StoredDapp {
  readonly id: string;
  readonly name: string;
  readonly facilities: readonly string[];
  readonly createdAt: number;
  /** What its presets' words also follow from where a call doesn't say it. Default: what the network's do. */
  readonly beacon?: Beacon;
}

type KeyRow = Selectable<Tables["api_keys"]>;
/** What {@link StoredKey} has otherwise, or not at all. */
type OtherKeyColumn =
  | "previous_hash"
  | "previous_sealed"
  | "previous_until"
  | "creation_key"
  | "creation_hash";

/** A stored API key. The key itself is sealed, and erased once revoked. */
export interface StoredKey extends Stored<Omit<KeyRow, OtherKeyColumn>> {
  /** The value before the last rotation: its hash, the hash as it is sealed, and until when it stays valid. */
  readonly previous: {
    readonly hash: Uint8Array;
    readonly sealed: Uint8Array;
    readonly until: number;
  } | null;
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

/**
 * Returns the dapp whose name is `name` if case is ignored, and holds off changes of names by other transactions until this one ends.
 */
export async function findDappByName(db: Queryable, name: string): Promise<StoredDapp | undefined> {
  await lockAll(db);
  const folded = foldName(name);
  return (await listDapps(db)).find((dapp) => foldName(dapp.name) === folded);
}

/** Makes transactions that look at all dapps or people before they write wait for each other, those of several replicas and processes too. */
export async function lockAll(db: Queryable): Promise<void> {
  // Writing any row locks it.
  await db
    .updateTable("settings")
    .set((row) => ({ value: row.ref("value") }))
    .where("name", "=", FINGERPRINT)
    .execute();
}

/** Returns all dapps that are not deleted, oldest first. */
export async function listDapps(db: Queryable): Promise<StoredDapp[]> {
  const rows = await db
    .selectFrom("dapps")
    .selectAll()
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(parseDapp);
}

function parseDapp(row: Selectable<Tables["dapps"]>): StoredDapp {
  return {
    id: row.id,
    name: row.name,
    facilities: row.facilities.split(" ").filter((name) => name !== ""),
    createdAt: row.created_at,
    ...(row.beacon === null ? {} : { beacon: row.beacon }),
  };
}

/** Returns the name of a dapp that is not deleted. */
export async function findDappName(db: Queryable, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("dapps")
    .select("name")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row?.name;
}

/** Returns the ids of all dapps, including deleted ones, whose requests are still stored. */
export async function listDappIds(db: Queryable): Promise<string[]> {
  const rows = await db.selectFrom("dapps").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

/** Changes what is given of a dapp. Returns it as it is then, or `undefined` if no dapp has this id. */
export async function updateDapp(
  db: Queryable,
  dappId: string,
  {
    name,
    facilities,
    beacon,
  }: {
    readonly name: string | undefined;
    readonly facilities?: readonly string[] | undefined;
    readonly beacon?: Beacon | null | undefined;
  },
): Promise<StoredDapp | undefined> {
  const row = await db
    .updateTable("dapps")
    .set((present) => ({
      name: name ?? present.ref("name"),
      facilities: facilities?.join(" ") ?? present.ref("facilities"),
      beacon: beacon === undefined ? present.ref("beacon") : beacon,
    }))
    .where("id", "=", dappId)
    .where("deleted_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  return row && parseDapp(row);
}

/**
 * Marks a dapp as deleted at `at` (ms), and revokes and erases its keys, in one transaction.
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
        .set({ revoked_at: at, ...ERASED })
        .where("dapp_id", "=", dappId)
        .where("revoked_at", "is", null)
        .execute();
      await db.deleteFrom("dry_runs").where("dapp_id", "=", dappId).execute();
      await deleteWebhooksOf(db, dappId);
      await deleteSchedulesOf(db, dappId);
      await deleteDappSecrets(db, dappId);
      await deleteLogTriggersOf(db, dappId);
      await deleteMembersOf(db, dappId);
      return true;
    }),
  );
}

/** Returns the contracts linked by deleted dapps on a network; `deletedAt` is Unix time in milliseconds. */
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

/** The call that created a key. */
export interface Creation {
  /** Unique among all keys. */
  readonly key: string;
  readonly bodyHash: string;
}

/** What is left of a revoked key's values. */
const ERASED = {
  sealed: new Uint8Array(),
  previous_hash: null,
  previous_sealed: null,
  previous_until: null,
} as const;

/** Stores a new key; a second one of the same creation violates a unique constraint. */
export async function insertKey(
  db: Queryable,
  { previous: _, ...key }: StoredKey,
  creation?: Creation,
): Promise<void> {
  const row = { ...key, creationKey: creation?.key ?? null, creationHash: creation?.bodyHash ?? null };
  await db.insertInto("api_keys").values(toRow<Omit<KeyRow, `previous_${string}`>>(row)).execute();
}

/** Changes a key that isn't revoked: its name, or what its values are sealed for, with their sealed forms. Returns whether there is such a key. */
export async function updateKey(
  db: Queryable,
  keyId: string,
  change: Partial<Omit<KeyRow, "id" | "dapp_id">>,
): Promise<boolean> {
  const query = db.updateTable("api_keys").set(change).where("id", "=", keyId);
  const { numUpdatedRows } = await query.where("revoked_at", "is", null).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns what a creation made, and the hash of its body. */
export async function findCreation(
  db: Queryable,
  key: string,
): Promise<
  { readonly keyId: string; readonly dappId: string; readonly bodyHash: string | null } | undefined
> {
  return await db
    .selectFrom("api_keys")
    .select(["id as keyId", "dapp_id as dappId", "creation_hash as bodyHash"])
    .where("creation_key", "=", key)
    .executeTakeFirst();
}

/** Returns a dapp's keys, oldest first, or all dapps' keys if none is given. */
export async function listKeys(db: Queryable, dappId?: string): Promise<StoredKey[]> {
  let query = db.selectFrom("api_keys").selectAll();
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  return (await query.orderBy("id").execute()).map(parseKey);
}

/** Returns the key whose value, or former value, has a hash, with its dapp; neither is revoked or deleted. */
export async function findKeyByHash(
  db: Queryable,
  hash: Uint8Array,
): Promise<{ readonly key: StoredKey; readonly dapp: StoredDapp } | undefined> {
  const row = await db
    .selectFrom("api_keys")
    .selectAll()
    .where((on) => on.or([on("hash", "=", hash), on("previous_hash", "=", hash)]))
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const dapp = await db
    .selectFrom("dapps")
    .selectAll()
    .where("id", "=", row.dapp_id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return dapp && { key: parseKey(row), dapp: parseDapp(dapp) };
}

function parseKey({
  previous_hash,
  previous_sealed,
  previous_until,
  creation_key: _,
  creation_hash: __,
  ...key
}: KeyRow): StoredKey {
  return {
    ...fromRow(key),
    previous:
      previous_hash === null || previous_sealed === null || previous_until === null
        ? null
        : { hash: previous_hash, sealed: previous_sealed, until: previous_until },
  };
}

/** Records that a key was used at `at` (ms). */
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

/** Counts a request for a key on a day (`2026-11-22`); returns the new count. */
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
 * Marks a key as revoked at `at` (ms) and erases it: the tables keep nothing that could be decrypted.
 *
 * @returns whether there was a live key with this id.
 */
export async function revokeKey(store: Pick<Store, "erase">, keyId: string, at: number): Promise<boolean> {
  const { numUpdatedRows } = await store.erase((db) =>
    db
      .updateTable("api_keys")
      .set({ revoked_at: at, ...ERASED })
      .where("id", "=", keyId)
      .where("revoked_at", "is", null)
      .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

/** Setting that identifies the master key the database was created with. */
const FINGERPRINT = "master key fingerprint";

/** Returns the stored fingerprint of the master key, or `undefined` for a database that predates it. */
export async function findKeyFingerprint(db: Queryable): Promise<string | undefined> {
  return await findSetting(db, FINGERPRINT);
}

/** Stores a fingerprint that identifies the master key without revealing anything about it. */
export async function saveKeyFingerprint(db: Queryable, fingerprint: string): Promise<void> {
  await saveSetting(db, FINGERPRINT, fingerprint);
}

/** Makes transactions that count what a dapp has wait for each other. To be called before counting. */
export async function lockDapp(db: Queryable, dappId: string): Promise<void> {
  await db
    .updateTable("dapps")
    .set((on) => ({ name: on.ref("name") }))
    .where("id", "=", dappId)
    .execute();
}
