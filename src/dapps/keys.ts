import { OVERLAP_HOURS, type Facility, type KeyAccess } from "../domain/vocabulary.ts";
import { createId } from "../domain/id.ts";
import { isUsableKey } from "../domain/usableKey.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import {
  findCreation,
  findKeyByHash,
  insertKey,
  listDapps,
  listKeys,
  lockAll,
  noteKeyUse,
  revokeKey,
  updateKey,
  type Creation,
  type StoredDapp,
  type StoredKey,
} from "../store/dapps.ts";
import type { Queryable } from "../store/queryable.ts";
import type { Store } from "../store/store.ts";
import { dayOf } from "../store/usage.ts";
import {
  createApiKey,
  hashApiKey,
  isApiKey,
  openKey,
  sealKey,
  sealPrevious,
  StrangeKeyError,
} from "./apiKey.ts";
import type { Dapp } from "./dapp.ts";
import { hashBody, IdempotencyConflictError } from "./idempotency.ts";
import { parseOptionalName } from "../domain/names.ts";

/** Name of the key that a dapp is created with. */
const FIRST_KEY = "first key";

/** Minimum interval between records of a key's use. */
const NOTED_EVERY_MS = 60_000;

const HOUR_MS = 3_600_000;

/** A key as its owner sees it. */
export interface KeyView {
  readonly id: string;
  /** The key itself; `null` once it is revoked, which erases it. */
  readonly apiKey: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** Name given by the owner; may be empty. */
  readonly name: string;
  /** When it was last used, to the minute. */
  readonly lastUsedAt: number | null;
  /** Requests that calls with it may make per day (UTC); `null` for no limit. */
  readonly dailyLimit: number | null;
  /** Requests that it has made today (UTC); `null` without a limit. */
  readonly requestsToday: number | null;
  readonly access: KeyAccess;
  /** When calls with it begin to be refused; `null` for never. */
  readonly expiresAt: number | null;
  /** Until when the value before the last rotation is valid, too; `null` if only one is. */
  readonly previousUntil: number | null;
}

/** A key that is not revoked. */
export type LiveKeyView = KeyView & { readonly apiKey: string };

/** What its owner sets of a key. */
export interface KeySettings {
  /** Default: none. */
  readonly name?: string | undefined;
  /** Default: no limit. */
  readonly dailyLimit?: number | null | undefined;
  /** Unix time in milliseconds. Default: never. */
  readonly expiresAt?: number | null | undefined;
}

