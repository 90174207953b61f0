import { sql } from "kysely";
import { createId } from "../lib/id.ts";
import { open, seal } from "../lib/secrets.ts";
import { insertDapp, insertKey, listDapps, listKeys, revokeKey } from "../store/dapps.ts";
import type { StoredDapp, StoredKey } from "../store/dapps.ts";
import type { Store } from "../store/store.ts";
import { createApiKey, hashApiKey, isApiKey } from "./apiKey.ts";
import { NotFoundError, UnauthenticatedError } from "./errors.ts";
import type { Dapp, Facility } from "./service.ts";

/** Everything a new dapp may do. */
const ALL_FACILITIES: readonly Facility[] = ["presets", "functions"];

/** A key as its owner sees it. */
export interface KeyView {
  readonly id: string;
  /** The key itself. */
  readonly apiKey: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** The dapps and their keys. */
export interface DappDirectory {
  /** Throws `unauthenticated` for any text that isn't a live key. */
  authenticate(apiKey: string): Promise<Dapp>;
  create(
    name: string,
    facilities?: readonly Facility[],
  ): Promise<{ readonly dapp: StoredDapp; readonly key: KeyView }>;
  list(): Promise<StoredDapp[]>;
  /** Throws `not_found`. */
  get(dappId: string): Promise<StoredDapp>;
  /** The dapp's keys, revoked ones included. */
  keys(dappId: string): Promise<KeyView[]>;
  addKey(dappId: string): Promise<KeyView>;
  /** Ends a key at once; throws `not_found` when there is no live key with this id. */
  revokeKey(keyId: string): Promise<void>;
}

/**
 * Makes the directory over a store.
 *
 * @param sealingKey 32 bytes under which keys are kept for the Config Vars view.
 */
export function createDappDirectory(store: Store, sealingKey: Uint8Array): DappDirectory {
  const view = (key: StoredKey): KeyView => ({
    id: key.id,
    apiKey: Buffer.from(open(sealingKey, key.sealed, key.id)).toString(),
    createdAt: key.createdAt,
    revokedAt: key.revokedAt,
  });
  const makeKey = (dappId: string): StoredKey => {
    const id = createId("key");
    const apiKey = createApiKey();
    return {
      id,
      dappId,
      hash: hashApiKey(apiKey),
      sealed: seal(sealingKey, Buffer.from(apiKey), id),
      createdAt: Date.now(),
      revokedAt: null,
    };
  };

  return {
    async authenticate(apiKey) {
      if (!isApiKey(apiKey)) throw new UnauthenticatedError();
      const row = await store.db
        .selectFrom("api_keys")
        .innerJoin("dapps", "dapps.id", "api_keys.dapp_id")
        .select(["dapps.id", "dapps.name", "dapps.facilities", sql<string>`api_keys.id`.as("keyId")])
        .where("api_keys.hash", "=", hashApiKey(apiKey))
        .where("api_keys.revoked_at", "is", null)
        .executeTakeFirst();
      if (row === undefined) throw new UnauthenticatedError();
      return {
        id: row.id,
        name: row.name,
        keyId: row.keyId,
        facilities: row.facilities.split(" ") as Facility[],
      };
    },
    async create(name, facilities = ALL_FACILITIES) {
      const dapp = { id: createId("dapp"), name, facilities, createdAt: Date.now() };
      const key = makeKey(dapp.id);
      await store.write(async (db) => {
        await insertDapp(db, dapp);
        await insertKey(db, key);
      });
      return { dapp, key: view(key) };
    },
    list: () => listDapps(store.db),
    async get(dappId) {
      const dapp = (await listDapps(store.db)).find((one) => one.id === dappId);
      if (dapp === undefined) throw new NotFoundError(`dapp ${dappId}`);
      return dapp;
    },
    keys: async (dappId) => (await listKeys(store.db, dappId)).map(view),
    async addKey(dappId) {
      const key = makeKey(dappId);
      await insertKey(store.db, key);
      return view(key);
    },
    async revokeKey(keyId) {
      if (!(await revokeKey(store.db, keyId, Date.now()))) throw new NotFoundError(`live key ${keyId}`);
    },
  };
}
