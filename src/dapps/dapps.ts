import { sql } from "kysely";
import { createId } from "../lib/id.ts";
import { open, seal } from "../lib/secrets.ts";
import {
  deleteDapp,
  insertDapp,
  insertKey,
  listDapps,
  listKeys,
  noteKeyUse,
  renameDapp,
  revokeKey,
} from "../store/dapps.ts";
import type { StoredDapp, StoredKey } from "../store/dapps.ts";
import type { Store } from "../store/store.ts";
import { parseName } from "./name.ts";
import { createApiKey, hashApiKey, isApiKey } from "./apiKey.ts";
import { TycheError } from "../lib/errors.ts";

export type Facility = "presets" | "functions";

/** An application of a customer: what an API key stands for. */
export interface Dapp {
  readonly id: string;
  readonly name: string;
  /** Names the key without revealing it: fit for logs, rate limits and metrics. */
  readonly keyId: string;
  /** Requests that calls with the key may make on a day (UTC). Default: any number. */
  readonly keyDailyLimit?: number;
  readonly facilities: readonly Facility[];
}

/** Everything a new dapp may do. */
const ALL_FACILITIES: readonly Facility[] = ["presets", "functions"];

/** Most requests a day that a key may be limited to: what an `integer` column holds in every database. */
export const MAX_DAILY_LIMIT = 2_147_483_647;

/** How often the use of a key is noted, at most. */
const NOTED_EVERY_MS = 60_000;

/** A key as its owner sees it. */
export interface KeyView {
  readonly id: string;
  /** The key itself; `null` once it is revoked: it is erased then. */
  readonly apiKey: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** What its owner calls it; may be empty. */
  readonly name: string;
  /** When a call came with it last, to the minute. */
  readonly lastUsedAt: number | null;
  /** Requests that calls with it may make on a day (UTC); `null` for any number. */
  readonly dailyLimit: number | null;
}

/** A key that is live. */
export type LiveKeyView = KeyView & { readonly apiKey: string };

/** The dapps and their keys. */
export interface DappDirectory {
  /** Throws `unauthenticated` for any text that isn't a live key. */
  authenticate(apiKey: string): Promise<Dapp>;
  /** Throws `invalid_parameter` for a name that {@link parseName} refuses. */
  create(
    name: string,
    facilities?: readonly Facility[],
  ): Promise<{ readonly dapp: StoredDapp; readonly key: LiveKeyView }>;
  /** Throws `not_found`, and `invalid_parameter` for a name that {@link parseName} refuses. */
  rename(dappId: string, name: string): Promise<void>;
  /**
   * Deletes a dapp: its keys are revoked and erased at once. Its requests, those in work too, and its usage stay. Throws `not_found`.
   */
  delete(dappId: string): Promise<void>;
  list(): Promise<StoredDapp[]>;
  /** Throws `not_found`. */
  get(dappId: string): Promise<StoredDapp>;
  /** The dapp's keys, revoked ones included. */
  keys(dappId: string): Promise<KeyView[]>;
  /** Throws `invalid_parameter` for a name that {@link parseName} refuses; an empty one is none. */
  addKey(
    dappId: string,
    options?: { readonly name?: string; readonly dailyLimit?: number },
  ): Promise<LiveKeyView>;
  /** Revokes a key at once and erases it; throws `not_found` when there is no live key with this id. */
  revokeKey(keyId: string): Promise<void>;
}

/**
 * Makes the directory over a store.
 *
 * @param sealingKey 32 bytes under which keys are kept for the Config Vars view.
 */
