import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { createSandboxPool } from "../../sandbox/index.ts";
import { NETWORK_NAMES, PROFILE_NAMES } from "../networks/profiles.ts";
import { openDapps } from "./tools/dappTools.ts";
import { parseDays, parseKeep } from "../config/keepSchema.ts";
import { drandChainOf } from "../config/beaconSchema.ts";
import { isEmbedded } from "../config/embeddedNetworkSchema.ts";
import { parseRpcOrigins } from "../networks/embedded/rpc/rpcAccess.ts";
import { parsePublicUrl } from "../config/publicUrl.ts";
import type { Config } from "../config/configSchema.ts";
import { type Closers, createClosers } from "./process/closers.ts";
import { DATABASE_FILES, watchData } from "./process/dataWatch.ts";
import { findDatabaseServer, openIdentityProvider } from "./process/fromEnvironment.ts";
import { assertFreePort, listenError } from "./process/listenError.ts";
import { createMetrics } from "./process/metrics.ts";
import { repeat } from "../lib/repeat.ts";
import { drandChainHash } from "../beacon/drand.ts";
import { StartError } from "./startError.ts";
import { ensureDefaultDapp, ensureOperatorToken } from "./process/firstSecrets.ts";
import { checkAbandoned, openReplica } from "./process/openReplica.ts";
import { openRegistry } from "./process/openRegistry.ts";
import { openSandboxNetwork } from "./process/openSandboxNetwork.ts";
import { openShared } from "./process/openShared.ts";
import { createActionChecks, openLogTriggers, openSchedules } from "./process/openTriggers.ts";
import { openWebhooks } from "./process/openWebhooks.ts";
import { startNetworks, type DownNetworks, type StartedNetwork } from "./startNetworks.ts";
import { createNetwork } from "./network/createNetwork.ts";
import type { ServedNetwork } from "./network/servedNetwork.ts";
import { type HttpServer, startHttp } from "../http/server.ts";
import { readJsonBody } from "../http/body.ts";
import { createLiveSchemas } from "../http/liveSchemas.ts";
import type { OperatorPart } from "../http/operatorPart.ts";
import { createPublicGuard } from "../http/publicGuard.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { readChainConsumers } from "../dapps/chainConsumers.ts";
import { readDappBalances } from "../dapps/balances.ts";
import { readConfigVars } from "../dapps/configVars.ts";
import { createGateway } from "../oracle/secrets/gateway.ts";
import { createPeople } from "../people/people.ts";
import { createLateBeacons } from "../requests/lateBeacons.ts";
import { createService } from "../requests/createService.ts";
import { withOwnErrors } from "../requests/accept/sandboxRuns.ts";
import { readChainResult } from "../presets/readResult.ts";
import { createChainExplorer } from "../explorer/explorer.ts";
import { createDamagedRequests } from "../requests/keep/damagedRequests.ts";
import { createRequestOutbox } from "../requests/follow/requestOutbox.ts";
import { createRequestBook } from "../requests/requestBook.ts";
import { readLastBackup } from "../store/backupNote.ts";
import { MARKER, openDataDirectory } from "../store/dataDirectory.ts";
import type { Migrated } from "../store/store.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { getVerifierPage } from "./verifierPage.ts";
import { findPresetNames } from "../presets/presetNames.ts";
import type { Keep } from "../store/retention.ts";
import { createVerifier } from "../verify/verifier.ts";
import { createSourceRunner } from "./tools/runSource.ts";
import { createWebApp } from "../web/app.ts";

/** Interval between deletions of secrets that were replaced an hour ago. */
const REPLACED_SECRETS_INTERVAL_MS = 60_000;

