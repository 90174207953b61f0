import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runTyche, startTycheProcess, type TycheProcess } from "../../support/tyche.ts";
import { RICH_KEY, type StrangersChain } from "./chain.ts";

/** Name under which the service serves the external chain. */
export const NETWORK = "mychain";
/** Files that each replica's folder takes from the first one's, including the mark of a data directory. */
export const REPLICA_SECRETS = ["tyche-data", "master-key", "operator-token"];
const KEY_VARIABLE = "TYCHE_TEST_KEY";
const DATABASE_VARIABLE = "TYCHE_TEST_DATABASE";

/** Two parties that share nothing but a chain: folders, configurations and environments of a service and an oracle. */
export interface TwoParties {
  readonly service: Readonly<Record<string, string>>;
  readonly oracle: Readonly<Record<string, string>>;
  /** File for the output of the oracle's `keys --json`. */
  readonly identityFile: string;
  readonly contractsFile: string;
  /** Runs a command as the service's operator, or, with the oracle's environment, as the oracle's. */
  run(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number | null; readonly output: string }>;
  remove(): void;
}

export interface PartiesOptions {
  /** Node URLs of the service, and of the oracle. Default: the chain's own, over WebSocket and over HTTP. */
  readonly serviceUrls?: readonly string[];
  readonly oracleUrls?: readonly string[];
  /** Additional members of the network's configuration, for both. */
  readonly network?: Readonly<Record<string, unknown>>;
  /** URL of the service's database. Default: a file in its folder. */
  readonly databaseUrl?: string;
}

/** Prepares folders for a service and an oracle on one chain. Nothing is started. */
export function prepareParties(chain: StrangersChain, options: PartiesOptions = {}): TwoParties {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-external-"));
  const contractsFile = path.join(folder, "contracts", "mychain.json");
  const { databaseUrl } = options;
  const writeConfig = (name: string, more: object, members: object = {}): string => {
    const file = path.join(folder, `${name}.json`);
    const common = {
      chainId: 31_337,
      title: "My chain",
      contracts: contractsFile,
      finalityDepth: 12,
      ...options.network,
    };
    writeFileSync(file, JSON.stringify({ ...members, networks: { [NETWORK]: { ...common, ...more } } }));
    return file;
  };
  const service = {
    TYCHE_DATA_DIR: path.join(folder, "service"),
    TYCHE_CONFIG: writeConfig(
      "service-config",
      { rpcUrls: options.serviceUrls ?? [chain.wsUrl], operatorKey: { env: KEY_VARIABLE } },
      databaseUrl === undefined ? {} : { database: { url: { env: DATABASE_VARIABLE } } },
    ),
    ...(databaseUrl === undefined ? {} : { [DATABASE_VARIABLE]: databaseUrl }),
    [KEY_VARIABLE]: RICH_KEY,
  };
  const oracle = {
    TYCHE_DATA_DIR: path.join(folder, "oracle"),
    TYCHE_CONFIG: writeConfig("oracle-config", { rpcUrls: options.oracleUrls ?? [chain.httpUrl] }),
  };
  return {
    service,
    oracle,
    identityFile: path.join(folder, "oracle.json"),
    contractsFile,
    run: (args, env = service) => runTyche(args, env),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}

/** Creates the oracle's keys, deploys the contracts and funds the oracle's accounts, each with a command of its own. */
export async function deployByCommands(parties: TwoParties): Promise<string> {
  const keys = await parties.run(["oracle", "keys", "--json"], parties.oracle);
  if (keys.code !== 0) throw new Error(keys.output);
  writeFileSync(parties.identityFile, keys.output);
  const deployed = await parties.run([
    "network",
    "deploy",
    NETWORK,
    "--oracle",
    parties.identityFile,
    "--yes",
  ]);
  if (deployed.code !== 0) throw new Error(deployed.output);
  const funded = await parties.run(["network", "fund", NETWORK, "--coin", "10"]);
  if (funded.code !== 0) throw new Error(funded.output);
  return deployed.output;
}

/** Starts the service of the two parties. */
export function startService({ service }: TwoParties): Promise<TycheProcess> {
  const { TYCHE_DATA_DIR, ...env } = service;
  return startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: 240_000 });
}
