import { existsSync } from "node:fs";
import { NETWORK_NAMES } from "../../networks/profiles.ts";
import { TycheError } from "../../lib/errors.ts";
import { deriveKey, open } from "../../lib/seal.ts";
import { readConfigVars, type ConfigVars, readDeployment } from "../../dapps/configVars.ts";
import { createDappDirectory, type DappDirectory } from "../../dapps/dapps.ts";
import { assertKeys, bindKeys } from "../../dapps/apiKey.ts";
import { findDapp, type StoredDapp } from "../../dapps/findDapp.ts";
import {
  findServer,
  openFile,
  openServer,
  type DatabaseServer,
  type OpenDatabase,
  type SharedDatabase,
} from "../../store/openDatabase.ts";
import { listChainNames } from "../../store/chainRecords.ts";
import { findKeyFingerprint, listKeys, saveKeyFingerprint } from "../../store/dapps.ts";
import { DataDirectoryError, openDataDirectory, type DataDirectory } from "../../store/dataDirectory.ts";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import { fingerprintOf } from "../../store/masterKey.ts";
import type { Migrated, Store } from "../../store/store.ts";

/** The command line's operations on a data directory, whether or not a service runs on it. */
export interface DappTools {
  readonly dapps: DappDirectory;
  /** Finds a dapp by its id or name; see {@link findDapp}. */
  find(idOrName: string | undefined): Promise<StoredDapp>;
  configVars(dappId: string): Promise<ConfigVars>;
  /** The networks that were ever started from here. */
  networks(): Promise<readonly NetworkSummary[]>;
  close(): Promise<void>;
}

/** A network as the data directory knows it. */
export interface NetworkSummary {
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Absent if the operator supplies the URL. */
  readonly rpcUrl?: string;
  readonly contracts: Readonly<Record<string, string>>;
}

/** Opens a service's state beside it. `masterKey`: the master key, if it is kept outside the data directory. */
export async function openDappTools(dataDir: string, masterKey?: OutsideSecret): Promise<DappTools> {
  if (!existsSync(dataDir)) {
    throw new TycheError(
      `there is no data directory ${dataDir} yet; start the service once, or name another in TYCHE_DATA_DIR`,
      {
        code: "data_dir_unusable",
        blame: "caller",
      },
    );
  }
  const directory = openDataDirectory(dataDir, { exclusive: false, masterKey });
  const { store, dapps } = await openDapps(directory, { server: findServer(dataDir, process.env) });
  return {
    dapps,
    find: (idOrName) => findDapp(dapps, idOrName),
    configVars: async (dappId) => readConfigVars(store, dapps, dappId, await listNetworks(store)),
    networks: async () =>
      Promise.all(
        (await listChainNames(store.db)).map(async (name): Promise<NetworkSummary> => {
          const { chainId, title, rpcUrl, contracts } = await readDeployment(store, name);
          return { name, title, chainId, contracts, ...(rpcUrl === undefined ? {} : { rpcUrl }) };
        }),
      ),
    close: () => store.close(),
  };
}

/** Returns the networks that were ever served from here; before the first start, those embedded by default. */
async function listNetworks(store: Store): Promise<readonly string[]> {
  const served = await listChainNames(store.db);
  if (served.length === 0) return NETWORK_NAMES;
  return [...new Set<string>([...NETWORK_NAMES, ...served])].filter((name) => served.includes(name));
}

/**
 * Opens the database of a data directory, and the dapps in it.
 *
 * @param options.onFatal for the process that serves: called with one sentence when the database can no longer be relied on. If given, a
 * file is checked as a whole, and on a server's database the process is one of the replicas.
 * @param options.onWarning called with one sentence when a server's database goes away and when it is back.
 * @param options.onMigrated called when the database of an earlier version was migrated.
 * @param options.server the server, if the database is on one. Default: the database is a file in the directory.
 * @throws {StoreError} `store_unusable` when it is damaged or can't be opened, or an API key in it isn't this service's, and {@link DataDirectoryError} when the master key belongs
 * to another database.
 */
export async function openDapps(
  directory: DataDirectory,
  options: {
    readonly onFatal?: (message: string) => void;
    readonly onWarning?: (message: string) => void;
    readonly onMigrated?: ((migrated: Migrated) => void) | undefined;
    readonly server?: DatabaseServer | undefined;
  } = {},
): Promise<{
  readonly store: Store;
  readonly dapps: DappDirectory;
  readonly replicas?: SharedDatabase | undefined;
}> {
  const { onFatal, onWarning, onMigrated, server } = options;
  const { store, name, replicas } =
    server === undefined
      ? await openFile(directory, onFatal)
      : await openServer(directory, server, onFatal, onWarning);
  const { migrated } = store;
  if (migrated.from !== undefined && migrated.names.length > 0) onMigrated?.(migrated);
  const sealingKey = deriveKey(directory.masterKey, "api keys");
  try {
    await assertOwnKey({ store, name }, directory, sealingKey);
    await bindKeys(store, sealingKey);
    if (onFatal !== undefined) await assertKeys({ store, name }, sealingKey);
  } catch (error) {
    await store.close();
    throw error;
  }
  return { store, dapps: createDappDirectory(store, sealingKey), replicas };
}

/** Refuses a master key that this database was not created with: its sealed data would be lost, and every account would be a different one. */
async function assertOwnKey(
  { store, name }: OpenDatabase,
  directory: DataDirectory,
  sealingKey: Uint8Array,
): Promise<void> {
  const present = fingerprintOf(directory.masterKey);
  const noted = await findKeyFingerprint(store.db);
  const isOwn = noted === undefined ? await canOpenKeys(store, sealingKey) : noted === present;
  if (!isOwn)
    throw new DataDirectoryError(
      `the master key is not the one that ${name} was made with; put the right one back, or the database that belongs to it`,
    );
  if (noted === undefined) await saveKeyFingerprint(store.db, present);
}

/** Whether the key opens a database that predates fingerprints. */
async function canOpenKeys(store: Store, sealingKey: Uint8Array): Promise<boolean> {
  const sealed = (await listKeys(store.db)).find(({ revokedAt }) => revokedAt === null);
  if (sealed === undefined) return true;
  try {
    open(sealingKey, sealed.sealed, sealed.id);
    return true;
  } catch {
    return false;
  }
}