export function createDappDirectory(store: Store, sealingKey: Uint8Array): DappDirectory {
  const view = (key: StoredKey): KeyView => {
    const { id, createdAt, revokedAt, name, lastUsedAt, dailyLimit } = key;
    const apiKey = revokedAt === null ? Buffer.from(open(sealingKey, key.sealed, key.id)).toString() : null;
    return { id, apiKey, createdAt, revokedAt, name, lastUsedAt, dailyLimit };
  };
  const makeKey = (
    dappId: string,
    name = "",
    dailyLimit: number | null = null,
  ): { readonly stored: StoredKey; readonly view: LiveKeyView } => {
    const id = createId("key");
    const apiKey = createApiKey();
    const createdAt = Date.now();
    const sealed = seal(sealingKey, Buffer.from(apiKey), id);
    const fresh = { id, createdAt, revokedAt: null, name, lastUsedAt: null, dailyLimit };
    return { stored: { ...fresh, dappId, hash: hashApiKey(apiKey), sealed }, view: { ...fresh, apiKey } };
  };

  /** By key: when its use was noted last. */
  const noted = new Map<string, number>();
  const noteUse = (keyId: string): void => {
    const now = Date.now();
    if (now - (noted.get(keyId) ?? 0) < NOTED_EVERY_MS) return;
    noted.set(keyId, now);
    // Nobody waits for it, and what is lost is noted a minute later.
    noteKeyUse(store.db, keyId, now).catch(() => noted.delete(keyId));
  };

  return {
    async authenticate(apiKey) {
      if (!isApiKey(apiKey)) throw new UnauthenticatedError();
      const row = await store.db
        .selectFrom("api_keys")
        .innerJoin("dapps", "dapps.id", "api_keys.dapp_id")
        .select(["dapps.id", "dapps.name", "dapps.facilities", "api_keys.daily_limit"])
        .select(sql<string>`api_keys.id`.as("keyId"))
        .where("api_keys.hash", "=", hashApiKey(apiKey))
        .where("api_keys.revoked_at", "is", null)
        .where("dapps.deleted_at", "is", null)
        .executeTakeFirst();
      if (row === undefined) throw new UnauthenticatedError();
      noteUse(row.keyId);
      return {
        id: row.id,
        name: row.name,
        keyId: row.keyId,
        ...(row.daily_limit === null ? {} : { keyDailyLimit: row.daily_limit }),
        facilities: row.facilities.split(" ") as Facility[],
      };
    },
    async create(name, facilities = ALL_FACILITIES) {
      const dapp = { id: createId("dapp"), name: parseName(name), facilities, createdAt: Date.now() };
      const key = makeKey(dapp.id);
      await store.write(async (db) => {
        await insertDapp(db, dapp);
        await insertKey(db, key.stored);
      });
      return { dapp, key: key.view };
    },
    async rename(dappId, name) {
      if (!(await renameDapp(store.db, dappId, parseName(name))))
        throw new UnknownDappError(`dapp ${dappId}`);
    },
    async delete(dappId) {
      if (!(await deleteDapp(store, dappId, Date.now()))) throw new UnknownDappError(`dapp ${dappId}`);
    },
    list: () => listDapps(store.db),
    async get(dappId) {
      const dapp = (await listDapps(store.db)).find((one) => one.id === dappId);
      if (dapp === undefined) throw new UnknownDappError(`dapp ${dappId}`);
      return dapp;
    },
    keys: async (dappId) => (await listKeys(store.db, dappId)).map(view),
    async addKey(dappId, { name = "", dailyLimit } = {}) {
      const key = makeKey(dappId, name.trim() === "" ? "" : parseName(name), dailyLimit);
      await store.write((db) => insertKey(db, key.stored));
      return key.view;
    },
    async revokeKey(keyId) {
      if (!(await revokeKey(store, keyId, Date.now()))) throw new UnknownDappError(`live key ${keyId}`);
    },
  };
}

/** The key is missing, malformed, unknown or revoked. */
export class UnauthenticatedError extends TycheError {
  constructor() {
    super("the API key is missing, unknown or revoked; send it in the Authorization header", {
      code: "unauthenticated",
      blame: "caller",
    });
  }
}

/** There is no such dapp, or key of a dapp. */
export class UnknownDappError extends TycheError {
  constructor(what: string) {
    super(`there is no ${what}`, { code: "not_found", blame: "caller" });
  }
}
