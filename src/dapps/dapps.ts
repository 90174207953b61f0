import { FACILITIES, type Beacon, type Facility } from "../domain/vocabulary.ts";
import { createId } from "../domain/id.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import {
  deleteDapp,
  findDappByName,
  insertDapp,
  listDapps,
  updateDapp,
  type StoredDapp,
} from "../store/dapps.ts";
import type { Queryable } from "../store/queryable.ts";
import type { Store } from "../store/store.ts";
import { createDappKeys, type CreationOptions, type DappKeys, type LiveKeyView } from "./keys.ts";
import { parseName } from "../domain/names.ts";

/** Name of the dapp that the first start creates. Nobody chose it, so it names no organiser. */
export const FIRST_DAPP_NAME = "default";

/** The dapps and their keys. */
export interface DappDirectory extends DappKeys {
  /** Throws `invalid_parameter` for a name that {@link parseName} refuses, and `name_taken` for another dapp's, in any case. */
  create(
    name: string,
    facilities?: readonly Facility[],
    options?: CreationOptions,
  ): Promise<{ readonly dapp: StoredDapp; readonly key: LiveKeyView }>;
  /** Changes what is given; `beacon: null`: what the network's presets wait for. Throws `not_found`, and as {@link create} does. */
  change(
    dappId: string,
    change: {
      readonly name?: string | undefined;
      readonly facilities?: readonly Facility[] | undefined;
      readonly beacon?: Beacon | null | undefined;
    },
  ): Promise<StoredDapp>;
  /**
   * Deletes a dapp: its keys are revoked and erased at once. Its requests, including those in progress, and its usage stay. Throws
   * `not_found`.
   */
  delete(dappId: string): Promise<void>;
  list(): Promise<StoredDapp[]>;
  /** Throws `not_found`. */
  get(dappId: string): Promise<StoredDapp>;
}

/**
 * Creates the directory over a store.
 *
 * @param sealingKey 32 bytes under which keys are sealed for the Config Vars view.
 */
export function createDappDirectory(store: Store, sealingKey: Uint8Array): DappDirectory {
  const { keys, createFirst } = createDappKeys(store, sealingKey);
  const get = async (dappId: string): Promise<StoredDapp> => {
    const dapp = (await listDapps(store.db)).find((one) => one.id === dappId);
    if (dapp === undefined) throw new NotFoundError(`dapp ${dappId}`);
    return dapp;
  };

  return {
    ...keys,
    async create(name, facilities = FACILITIES, options = {}) {
      const dapp = { id: createId("dapp"), name: parseName(name), facilities, createdAt: Date.now() };
      const { dappId, key } = await createFirst(dapp, options, async (db) => {
        await assertFree(db, dapp.name);
        await insertDapp(db, dapp);
      });
      return { dapp: dappId === dapp.id ? dapp : await get(dappId), key };
    },
    async change(dappId, { name, facilities, beacon }) {
      const wanted = name === undefined ? undefined : parseName(name);
      const allowed = facilities && FACILITIES.filter((one) => facilities.includes(one));
      const changed = await store.write(async (db) => {
        if (wanted !== undefined) await assertFree(db, wanted, dappId);
        return await updateDapp(db, dappId, { name: wanted, facilities: allowed, beacon });
      });
      if (changed === undefined) throw new NotFoundError(`dapp ${dappId}`);
      return changed;
    },
    async delete(dappId) {
      if (!(await deleteDapp(store, dappId, Date.now()))) throw new NotFoundError(`dapp ${dappId}`);
    },
    list: () => listDapps(store.db),
    get,
  };
}

/** Throws `name_taken` if another dapp than `dappId` has the name. */
async function assertFree(db: Queryable, name: string, dappId?: string): Promise<void> {
  const taken = await findDappByName(db, name);
  if (taken !== undefined && taken.id !== dappId)
    throw new TycheError(
      `there is a dapp named ${JSON.stringify(taken.name)}, and upper and lower case are the same; choose another name`,
      { code: "name_taken", blame: "caller" },
    );
}
