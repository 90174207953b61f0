import { hashApiKey } from "./apiKey.ts";
import { open, seal } from "../lib/secrets.ts";
import { listKeys, updateSealedKey, type StoredKey } from "../store/dapps.ts";
import { findSetting, saveSetting } from "../store/settings.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/storeErrors.ts";

/** What a key is sealed for: whoever can write the database, but lacks the master key, can neither insert a key nor change these of one. */
type KeyRow = Pick<StoredKey, "id" | "dappId" | "dailyLimit">;

const contextOf = ({ id, dappId, dailyLimit }: KeyRow): string => `${id} ${dappId} ${dailyLimit ?? ""}`;

/** Seals a key for its row. */
export function sealKey(sealingKey: Uint8Array, apiKey: string, row: KeyRow): Uint8Array {
  return seal(sealingKey, Buffer.from(apiKey), contextOf(row));
}

/** Returns the key that was sealed for a row; `undefined` if the row isn't as it was written under this sealing key. */
export function openKey(
  sealingKey: Uint8Array,
  row: KeyRow & Pick<StoredKey, "sealed" | "hash">,
): string | undefined {
  const apiKey = openIn(sealingKey, row.sealed, contextOf(row));
  return apiKey !== undefined && Buffer.compare(hashApiKey(apiKey), row.hash) === 0 ? apiKey : undefined;
}

function openIn(sealingKey: Uint8Array, sealed: Uint8Array, context: string): string | undefined {
  try {
    return Buffer.from(open(sealingKey, sealed, context)).toString();
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
      const apiKey = openIn(sealingKey, key.sealed, key.id);
      if (apiKey !== undefined) await updateSealedKey(db, key.id, sealKey(sealingKey, apiKey, key));
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
