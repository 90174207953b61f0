import { type Closers, createClosers } from "./process/closers.ts";
import { isEmbedded } from "../config/embeddedNetworkSchema.ts";
import type { Logger } from "pino";
import { Registry, collectDefaultMetrics } from "prom-client";
import { createSandboxPool } from "../../sandbox/index.ts";
import { openDapps } from "./tools/dappTools.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { registerSandboxMetrics } from "../requests/observe/sandboxMetrics.ts";
import { createTransactionObserver } from "../requests/observe/transactionMetrics.ts";
import { readContractsFile } from "../networks/external/contractsFile.ts";
import { openDataDirectory } from "../store/dataDirectory.ts";
import type { Migrated, Store } from "../store/store.ts";
import type { Config } from "../config/configSchema.ts";
import type { ExternalNetworkConfig } from "../config/networkSchema.ts";
import { DATABASE_FILES, watchData } from "./process/dataWatch.ts";
import { createGateway } from "../oracle/secrets/gateway.ts";
import { profileOfExternal } from "./network/externalNetworks.ts";
import { listenError } from "./process/listenError.ts";
import { openSandboxNetwork } from "./process/openSandboxNetwork.ts";
import { serveOracleNetwork, type OracleNetwork } from "./oracle/oracleNetwork.ts";
import { listenForOracle, type OracleServer } from "./oracle/oracleServer.ts";
import { bindNode } from "./oracle/oracleParts.ts";
import { findOracleRole } from "./oracle/oracleRole.ts";
import { StartError } from "./startError.ts";

export interface OracleProcessOptions {
  readonly dataDir: string;
  readonly masterKey?: OutsideSecret | undefined;
  /** Its networks that have nodes of their own are served. */
  readonly config: Config;
  readonly log: Logger;
  /** Called with one sentence that says why the oracle can't continue: end the process at once. */
  readonly onFatal: (message: string) => void;
  /** Called when the database of an earlier version was migrated. */
  readonly onMigrated?: (migrated: Migrated) => void;
}

/** An oracle that runs in this process. */
export interface OracleProcess {
  /** Base URL of `/readyz` and `/metrics`, without a trailing slash. */
  readonly url: string;
  readonly networks: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts an oracle in its own process: with its own keys, data directory, nodes, checkpoint and sandbox. It shares with a service only
 * the chain, and messages about secrets. A network that is unreachable is retried.
 *
 * @throws {TycheError} with one sentence for whoever starts it.
 */
export async function startOracle(options: OracleProcessOptions): Promise<OracleProcess> {
  const closers = createClosers(options.log);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closers.closeAll());
  try {
    return { ...(await start(options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(options: OracleProcessOptions, closers: Closers): Promise<Omit<OracleProcess, "close">> {
  const { config, log, onFatal, onMigrated } = options;
  const external = Object.entries(config.networks).flatMap(([name, network]) =>
    isEmbedded(network) ? [] : [{ name, network }],
  );
  if (external.length === 0)
    throw new StartError(
      "the configuration names no network with rpcUrls; the oracle of embedded networks runs in the service's own process",
    );
  const directory = closers.own(
    openDataDirectory(options.dataDir, { exclusive: true, masterKey: options.masterKey }),
  );
  const { store } = await openDapps(directory, { onFatal, onMigrated });
  closers.own(store);
  const { hostCalls } = closers.own(openSandboxNetwork(config.sandbox, directory));
  const pool = closers.own(
    createSandboxPool({ onWarning: (message) => log.warn(message), hostCalls, ...config.sandbox }),
  );

  const role = findOracleRole(directory);
  if (role?.role === "node") await bindNodes(store, external);

  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerSandboxMetrics(registry, pool);
  const onTransaction = createTransactionObserver(registry);
  const networks: OracleNetwork[] = external.map(({ name, network }) =>
    serveOracleNetwork({
      name,
      config: network,
      masterKey: directory.masterKey,
      store,
      pool,
      log: log.child({ network: name }),
      onTransaction,
      allowHosts: config.sandbox.allowHosts,
      role,
    }),
  );
  closers.add(async () => {
    await Promise.all(networks.map((network) => network.close()));
  });
  const server: OracleServer = await listenForOracle({
    host: config.host,
    port: config.port,
    registry,
    networks,
    gateway: createGateway({
      find: (donId) => networks.flatMap((one) => (one.donId === donId ? (one.gateway() ?? []) : [])),
      onError: (error) => log.warn({ err: error }, "a message about secrets could not be answered"),
    }),
    sandbox: () => pool.status(),
    trustProxy: config.trustProxy,
  }).catch((error: unknown) => {
    throw listenError(error, config);
  });
  closers.own(server);
  closers.add(
    await watchData({
      directory: directory.path,
      files: [...DATABASE_FILES, "lock"],
      chains: [],
      onFatal(message) {
        store.checkpoint();
        onFatal(message);
      },
    }),
  );
  return { url: server.url, networks: external.map(({ name }) => name) };
}

/** Ensures that no key of a node signs for two networks, before it signs anything. */
async function bindNodes(
  store: Store,
  networks: readonly { readonly name: string; readonly network: ExternalNetworkConfig }[],
): Promise<void> {
  for (const { name, network } of networks) {
    // Without the file, the chain provides its first block, and the node is bound once it answers.
    if (network.contracts === undefined) continue;
    const { chainId } = profileOfExternal(name, network);
    await bindNode(store, readContractsFile(network.contracts, { network: name, chainId }), name);
  }
}
