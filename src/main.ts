import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Logger } from "pino";
import { createSandboxNetwork, createSandboxPool } from "../sandbox/index.ts";
import { NETWORKS, NETWORK_NAMES } from "./chain/networks.ts";
import type { NetworkName } from "./chain/networks.ts";
import { openDapps } from "./dappTools.ts";
import { createEmbeddedNetwork } from "./embeddedNetwork.ts";
import type { EmbeddedNetwork } from "./embeddedNetwork.ts";
import { startHttp } from "./http/server.ts";
import type { HttpServer } from "./http/server.ts";
import { TycheError, messageOf } from "./lib/errors.ts";
import { createMetrics } from "./metrics.ts";
import { createPresetRegistry } from "./presets/presetRegistry.ts";
import type { PresetRegistry } from "./presets/presetRegistry.ts";
import { readDappBalances } from "./service/balances.ts";
import { readConfigVars } from "./service/configVars.ts";
import { createService } from "./service/createService.ts";
import type { DappDirectory } from "./service/dapps.ts";
import { createExplorer } from "./service/explorer/explorer.ts";
import { createRequestBook } from "./service/requestBook.ts";
import { createSourcePrefix } from "./service/sources.ts";
import { openDataDirectory } from "./store/dataDirectory.ts";
import { createVerifier } from "./verify/verifier.ts";
import type { DataDirectory } from "./store/dataDirectory.ts";
import { MIN_TOKEN_CHARACTERS, createAccess, defaultSignIn } from "./web/access.ts";
import { createWebApp } from "./web/app.ts";

/** Name of the dapp that a first start makes. */
const DEFAULT_DAPP = "default";
/** How often new dapps, made on the command line meanwhile, are looked for. */
const DAPP_INTERVAL_MS = 1_000;

/** Options of {@link startTyche}. */
export interface TycheOptions {
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Who has to sign in to the application, see `Access`. Default: everybody where `host` is an address that others reach. */
  readonly signIn?: "local" | "always";
  /** Folder of the presets. */
  readonly pluginsDir: string;
  readonly log: Logger;
  /** Hosts that sources may reach although they are not public, such as `127.0.0.1:8080`. Default none. */
  readonly allowHosts?: readonly string[];
  /** Modules that sources may import from outside, such as `npm:ethers@6`. Default none. */
  readonly allowModules?: readonly string[];
  /**
   * Told, in one sentence, why the service can't go on: its database is gone, damaged or full. What could not be stored must not be
   * told to anybody: end the process at once, here. A later start goes on from what is stored. Default: nothing.
   */
  readonly onFatal?: (message: string) => void;
  /** Told of each network as it starts to serve. */
  readonly onNetwork?: (network: {
    readonly name: NetworkName;
    readonly rpcUrl: string;
    readonly ms: number;
    readonly isNew: boolean;
  }) => void;
}

/** A running service. */
export interface Tyche {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Live key of the default dapp. */
  readonly apiKey: string;
  /** File with the token that the application asks everybody for; absent where it is open to this machine. */
  readonly operatorTokenFile?: string;
  readonly networks: readonly { readonly name: NetworkName; readonly rpcUrl: string }[];
  /** Finishes what is in flight, then ends everything it started; idempotent. */
  close(): Promise<void>;
}

/**
 * Starts everything in this process: store, sandbox, embedded chains, oracle, API. Resolves when every network serves.
 *
 * @throws {TycheError} with one sentence for whoever starts it; nothing is left running then.
 */