/** Options of calls that create something. */
export interface CreationOptions {
  /**
   * A repeated call with the same key returns what the first one created. Throws `idempotency_conflict` if its parameters differ, and
   * `not_found` if what it created has been deleted or revoked since.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The API keys of dapps. */
export interface DappKeys {
  /** Throws `unauthenticated` for any text that isn't a live key, and `key_expired` for one that was. */
  authenticate(apiKey: string): Promise<Dapp>;
  /**
   * Returns the dapp as a call with its key would act, or as the operator would for it if `keyId` is `null`; `undefined` once the key is
   * revoked or has expired, or the dapp is deleted.
   */
  findActing(dappId: string, keyId: string | null): Promise<Dapp | undefined>;
  /** Returns the dapp's keys, including revoked ones. */
  keys(dappId: string): Promise<KeyView[]>;
  /** Throws `invalid_parameter` for a name that {@link parseOptionalName} refuses, and for an expiry that has passed; an empty name means none. */
  addKey(
    dappId: string,
    options?: CreationOptions & KeySettings & { readonly access?: KeyAccess | undefined },
  ): Promise<LiveKeyView>;
  /**
   * Changes what is given; `null` ends a limit or an expiry. Throws `invalid_parameter` as {@link addKey} does, and `not_found` when there
   * is no live key with this id.
   */
  changeKey(keyId: string, change: KeySettings): Promise<KeyView>;
  /**
   * Gives a key a new value. The present one stays valid for `overlapHours` (0: not at all; default 24), and the one before it no longer.
   * Throws `not_found` when there is no live key with this id.
   */
  rotateKey(keyId: string, options?: { readonly overlapHours?: number | undefined }): Promise<LiveKeyView>;
  /** Revokes a key at once and erases it; throws `not_found` when there is no live key with this id. */
  revokeKey(keyId: string): Promise<void>;
}

/**
 * Creates the keys over a store.
 *
 * @param sealingKey 32 bytes under which keys are sealed for the Config Vars view.
 */
export function createDappKeys(store: Store, sealingKey: Uint8Array) {
  const view = (key: StoredKey): KeyView => {
    const { id, createdAt, revokedAt, name, lastUsedAt, dailyLimit, access, expiresAt, previous } = key;
    const apiKey = revokedAt === null ? openKey(sealingKey, key) : null;
    if (apiKey === undefined) throw new StrangeKeyError(key, "the database");
    const now = Date.now();
    const dayRequests = key.countedDay === dayOf(now) ? key.dayRequests : 0;
    return {
      id,
      apiKey,
      createdAt,
      revokedAt,
      name,
      lastUsedAt,
      dailyLimit,
      access,
      expiresAt,
      requestsToday: dailyLimit === null ? null : dayRequests,
      previousUntil: previous !== null && previous.until > now ? previous.until : null,
    };
  };
  const viewLive = (key: StoredKey, apiKey: string): LiveKeyView => ({ ...view(key), apiKey });
  const makeKey = (
    dappId: string,
    settings: KeySettings & { readonly access?: KeyAccess | undefined },
  ): { readonly stored: StoredKey; readonly view: LiveKeyView } => {
    const { name = "", dailyLimit = null, expiresAt = null, access = "full" } = settings;
    const apiKey = createApiKey();
    const row = { id: createId("key"), dappId, dailyLimit, access, expiresAt };
    const stored: StoredKey = {
      ...row,
      name,
      hash: hashApiKey(apiKey),
      sealed: sealKey(sealingKey, apiKey, row),
      createdAt: Date.now(),
      revokedAt: null,
      lastUsedAt: null,
      countedDay: null,
      dayRequests: 0,
      previous: null,
    };
    return { stored, view: viewLive(stored, apiKey) };
  };
  /** Changes a live key in a transaction; `change` returns its row as it is to be, and the value that it is to have. */
  const changeLive = async (
    db: Queryable,
    keyId: string,
    change: (key: StoredKey, apiKey: string) => { readonly key: StoredKey; readonly apiKey: string },
  ): Promise<LiveKeyView> => {
    // Of two changes at the same time, the second builds on the first.
    await lockAll(db);
    const key = (await listKeys(db)).find(({ id, revokedAt }) => id === keyId && revokedAt === null);
    const present = key && openKey(sealingKey, key);
    if (key === undefined || present === undefined) throw new UnknownKeyError(keyId);
    const { key: next, apiKey } = change(key, present);
    const sealed = sealKey(sealingKey, apiKey, next);
    const previous = next.previous && sealPrevious(sealingKey, next.previous, next);
    const isChanged = await updateKey(db, keyId, {
      name: next.name,
      daily_limit: next.dailyLimit,
      expires_at: next.expiresAt,
      hash: next.hash,
      sealed,
      previous_hash: previous?.hash ?? null,
      previous_sealed: previous?.sealed ?? null,
      previous_until: previous?.until ?? null,
    });
    if (!isChanged) throw new UnknownKeyError(keyId);
    return viewLive({ ...next, sealed, previous }, apiKey);
  };

  /** Finds what an earlier call with the same idempotency key created. */
  const findCreated = async (creation: Creation | undefined) => {
    if (creation === undefined) return undefined;
    const found = await findCreation(store.db, creation.key);
    if (found === undefined) return undefined;
    if (found.bodyHash !== creation.bodyHash) throw new IdempotencyConflictError(idempotencyKeyOf(creation));
    const stored = (await listKeys(store.db, found.dappId)).find(({ id }) => id === found.keyId);
    const key = stored && view(stored);
    if (!key || key.apiKey === null) throw new NotFoundError(`live key ${found.keyId}`);
    return { dappId: found.dappId, key: { ...key, apiKey: key.apiKey } };
  };
  const createOnce = async (
    creation: Creation | undefined,
    key: { readonly stored: StoredKey; readonly view: LiveKeyView },
    insertFirst: (db: Queryable) => Promise<void> = async () => {},
  ): Promise<{ readonly dappId: string; readonly key: LiveKeyView }> => {
    const earlier = await findCreated(creation);
    if (earlier !== undefined) return earlier;
    try {
      await store.write(async (db) => {
        await insertFirst(db);
        await insertKey(db, key.stored, creation);
      });
    } catch (error) {
      // Of two concurrent calls with the same key, the first to be stored answers both. After a lost connection, this one may be stored.
      const first = await findCreated(creation);
      if (first === undefined) throw error;
      return first;
    }
    return { dappId: key.stored.dappId, key: key.view };
  };

  /** By key: when its use was last recorded, by `performance.now()`. */
  const noted = new Map<string, number>();
  const noteUse = (keyId: string): void => {
    const now = performance.now();
    if (now - (noted.get(keyId) ?? -Infinity) < NOTED_EVERY_MS) return;
    noted.set(keyId, now);
    // Nobody waits for it, and a lost record is made up for a minute later.
    noteKeyUse(store.db, keyId, Date.now()).catch(() => noted.delete(keyId));
  };

  const keys: DappKeys = {
    async authenticate(apiKey) {
      if (!isApiKey(apiKey)) throw new UnauthenticatedError(apiKey);
      const hash = hashApiKey(apiKey);
      const found = await findKeyByHash(store.db, hash);
      if (found === undefined) throw new UnauthenticatedError(apiKey);
      const { key, dapp } = found;
      const former = Buffer.compare(key.hash, hash) === 0 ? null : key.previous;
      // The hash finds the row; only what is sealed in it proves that the service made it.
      if (openKey(sealingKey, key) === undefined) throw new UnauthenticatedError(apiKey);
      if (!isUsableKey(key)) throw new KeyExpiredError(key.id, { expiredAt: key.expiresAt! });
      if (former !== null && former.until <= Date.now())
        throw new KeyExpiredError(key.id, { replacedUntil: former.until });
      noteUse(key.id);
      return { ...actAs(dapp), ...limitsOf(key), keyName: key.name };
    },
    async findActing(dappId, keyId) {
      const dapp = (await listDapps(store.db)).find(({ id }) => id === dappId);
      if (dapp === undefined) return undefined;
      if (keyId === null) return { ...actAs(dapp), keyId: "operator" };
      const key = (await listKeys(store.db, dappId)).find((one) => one.id === keyId && isUsableKey(one));
      // Only what is sealed proves that the service set the limit.
      if (key === undefined || openKey(sealingKey, key) === undefined) return undefined;
      return { ...actAs(dapp), ...limitsOf(key) };
    },
    keys: async (dappId) => (await listKeys(store.db, dappId)).map(view),
    async addKey(dappId, { idempotencyKey, access, ...given } = {}) {
      const settings = { name: "", ...parseSettings(given), access };
      const { name, dailyLimit, expiresAt } = settings;
      // A hash leaves out what is undefined: bodies without the newer settings have the hash that they always had.
      const creation = creationOf(dappId, idempotencyKey, { name, dailyLimit, expiresAt, access });
      return (await createOnce(creation, makeKey(dappId, settings))).key;
    },
    async changeKey(keyId, change) {
      const settings = parseSettings(change);
      return await store.write((db) =>
        changeLive(db, keyId, (key, apiKey) => ({ key: { ...key, ...settings }, apiKey })),
      );
    },
    async rotateKey(keyId, { overlapHours = OVERLAP_HOURS } = {}) {
      const apiKey = createApiKey();
      return await store.erase(() =>
        store.write((db) =>
          changeLive(db, keyId, (key) => {
            const until = Date.now() + overlapHours * HOUR_MS;
            const previous = overlapHours === 0 ? null : { hash: key.hash, until, sealed: new Uint8Array() };
            return { key: { ...key, hash: hashApiKey(apiKey), previous }, apiKey };
          }),
        ),
      );
    },
    async revokeKey(keyId) {
      if (!(await revokeKey(store, keyId, Date.now()))) throw new UnknownKeyError(keyId);
    },
  };
  return {
    keys,
    /** Creates a dapp's first key, and in the same transaction the dapp; at most once per creation. Returns the key, and its dapp's id. */
    createFirst: (
      { id, name, facilities }: Pick<StoredDapp, "id" | "name" | "facilities">,
      { idempotencyKey }: CreationOptions,
      insert: (db: Queryable) => Promise<void>,
    ) =>
      createOnce(
        creationOf("", idempotencyKey, { name, facilities }),
        makeKey(id, { name: FIRST_KEY }),
        insert,
      ),
  };
}

/** What a dapp is to those who act for it. */
function actAs({ id, name, facilities, beacon }: StoredDapp): Omit<Dapp, "keyId"> {
  const own = { id, name, facilities: facilities as readonly Facility[] };
  return beacon === undefined ? own : { ...own, beacon };
}

/** What a key adds to that. */
function limitsOf({
  id,
  dailyLimit,
  access,
}: StoredKey): Pick<Dapp, "keyId" | "keyDailyLimit" | "keyAccess"> {
  const own = { keyId: id, keyAccess: access };
  return dailyLimit === null ? own : { ...own, keyDailyLimit: dailyLimit };
}

/** Parses what is given of a key's settings. */
function parseSettings({ name, dailyLimit, expiresAt }: KeySettings) {
  if (expiresAt !== undefined && expiresAt !== null && !(expiresAt > Date.now()))
    throw new InvalidParameterError([
      { path: "/expiresAt", message: "must be a time to come; to end a key now, revoke it" },
    ]);
  return {
    ...(name === undefined ? {} : { name: parseOptionalName(name) }),
    ...(dailyLimit === undefined ? {} : { dailyLimit }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** Idempotency keys have no blanks. Each dapp has its own for its keys; those for new dapps are the operator's. */
function creationOf(dappId: string, idempotencyKey: string | undefined, body: object): Creation | undefined {
  return idempotencyKey === undefined
    ? undefined
    : { key: `${dappId} ${idempotencyKey}`, bodyHash: hashBody(body) };
}

function idempotencyKeyOf({ key }: Creation): string {
  return key.slice(key.indexOf(" ") + 1);
}

/** No key was sent (an empty one counts as none), or the key is malformed, unknown or revoked. */
export class UnauthenticatedError extends TycheError {
  constructor(apiKey: string) {
    super(
      apiKey === ""
        ? "no API key was sent; send it in the Authorization header, as it is or after Bearer"
        : "the API key in the Authorization header is not known here: check that it is complete, not revoked, and a key of this service",
      { code: "unauthenticated", blame: "caller" },
    );
  }
}

/** A key, or its former value, was valid until a time (Unix ms) that has passed. */
export class KeyExpiredError extends TycheError {
  constructor(keyId: string, when: { readonly expiredAt: number } | { readonly replacedUntil: number }) {
    super(
      "expiredAt" in when
        ? `the API key ${keyId} expired at ${new Date(when.expiredAt).toISOString()}; an owner of the dapp can let it expire later, or add another key`
        : `the API key ${keyId} has a new value, and this one was valid until ${new Date(when.replacedUntil).toISOString()}; send the new one`,
      { code: "key_expired", blame: "caller" },
    );
  }
}

/** There is no live key with this id. */
export class UnknownKeyError extends NotFoundError {
  constructor(keyId: string) {
    super(
      // What isn't an id may be the key itself, which no message shows.
      keyId.startsWith("key_")
        ? `live key ${keyId}`
        : "key with this id: ids begin with key_, and tyche dapp config shows them",
    );
  }
}
