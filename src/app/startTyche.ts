import type { Logger } from "pino";
import { createSandboxPool } from "../../sandbox/index.ts";
import { NETWORK_NAMES, PROFILE_NAMES } from "../networks/profiles.ts";
import { openDapps } from "../dapps/dappTools.ts";
import { parseDays, parseKeep } from "../config/keepSchema.ts";
import { isEmbedded } from "../config/embeddedNetworkSchema.ts";
import { parseRpcOrigins } from "../networks/embedded/rpc/rpcAccess.ts";
import { parsePublicUrl } from "../config/publicUrl.ts";
import type { Config } from "../config/configSchema.ts";
import { type Closers, createClosers } from "./process/closers.ts";
import { DATABASE_FILES, watchData } from "./process/dataWatch.ts";
import { findDatabaseServer, openIdentityProvider } from "./process/fromEnvironment.ts";
import { listenError } from "./process/listenError.ts";
import { createMetrics } from "./process/metrics.ts";
import { repeat } from "../lib/repeat.ts";
import { drandChainHash } from "../lib/drand.ts";
import { StartError } from "./startError.ts";
import { ensureDefaultDapp, ensureOperatorToken } from "./process/firstSecrets.ts";
import { checkAbandoned, openReplica } from "./process/openReplica.ts";
import { openRegistry } from "./process/openRegistry.ts";
import { openSandboxNetwork } from "./process/openSandboxNetwork.ts";
import { openShared } from "./process/openShared.ts";
import { createActionChecks, openLogTriggers, openSchedules } from "./process/openTriggers.ts";
import { openWebhooks } from "./process/openWebhooks.ts";
import { startNetworks } from "./startNetworks.ts";
import type { DownNetworks, StartedNetwork } from "./startNetworks.ts";
import { createNetwork } from "./network/createNetwork.ts";
import type { ServedNetwork } from "./network/servedNetwork.ts";
import { type HttpServer, startHttp } from "../http/server.ts";
import { readJsonBody } from "../http/body.ts";
import type { OperatorPart } from "../http/operatorPart.ts";
import { createPublicGuard } from "../http/publicGuard.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { readChainConsumers } from "../dapps/chainConsumers.ts";
import { readDappBalances } from "../dapps/balances.ts";
import { readConfigVars } from "../dapps/configVars.ts";
import { createGateway } from "../oracle/secrets/gateway.ts";
import { createPeople } from "../people/people.ts";
import { createLateRounds } from "../requests/lateRounds.ts";
import { createService } from "../requests/createService.ts";
import { withOwnErrors } from "../requests/accept/sandboxRuns.ts";
import { describeResult } from "../presets/readResult.ts";
import { createChainExplorer } from "../explorer/explorer.ts";
import { createDamagedRequests } from "../requests/keep/damagedRequests.ts";
import { createRequestOutbox } from "../requests/follow/requestOutbox.ts";
import { createRequestBook } from "../requests/requestBook.ts";
import { openDataDirectory } from "../store/dataDirectory.ts";
import type { Migrated } from "../store/store.ts";
import type { OutsideSecret } from "../lib/outsideSecret.ts";
import { getVerifierPage } from "./verifierPage.ts";
import { findPresetNames } from "../presets/presetNames.ts";
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
  const { config, log, masterKey, acceptChains = [], onFatal = () => {}, onMigrated } = options;
  const { host, port, sandbox } = config;
  const publicUrl = config.publicUrl === undefined ? undefined : parsePublicUrl(config.publicUrl);
  const embedded: readonly string[] = NETWORK_NAMES.filter((name) => isEmbedded(config.networks[name]));
  const external = Object.keys(config.networks).filter((name) => !isEmbedded(config.networks[name]));
  const networkNames = [...embedded, ...external];
  assertAccepted(acceptChains, networkNames);
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
  // Closed last, so that callers are told until the end that the service is closing.
  let server: HttpServer | undefined;
  closers.add(() => server?.close());
  const baseUrl = (): string => publicUrl ?? server?.url ?? "";
  const apiKey = await ensureDefaultDapp(dapps, (key) => {
    if (!directory.isKeyOutside) directory.writeSecret("api-key", `${key}\n`);
  });
  await replicas?.share();
  const { hostCalls } = closers.own(openSandboxNetwork(sandbox, directory));
  const oraclePool = closers.own(createSandboxPool({ onWarning, hostCalls, ...sandbox }));
  const pool = withOwnErrors(oraclePool);
  const metrics = createMetrics({ pool, log });
  const webhooks = closers.own(
    openWebhooks({
      store,
      masterKey: directory.masterKey,
      allowHosts: sandbox.allowHosts,
      replica,
      log,
    }),
  );
  const book = createRequestBook(
    store,
    metrics.onRequest,
    replica?.sharing,
    createDamagedRequests(log),
    createRequestOutbox({ baseUrl, wake: webhooks.wake }),
  );
  replica?.start(book);
  const lateRounds = createLateRounds({
    db: store.db,
    findChain: (chainHash) =>
      networks
        .flatMap(({ beacon }) => beacon?.chain ?? [])
        .find((chain) => drandChainHash(chain) === chainHash),
    onError: (error) =>
      log.warn({ err: error }, "a late round of drand could not be stored or read; retrying"),
  });
  const networks: readonly ServedNetwork[] = networkNames.map((name) =>
    createNetwork({
      name,
      config: config.networks[name]!,
      directory,
      store,
      keep: parseKeep(config.keep[embedded.includes(name) ? "embedded" : "external"]),
      book,
      replica,
      pool: oraclePool,
      allowHosts: config.sandbox.allowHosts ?? [],
      log: log.child({ network: name }),
      onTransaction: metrics.onTransaction,
      rpcOrigins: parseRpcOrigins(config.rpcOrigins),
      acceptsChain: acceptChains.includes(name),
      lateRounds,
      baseUrl,
    }),
  );
  // Networks that are still starting would otherwise outlive this process's lock on the data directory.
  let starting: Promise<unknown> = Promise.resolve();
  closers.add(async () => {
    await starting;
    await Promise.all(networks.map((network) => network.close()));
  });
  const registry = closers.own(await openRegistry({ pluginsDir: config.pluginsDir, pool, networks, log }));
  const networksByName = new Map(networks.map((network) => [network.profile.name, network]));
  metrics.watch(book, networksByName);
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
  const checks = createActionChecks(service);
  const schedules = closers.own(
    openSchedules({
      store,
      service,
      checks,
      dapps,
      blockMsOf: (name) => networksByName.get(name)?.blockMs(),
      onEvent: webhooks.wake,
      replica,
      log,
    }),
  );
  const logTriggers = closers.own(
    openLogTriggers({
      store,
      service,
      checks,
      dapps,
      findChain: (name) => networksByName.get(name)?.observed(),
      onEvent: webhooks.wake,
      replica,
      log,
    }),
  );
  const isLoopback = isLoopbackHost(host.includes(":") ? `[${host}]` : host);
  const operatorToken = ensureOperatorToken(directory, options.operatorToken);
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
  const hosts = [...config.hosts, ...(publicUrl === undefined ? [] : publicHostsOf(publicUrl))];
  const guardPublic = createPublicGuard({ isLoopback, hosts, limits: config.http, counter });
  const web = createWebApp({
    access,
    people,
    identityProvider,
    publicUrl,
    guard: guardPublic,
    readJson: readJsonBody,
    getVerifierPage,
    getShared: (id) => service.getShared(id),
    log,
  });
  const operator: OperatorPart = {
    access,
    people,
    baseUrl,
    dapps,
    explorer: createChainExplorer(
      new Map(networks.map((network) => [network.profile.name, () => network.explored()])),
      () => registry.list(),
      describeResult,
    ),
    readConfigVars: (dappId) => readConfigVars(store, dapps, dappId, networkNames),
    readBalances: (dappId) => readDappBalances(networksByName, dappId),
    readChainConsumers: (dappId) => readChainConsumers(networksByName, dappId),
  };
  const verifier = createVerifier({
    findNetwork: (name) => networksByName.get(name)?.verifiable(),
    findPublicNode: (name) => networksByName.get(name)?.explored()?.client,
    run: createSourceRunner(pool),
    findPreset: (sourceHash) => findPresetNames(registry.list(), sourceHash),
  });
  server = await startHttp({
    service,
    verifier,
    operator,
    webhooks: webhooks.useCases,
    secrets: service.secrets,
    gateway: createGateway({
      find: (donId) =>
        networks.flatMap((one) => (one.profile.functions.donId === donId ? (one.gateway() ?? []) : [])),
      onError: (error) => log.warn({ err: error }, "an upload of secrets could not be taken"),
    }),
    lateRounds,
    schedules: schedules.useCases,
    logTriggers: logTriggers.useCases,
    log,
    registry: metrics.registry,
    host,
    port,
    limits: config.http,
    trustProxy: config.trustProxy,
    guardPublic,
    counter,
    pages: [web],
  }).catch((error: unknown) => {
    throw listenError(error, { host, port });
  });
  // A start that fails has calls in flight, too.
  closers.add(() => server?.drain());
  // Tells the command line where this directory's service is.
  directory.writeSecret("service-url", `${server.url}\n`);
  const onNetwork = (network: StartedNetwork): void => {
    service.resumeChecks(network.name);
    options.onNetwork?.(network);
  };
  const started = startNetworks({
    networks,
    dapps,
    registry,
    deletedDapps: service,
    log,
    onNetwork,
    onDown: options.onDown,
  });
  starting = started.catch(() => {});
  const { close: stopStarting, down } = await started;
  closers.add(stopStarting);
  await webhooks.start();
  await schedules.start();
  await logTriggers.start();
  if (replica !== undefined) closers.add(checkAbandoned(service, { networks: external, log }));
  closers.add(
    repeat(
      async () => {
        for (const network of networks)
          await service.secrets.deleteReplaced(network).catch((err: unknown) => {
            const what = { err, network: network.profile.name };
            log.warn(what, "replaced secrets could not be deleted; retrying");
          });
      },
      REPLACED_SECRETS_INTERVAL_MS,
      () => {},
    ),
  );
  closers.add(
    await watchData({
      directory: directory.path,
      files: database === undefined ? [...DATABASE_FILES, "lock"] : ["lock"],
      chains: networks
        .filter(({ profile }) => embedded.includes(profile.name))
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
        onFatal(message);
      },
    }),
  );
  const running = server;
  const stop = async (): Promise<void> => {
    const began = performance.now();
    // Must come first: load balancers ask /readyz.
    await running.drain();
    log.info({ ms: Math.round(performance.now() - began) }, "calls drained");
    await closers.closeAll();
    log.info({ ms: Math.round(performance.now() - began) }, "stopped");
  };
  let closing: Promise<void> | undefined;
  const url = publicUrl ?? server.url;
  return {
    url,
    localUrl: server.url,
    apiKey,
    ...(directory.isKeyOutside ? {} : { apiKeyFile: directory.file("api-key") }),
    signInLink: `${url}/sign-in?code=${access.signInCode}`,
    operatorTokenAt: operatorToken.from,
    networks: networks.flatMap((network) => {
      const { name, status, rpcUrl } = network.view();
      if (status !== "serving") return [];
      return [{ name, ...(rpcUrl === undefined ? {} : { rpcUrl }) }];
    }),
    down,
    close: () => (closing ??= stop()),
  };
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