export async function startTyche(options: TycheOptions): Promise<Tyche> {
  const { log } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) {
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => log.error({ err: error }, "closing failed"));
    }
  };
  try {
    return await start(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  options: TycheOptions,
  closers: (() => Promise<void> | void)[],
  closeAll: () => Promise<void>,
): Promise<Tyche> {
  const { log } = options;
  const directory = openDataDirectory(options.dataDir, { exclusive: true });
  closers.push(() => directory.close());
  const { store, dapps } = await openDapps(directory, options.onFatal);
  closers.push(() => store.close());
  const apiKey = await ensureDefaultDapp(dapps, (key) => directory.writeSecret("api-key", `${key}\n`));
  const sandboxNetwork = createSandboxNetwork({
    allowHosts: options.allowHosts ?? [],
    allowModules: options.allowModules ?? [],
    dataDir: directory.path,
  });
  closers.push(() => sandboxNetwork.close());
  const pool = createSandboxPool({
    onWarning: (message) => log.warn(message),
    hostCalls: sandboxNetwork.hostCalls,
  });
  closers.push(() => pool.close());

  const metrics = createMetrics({ pool, log });
  const book = createRequestBook(store, metrics.onRequest);
  const registry = await createPresetRegistry({
    folder: options.pluginsDir,
    run: pool.run,
    onChange(change) {
      if (change.kind === "live") {
        log.info({ preset: change.preset.name }, "preset live");
        for (const network of networks) shelve(network, change.preset.source);
      } else
        log.warn(
          { preset: change.name, ...("problems" in change ? { problems: change.problems } : {}) },
          `preset ${change.kind}`,
        );
    },
  });
  closers.push(() => registry.close());
  for (const problem of registry.problems()) log.warn({ problem }, "preset not served");

  const shelve = (network: EmbeddedNetwork, source: string): void => {
    network
      .desk()
      ?.shelve(createSourcePrefix(source))
      .catch((error: unknown) =>
        log.error({ err: error, network: network.profile.name }, "a preset's source could not be stored"),
      );
  };
  let server: HttpServer | undefined;
  const networks = NETWORK_NAMES.map((name, index) =>
    createEmbeddedNetwork({
      profile: NETWORKS[name],
      index,
      directory,
      store,
      book,
      pool,
      log: log.child({ network: name }),
      onTransaction: metrics.onTransaction,
      host: options.host,
      baseUrl: () => server?.url ?? "",
    }),
  );
  closers.push(() => Promise.all(networks.map((network) => network.close())).then(() => {}));
  const networksByName = new Map(networks.map((network) => [network.profile.name, network]));
  metrics.watch(book, networksByName);
  const service = createService({
    store,
    book,
    dapps,
    pool,
    registry,
    networks: networksByName,
  });
  const signIn = options.signIn ?? defaultSignIn(options.host);
  const web = createWebApp({
    service,
    dapps,
    log,
    explorer: createExplorer(
      new Map(networks.map((network) => [network.profile.name, () => network.explored()])),
    ),
    access: createAccess({
      operatorToken: ensureOperatorToken(directory),
      signIn,
    }),
    readConfigVars: (dappId) => readConfigVars(store, dapps, dappId, NETWORK_NAMES),
    readBalances: (dappId) => readDappBalances(networksByName, dappId),
  });
  const verifier = createVerifier({
    findNetwork: (name) => networksByName.get(name as NetworkName)?.verifiable(),
    run: pool.run,
  });
  server = await listen({
    service,
    verifier,
    log,
    registry: metrics.registry,
    host: options.host,
    port: options.port,
    pages: [web],
  });
  closers.push(() => server?.close());

  await Promise.all(
    networks.map(async (network) => {
      const started = performance.now();
      const { rpcUrl, isNew } = await network.start();
      await prepareDapps(network, dapps, registry);
      network.serve();
      options.onNetwork?.({ name: network.profile.name, rpcUrl, isNew, ms: performance.now() - started });
    }),
  );
  const watchDapps = setInterval(() => {
    for (const network of networks)
      prepareDapps(network, dapps, undefined).catch((error: unknown) =>
        log.error({ err: error }, "a dapp's subscriptions could not be made"),
      );
  }, DAPP_INTERVAL_MS);
  closers.push(() => clearInterval(watchDapps));

  let closing: Promise<void> | undefined;
  return {
    url: server.url,
    apiKey,
    ...(signIn === "always" ? { operatorTokenFile: directory.file("operator-token") } : {}),
    networks: networks.map((network) => ({ name: network.profile.name, rpcUrl: network.view().rpcUrl! })),
    close: () => (closing ??= closeAll()),
  };
}

/** Makes what the first call of each dapp would else wait for: its subscriptions, and the presets' sources on chain. */
async function prepareDapps(
  network: EmbeddedNetwork,
  dapps: DappDirectory,
  registry: PresetRegistry | undefined,
): Promise<void> {
  const desk = network.desk() ?? network.openedDesk();
  for (const dapp of await dapps.list()) await desk.subscriptions.ensure(dapp.id);
  for (const preset of registry?.list() ?? []) await desk.shelve(createSourcePrefix(preset.source));
}

/** Returns a live key of the default dapp; the first start makes both. */
async function ensureDefaultDapp(dapps: DappDirectory, writeKey: (apiKey: string) => void): Promise<string> {
  const first = (await dapps.list())[0];
  if (first === undefined) {
    const { key } = await dapps.create(DEFAULT_DAPP);
    writeKey(key.apiKey);
    return key.apiKey;
  }
  const live =
    (await dapps.keys(first.id)).find((key) => key.revokedAt === null) ?? (await dapps.addKey(first.id));
  writeKey(live.apiKey);
  return live.apiKey;
}

/** Returns the token that signing in to the application takes; the first start makes it. */
function ensureOperatorToken(directory: DataDirectory): string {
  const file = directory.file("operator-token");
  if (!existsSync(file))
    directory.writeSecret("operator-token", `${randomBytes(32).toString("base64url")}\n`);
  const token = readFileSync(file, "utf8").trim();
  if (token.length >= MIN_TOKEN_CHARACTERS) return token;
  throw new StartError(
    `${file} must hold at least ${MIN_TOKEN_CHARACTERS} characters; remove it, and the next start makes a new one`,
  );
}

async function listen(options: Parameters<typeof startHttp>[0]): Promise<HttpServer> {
  try {
    return await startHttp(options);
  } catch (cause) {
    const { code } = cause as { code?: string };
    const where = `${options.host}:${options.port}`;
    if (code === "EADDRINUSE")
      throw new StartError(
        `port ${options.port} on ${options.host} is in use; set PORT to another one, or to 0 for a free one`,
        cause,
      );
    if (code === "EACCES")
      throw new StartError(`listening on ${where} is not permitted; set PORT to one above 1023`, cause);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new StartError(`this machine has no address ${options.host}; set HOST to one of its own`, cause);
    throw new StartError(`listening on ${where} failed: ${messageOf(cause)}`, cause);
  }
}

/** The service can't start; the message says why and what to do. */
export class StartError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "start_failed", blame: "caller", cause });
  }
}
