import { existsSync } from "node:fs";
import { NETWORK_NAMES, NETWORKS } from "./chain/networks.ts";
import { TycheError } from "./lib/errors.ts";
import { deriveKey } from "./lib/secrets.ts";
import { readConfigVars } from "./service/configVars.ts";
import type { ConfigVars } from "./service/configVars.ts";
import { createDappDirectory } from "./service/dapps.ts";
import type { DappDirectory } from "./service/dapps.ts";
import { findChain } from "./store/chainRecords.ts";
import { openDataDirectory } from "./store/dataDirectory.ts";
import type { DataDirectory } from "./store/dataDirectory.ts";
import { createSqliteDialect } from "./store/sqliteDialect.ts";
import { openStore } from "./store/store.ts";
import type { Store } from "./store/store.ts";

/** What the command line does with a data directory, whether a service runs on it or not. */
export interface DappTools {
  readonly dapps: DappDirectory;
  configVars(dappId: string): Promise<ConfigVars>;
  networks(): Promise<readonly NetworkSummary[]>;
  close(): Promise<void>;
}

/** A network as the data directory knows it. */
export interface NetworkSummary {
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Absent until the first start of the service. */
  readonly rpcUrl?: string;
  readonly contracts: Readonly<Record<string, string>>;
}

/** Opens the state of a service beside it. */
export async function openDappTools(dataDir: string): Promise<DappTools> {
  if (!existsSync(dataDir)) {
    throw new TycheError(
      `there is no data directory ${dataDir} yet; start the service once, or name another in TYCHE_DATA_DIR`,
      {
        code: "data_dir_unusable",
        blame: "caller",
      },
    );
  }
  const directory = openDataDirectory(dataDir, { exclusive: false });
  const { store, dapps } = await openDapps(directory);
  return {
    dapps,
    configVars: (dappId) => readConfigVars(store, dapps, dappId, NETWORK_NAMES),
    networks: () =>
      Promise.all(
        NETWORK_NAMES.map(async (name): Promise<NetworkSummary> => {
          const { title, chainId } = NETWORKS[name];
          const chain = await findChain(store.db, name);
          const { port, contracts = {} } = (chain?.deployment ?? {}) as {
            port?: number;
            contracts?: Record<string, string>;
          };
          return {
            name,
            title,
            chainId,
            contracts,
            ...(port === undefined ? {} : { rpcUrl: `http://127.0.0.1:${port}` }),
          };
        }),
      ),
    close: () => store.close(),
  };
}

/**
 * Opens the database of a data directory, and the dapps in it.
 *
 * @param onFatal told, in one sentence, when the database can't be relied on any more.
 */
export async function openDapps(
  directory: DataDirectory,
  onFatal: (message: string) => void = () => {},
): Promise<{ readonly store: Store; readonly dapps: DappDirectory }> {
  const file = directory.file("tyche.sqlite");
  const store = await openStore(
    createSqliteDialect(file, (reason) => onFatal(`the database ${file} can't be used any more: ${reason}`)),
  );
  return { store, dapps: createDappDirectory(store, deriveKey(directory.masterKey, "api keys")) };
}