export interface TycheOptions {
  readonly dataDir: string;
  /** The master key, if it is kept outside the data directory; then neither it nor the default dapp's key is written there. */
  readonly masterKey?: OutsideSecret | undefined;
  /** The token that signs in to the application, if it is kept outside the data directory. Default: the file `operator-token` in it. */
  readonly operatorToken?: OutsideSecret | undefined;
  /** Host, port, limits and networks; see `configSchema.ts` for each member. */
  readonly config: Config;
  /** Networks whose chain may be newer than the database, as after restoring the two from different times. Default none. */
  readonly acceptChains?: readonly string[];
  readonly log: Logger;
  /**
   * Called with one sentence that says why the service can't continue: its database is gone, damaged or full. Nothing that could not be
   * stored may be announced, so end the process at once, right here. A later start resumes from what is stored. Default: nothing.
   */
  readonly onFatal?: (message: string) => void;
  /** Called when the database of an earlier version was migrated. */
  readonly onMigrated?: (migrated: Migrated) => void;
  /** Called for each network as it starts to serve. */
  readonly onNetwork?: (network: StartedNetwork) => void;
  /** Called for each network that can't be started. */
  readonly onDown?: (name: string) => void;
}

/** A running service. */
export interface Tyche {
  /** Base URL for callers, without a trailing slash: `publicUrl` of the configuration if there is one, else `localUrl`. */
  readonly url: string;
  /** Base URL for this machine: the address listened on, or a loopback address if that is unspecified (0.0.0.0 or `::`). */
  readonly localUrl: string;
  /** A live key of the default dapp. */
  readonly apiKey: string;
  /** File that holds it; absent where the data directory holds no secrets. */
  readonly apiKeyFile?: string;
  /** Opens the application, once. Secret. */
  readonly signInLink: string;
  /** File with the token that signs in to the application, or the variable that it came from. */
  readonly operatorTokenAt: string;
  /** Networks that serve, each with the RPC URL for users' tools if there is one. */
  readonly networks: readonly { readonly name: string; readonly rpcUrl?: string }[];
  /** Networks that could not be started. */
  readonly down: DownNetworks;
  /** Finishes what is in flight, then ends everything it started; idempotent. */
  close(): Promise<void>;
}

/**
 * Starts everything in this process: store, sandbox, embedded chains, oracle, API. Resolves when every network that can serve does; one
 * that can't says why in its readiness.
 *
 * @throws {TycheError} with one sentence for whoever starts it, also when no network can be started; nothing is left running then.
 */
