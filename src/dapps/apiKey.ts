import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { open, seal } from "../lib/seal.ts";
import { listKeys, updateKey, type StoredKey } from "../store/dapps.ts";
import { findSetting, saveSetting } from "../store/settings.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/storeErrors.ts";

/** Random bytes of a key: 192 bits. */
const SECRET_BYTES = 24;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Base62 digits of 24 bytes (⌈192 / log2 62⌉) and of a CRC-32 (⌈32 / log2 62⌉). */
const SECRET_DIGITS = 33;
const CHECKSUM_DIGITS = 6;
const SHAPE = new RegExp(`^tyche_[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`);

/**
 * Generates an API key: `tyche_`, 192 random bits and their CRC-32 in base62. Secret scanners recognise its shape, and a typo is detected
 * without a lookup.
 */
export function createApiKey(): string {
  const secret = encodeBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`), SECRET_DIGITS);
  return `tyche_${secret}${checksumOf(secret)}`;
}

/** Whether a text has the shape of a key and a correct checksum. Doesn't check whether such a key exists. */
export function isApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const digits = text.slice("tyche_".length);
  return checksumOf(digits.slice(0, SECRET_DIGITS)) === digits.slice(SECRET_DIGITS);
}

/** Returns the SHA-256 of a key, 32 bytes: enough to look it up by, and useless to whoever reads it (a key has 192 random bits). */
export function hashApiKey(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

function checksumOf(secret: string): string {
  return encodeBase62(BigInt(crc32(secret)), CHECKSUM_DIGITS);
}

function encodeBase62(value: bigint, digits: number): string {
  let text = "";
  for (let left = value, i = 0; i < digits; i += 1, left /= 62n) text = ALPHABET[Number(left % 62n)] + text;
  return text;
}

/** What a key is sealed for: whoever can write the database, but lacks the master key, can neither insert a key nor change these of one. */
type KeyRow = Pick<StoredKey, "id" | "dappId" | "dailyLimit" | "access" | "expiresAt">;

/** Keys from before there were expiry and access are sealed for what they have had. */
function contextOf({ id, dappId, dailyLimit, access, expiresAt }: KeyRow): string {
  const first = `${id} ${dappId} ${dailyLimit ?? ""}`;
  return access === "full" && expiresAt === null ? first : `${first} ${access} ${expiresAt ?? ""}`;
}

/** Seals a key for its row. */
export function sealKey(sealingKey: Uint8Array, apiKey: string, row: KeyRow): Uint8Array {
  return seal(sealingKey, Buffer.from(apiKey), contextOf(row));
}

/** Returns the key that was sealed for a row; `undefined` if the row isn't as it was written under this sealing key. */
export function openKey(
  sealingKey: Uint8Array,
  row: KeyRow & Pick<StoredKey, "sealed" | "hash" | "previous">,
): string | undefined {
  const { sealed, hash, previous } = row;
  const apiKey = openIn(sealingKey, sealed, contextOf(row))?.toString();
  if (apiKey === undefined || Buffer.compare(hashApiKey(apiKey), hash) !== 0) return undefined;
  if (previous === null) return apiKey;
  const former = openIn(sealingKey, previous.sealed, previousContextOf(row, previous.until));
  return former !== undefined && Buffer.compare(former, previous.hash) === 0 ? apiKey : undefined;
}

type Previous = NonNullable<StoredKey["previous"]>;

const previousContextOf = (row: KeyRow, until: number): string => `${contextOf(row)} previous ${until}`;

/** Seals the hash of a key's former value, which stays valid for a while, for its row. */
export function sealPrevious(
  sealingKey: Uint8Array,
  { hash, until }: Pick<Previous, "hash" | "until">,
  row: KeyRow,
): Previous {
  return { hash, until, sealed: seal(sealingKey, hash, previousContextOf(row, until)) };
}

function openIn(sealingKey: Uint8Array, sealed: Uint8Array, context: string): Buffer | undefined {
  try {
    return Buffer.from(open(sealingKey, sealed, context));
  } catch {
    return undefined;
  }
}

/** Setting that says that all keys are sealed for their row. */
const BOUND_SETTING = "api keys are bound";

/** Seals the keys of a database from before keys were sealed for their row, once. They were sealed for their id alone. */
export async function bindKeys(store: Store, sealingKey: Uint8Array): Promise<void> {
  if ((await findSetting(store.db, BOUND_SETTING)) !== undefined) return;
  await store.write(async (db) => {
    for (const key of await listKeys(db)) {
      const apiKey = openIn(sealingKey, key.sealed, key.id)?.toString();
      if (apiKey !== undefined) await updateKey(db, key.id, { sealed: sealKey(sealingKey, apiKey, key) });
    }
    await saveSetting(db, BOUND_SETTING, "yes");
  });
}

/**
 * Checks every live key.
 *
 * @throws {StoreError} when the row of one isn't as the service wrote it.
 */
export async function assertKeys(
  { store, name }: { readonly store: Store; readonly name: string },
  sealingKey: Uint8Array,
): Promise<void> {
  const live = (await listKeys(store.db)).filter(({ revokedAt }) => revokedAt === null);
  const strange = live.find((key) => openKey(sealingKey, key) === undefined);
  if (strange !== undefined) throw new StrangeKeyError(strange, name);
}

/** The row of a live key isn't as the service wrote it. */
export class StrangeKeyError extends StoreError {
  constructor({ id, dappId }: KeyRow, name: string) {
    super(
      `the API key ${id} of ${dappId} in ${name} was not written by this service, or was changed since; revoke it with tyche dapp revoke-key ${id}, or restore the database from a backup`,
    );
  }
}