export async function startTyche(options: TycheOptions): Promise<Tyche> {
  const closers = createClosers(options.log);
  try {
    return await start(options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function start(options: TycheOptions, closers: Closers): Promise<Tyche> {
  const names = namesOf(options.config);
  assertAccepted(options.acceptChains ?? [], [...names.embedded, ...names.external]);
  // A directory in use says more than its service's port, and is checked first of all when it is opened.
  if (!existsSync(join(options.dataDir, MARKER))) await assertFreePort(options.config);
  const state = await openState(options, closers);
  const here: Here = { publicUrl: state.publicUrl };
  // Closed last, so that callers are told until the end that the service is closing.
  closers.add(() => here.server?.close());
  const apiKey = await ensureDefaultDapp(state.dapps, (key) => {
    if (!state.directory.isKeyOutside) state.directory.writeSecret("api-key", `${key}\n`);
  });
  await state.replicas?.share();
  const base = { ...options, ...state, closers, names, baseUrl: () => baseUrlOf(here) };
  const kept = { ...base, ...openRequests(base) };
  const served = { ...kept, ...(await openNetworks(kept)) };
  const working = { ...served, ...openUseCases(served) };
  const { access, operatorToken } = await listen(working, here);
  const down = await startServing(working);

  const { directory } = state;
  const server = here.server!;
  const url = baseUrlOf(here);
  let closing: Promise<void> | undefined;
  return {
    url,
    localUrl: server.url,
    apiKey,
    ...(directory.isKeyOutside ? {} : { apiKeyFile: directory.file("api-key") }),
    signInLink: `${url}/sign-in?code=${access.signInCode}`,
    operatorTokenAt: operatorToken.from,
    networks: served.networks.flatMap((network) => {
      const { name, status, rpcUrl } = network.view();
      if (status !== "serving") return [];
      return [{ name, ...(rpcUrl === undefined ? {} : { rpcUrl }) }];
    }),
    down,
    close: () => (closing ??= stop(server, closers, options.log)),
  };
}

async function stop(server: HttpServer, closers: Closers, log: Logger): Promise<void> {
  const began = performance.now();
  // Must come first: load balancers ask /readyz.
  await server.drain();
  log.info({ ms: Math.round(performance.now() - began) }, "calls drained");
  await closers.closeAll();
  log.info({ ms: Math.round(performance.now() - began) }, "stopped");
}

/** Where callers reach this process. */
interface Here {
  readonly publicUrl: string | undefined;
  /** Present once it listens. */
  server?: HttpServer;
}

function baseUrlOf({ publicUrl, server }: Here): string {
  return publicUrl ?? server?.url ?? "";
}

/** What a step of the start works with: what the caller gave, and what the steps before it have opened. */
type State = Awaited<ReturnType<typeof openState>>;
interface Base extends TycheOptions, State {
  readonly closers: Closers;
  readonly names: ReturnType<typeof namesOf>;
  readonly baseUrl: () => string;
}
type Kept = Base & ReturnType<typeof openRequests>;
type Served = Kept & Awaited<ReturnType<typeof openNetworks>>;
type Working = Served & ReturnType<typeof openUseCases>;

/** Returns the names of the configured networks, by who runs their chain. */
function namesOf({ networks }: Config) {
  const embedded: readonly string[] = NETWORK_NAMES.filter((name) => isEmbedded(networks[name]));
  const external = Object.keys(networks).filter((name) => !isEmbedded(networks[name]));
  return { embedded, external };
}

/** Opens what outlives the process: the data directory with its secrets, and the database, which replicas may share. */
async function openState(options: TycheOptions, closers: Closers) {
  const { config, log, masterKey, onFatal = () => {}, onMigrated } = options;
  const publicUrl = config.publicUrl === undefined ? undefined : parsePublicUrl(config.publicUrl);
  const onWarning = (message: string): void => log.warn(message);
  const database = findDatabaseServer(config.database, process.env);
  const identityProvider = openIdentityProvider(config, publicUrl, process.env);
  const directory = closers.own(openDataDirectory(options.dataDir, { exclusive: true, masterKey }));
  const { store, dapps, replicas } = await openDapps(directory, {
    onFatal,
    onWarning,
    onMigrated,
    server: database,
  });
  closers.own(store);
  const replica = replicas && closers.own(openReplica({ replicas, store, log }));
  return { publicUrl, database, identityProvider, directory, store, dapps, replicas, replica };
}

/** Opens what requests are checked by, kept in and reported through: sandbox, book, metrics, webhooks and late rounds. */
function openRequests({ config, database, directory, store, replica, closers, log, baseUrl }: Base) {
  const { sandbox } = config;
  const { hostCalls } = closers.own(openSandboxNetwork(sandbox, directory));
  const onWarning = (message: string): void => log.warn(message);
  const oraclePool = closers.own(createSandboxPool({ onWarning, hostCalls, ...sandbox }));
  const pool = withOwnErrors(oraclePool);
  // A database on a server is backed up there.
  const lastBackup = database === undefined ? () => readLastBackup(directory.path) : undefined;
  const metrics = createMetrics({ pool, log, lastBackup });
  const webhooks = closers.own(
    openWebhooks({
      baseUrl,
      store,
      masterKey: directory.masterKey,
      allowHosts: sandbox.allowHosts,
      replica,
      log,
    }),
  );
  const book = createRequestBook(store, {
    observe: metrics.onRequest,
    sharing: replica?.sharing,
    damaged: createDamagedRequests(log),
    outbox: createRequestOutbox({ baseUrl, wake: webhooks.wake }),
  });
  replica?.start(book);
  const drandChains = Object.values(config.networks).map(drandChainOf);
  const lateBeacons = createLateBeacons({
    db: store.db,
    findChain: (chainHash) => drandChains.find((chain) => drandChainHash(chain) === chainHash),
    onError: (error) =>
      log.warn({ err: error }, "a late round of drand could not be stored or read; retrying"),
  });
  return { oraclePool, pool, metrics, webhooks, book, lateBeacons };
}

/** Creates the networks, which are not started yet, and opens the presets that are stored on them. */
async function openNetworks(kept: Kept) {
  const { config, names, closers, directory, store, book, replica, pool, metrics, lateBeacons, baseUrl } =
    kept;
  const { acceptChains = [], log } = kept;
  const createOne = (name: string, keep: Keep): ServedNetwork =>
    createNetwork({
      name,
      config: config.networks[name]!,
      directory,
      store,
      keep,
      book,
      replica,
      pool: kept.oraclePool,
      allowHosts: config.sandbox.allowHosts ?? [],
      log: log.child({ network: name }),
      onTransaction: metrics.onTransaction,
      rpcOrigins: parseRpcOrigins(config.rpcOrigins),
      lateBeacons,
      baseUrl,
      acceptsChain: acceptChains.includes(name),
    });
  const networks = [
    ...names.embedded.map((name) => createOne(name, parseKeep(config.keep.embedded))),
    ...names.external.map((name) => createOne(name, parseKeep(config.keep.external))),
  ];
  closers.add(async () => void (await Promise.all(networks.map((network) => network.close()))));
  const { pluginsDir } = config;
  const registry = closers.own(await openRegistry({ pluginsDir, pool, networks, log }));
  const networksByName = new Map(networks.map((network) => [network.profile.name, network]));
  metrics.watch(book, networksByName);
  return { networks, networksByName, registry };
}

/** Opens what callers use: the service, and the schedules and log triggers that request by themselves. */
function openUseCases(served: Served) {
  const { config, closers, store, book, dapps, pool, registry, networksByName, replica, baseUrl, log } =
    served;
  const service = createService({
    store,
    book,
    dapps,
    pool,
    registry,
    networks: networksByName,
    baseUrl,
    replica,
    ...config.requests,
  });
  const schemas = createLiveSchemas(service);
  const checks = createActionChecks(service, schemas);
  const triggers = { store, service, checks, dapps, onEvent: served.webhooks.wake, replica, log };
  const schedules = closers.own(
    openSchedules({ ...triggers, blockMsOf: (name) => networksByName.get(name)?.blockMs() }),
  );
  const logTriggers = closers.own(
    openLogTriggers({ ...triggers, findChain: (name) => networksByName.get(name)?.observed() }),
  );
  return { service, schemas, schedules, logTriggers };
}

/** Opens the ways in, and listens. */
async function listen(working: Working, here: Here) {
  const { config, directory, database, store, service, replica, closers, log } = working;
  const { host, port } = config;
  const { identityProvider, publicUrl } = working;
  const operatorToken = ensureOperatorToken(directory, working.operatorToken);
  const people = createPeople(store, { auditDays: parseDays(config.keep.auditDays) });
  const { counter, access } = closers.own(
    await openShared({
      people,
      store,
      database,
      replica: replica?.id,
      masterKey: directory.masterKey,
      operatorToken: operatorToken.text,
      log,
    }),
  );
  const guardPublic = createPublicGuard({
    isLoopback: isLoopbackHost(host.includes(":") ? `[${host}]` : host),
    hosts: [...config.hosts, ...(publicUrl === undefined ? [] : publicHostsOf(publicUrl))],
    limits: config.http,
    counter,
  });
  const parts = describeParts(working, { access, people });
  const web = createWebApp({
    access,
    people,
    identityProvider,
    publicUrl,
    guard: guardPublic,
    readJson: readJsonBody,
    getVerifierPage,
    service,
    explorer: parts.operator.explorer,
    log,
  });
  here.server = await startHttp({
    ...parts,
    limits: config.http,
    trustProxy: config.trustProxy,
    guardPublic,
    counter,
    pages: [web],
    host,
    port,
    log,
  }).catch((error: unknown) => {
    throw listenError(error, { host, port });
  });
  // A start that fails has calls in flight, too.
  closers.add(() => here.server?.drain());
  // Tells the command line where this directory's service is.
  directory.writeSecret("service-url", `${here.server.url}\n`);
  return { access, operatorToken };
}

/** Returns what the API calls. */
function describeParts(working: Working, { access, people }: Pick<OperatorPart, "access" | "people">) {
  const { store, dapps, pool, networks, networksByName, registry, service, baseUrl, log } = working;
  const operator: OperatorPart = {
    access,
    people,
    baseUrl,
    dapps,
    explorer: createChainExplorer(
      new Map(networks.map((network) => [network.profile.name, () => network.explored()])),
      () => registry.list(),
      readChainResult,
    ),
    readConfigVars: (dappId) => readConfigVars(store, dapps, dappId, [...networksByName.keys()]),
    readBalances: (dappId) => readDappBalances(networksByName, dappId),
    readChainConsumers: (dappId) => readChainConsumers(networksByName, dappId),
  };
  const verifier = createVerifier({
    findNetwork: (name) => networksByName.get(name)?.verifiable(),
    findPublicNode: (name) => networksByName.get(name)?.explored()?.client,
    run: createSourceRunner(pool),
    findPreset: (sourceHash) => findPresetNames(registry.list(), sourceHash),
  });
  const gateway = createGateway({
    find: (donId) =>
      networks.flatMap((one) => (one.profile.functions.donId === donId ? (one.gateway() ?? []) : [])),
    onError: (error) => log.warn({ err: error }, "an upload of secrets could not be taken"),
  });
  return {
    service,
    schemas: working.schemas,
    verifier,
    operator,
    webhooks: working.webhooks.useCases,
    secrets: service.secrets,
    gateway,
    lateBeacons: working.lateBeacons,
    schedules: working.schedules.useCases,
    logTriggers: working.logTriggers.useCases,
    registry: working.metrics.registry,
  };
}

/** Starts the networks and what works by itself; returns the networks that could not be started. */
async function startServing(working: Working): Promise<DownNetworks> {
  const { networks, names, dapps, registry, service, webhooks, schedules, logTriggers, closers, log } =
    working;
  const { close, down } = await startNetworks({
    networks,
    dapps,
    registry,
    log,
    deletedDapps: service,
    onNetwork(network) {
      service.resumeChecks(network.name);
      working.onNetwork?.(network);
    },
    onDown: working.onDown,
  });
  closers.add(close);
  await webhooks.start();
  await schedules.start();
  await logTriggers.start();
  if (working.replica !== undefined) closers.add(checkAbandoned(service, { networks: names.external, log }));
  const deleteReplaced = async (): Promise<void> => {
    for (const network of networks)
      await service.secrets.deleteReplaced(network).catch((err: unknown) => {
        const what = { err, network: network.profile.name };
        log.warn(what, "replaced secrets could not be deleted; retrying");
      });
  };
  closers.add(repeat(deleteReplaced, REPLACED_SECRETS_INTERVAL_MS, () => {}));
  closers.add(await watchFiles(working));
  return down;
}

/** Ends the service, or a network, when the files that it writes to are gone. */
async function watchFiles({ directory, store, database, names, networks, log, onFatal }: Working) {
  return await watchData({
    directory: directory.path,
    files: database === undefined ? [...DATABASE_FILES, "lock"] : ["lock"],
    chains: networks
      .filter(({ profile }) => names.embedded.includes(profile.name))
      .map((network) => ({
        folder: directory.file("chains", network.profile.name),
        onGone(error) {
          log.error({ network: network.profile.name }, error.message);
          network.fail(error);
          void network.close();
        },
      })),
    onFatal(message) {
      store.checkpoint();
      onFatal?.(message);
    },
  });
}

/** Returns the host name to answer to. Loopback names are answered anyway; listed, they would let in pages of other sites, too. */
function publicHostsOf(publicUrl: string): readonly string[] {
  const { hostname } = new URL(publicUrl);
  return isLoopbackHost(hostname) ? [] : [hostname];
}

/**
 * Rejects unknown names in the list of networks whose chain may be newer than the database.
 *
 * @throws {StartError}
 */
function assertAccepted(accepted: readonly string[], networkNames: readonly string[]): void {
  const stranger = accepted.find((name) => !PROFILE_NAMES.includes(name) && !networkNames.includes(name));
  if (stranger !== undefined)
    throw new StartError(
      `TYCHE_ACCEPT_CHAINS: ${JSON.stringify(stranger)} is not a network; name one or more of ${networkNames.join(", ")}`,
    );
}
