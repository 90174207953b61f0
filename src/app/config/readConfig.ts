import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { compileValidator } from "../../http/validator.ts";
import { TycheError, messageOf } from "../../lib/errors.ts";
import { CONFIG_FILE } from "../../store/dataDirectory.ts";
import type { JsonValue } from "../../lib/parseJson.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { checkNetworks } from "./checkNetworks.ts";
import { checkDatabase } from "./databaseSchema.ts";
import { ConfigSchema, type Config } from "./configSchema.ts";
import { isEmbedded } from "./embeddedNetworkSchema.ts";
import { ACCEPTABLE_LAYERS } from "../../../sandbox/index.ts";
import { describeValue } from "../../lib/describeValue.ts";
import { PROFILE_NAMES } from "../../networks/profiles.ts";
import { findUnusable } from "./findUnusable.ts";
import { readConfigFile, type Members } from "./readConfigFile.ts";

/** Environment variables that override members of the file; lists are comma-separated. */
const VARIABLES: Readonly<Record<string, { readonly path: string; readonly type?: "list" | "integer" }>> = {
  PORT: { path: "/port", type: "integer" },
  HOST: { path: "/host" },
  LOG_LEVEL: { path: "/logLevel" },
  TYCHE_HOSTS: { path: "/hosts", type: "list" },
  TYCHE_PUBLIC_URL: { path: "/publicUrl" },
  TYCHE_RPC_ORIGINS: { path: "/rpcOrigins", type: "list" },
  TYCHE_ALLOW_HOSTS: { path: "/sandbox/allowHosts", type: "list" },
  TYCHE_ALLOW_MODULES: { path: "/sandbox/allowModules", type: "list" },
};

/** Variables that are read elsewhere: by the commands, the data directory and the client. */
const OTHER_VARIABLES = [
  "TYCHE_CONFIG",
  "TYCHE_DATA_DIR",
  "TYCHE_MASTER_KEY",
  "TYCHE_MASTER_KEY_FILE",
  "TYCHE_OPERATOR_TOKEN",
  "TYCHE_OPERATOR_TOKEN_FILE",
  "TYCHE_URL",
  "TYCHE_API_KEY",
];

type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration and its sources. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path; absent if there is no file. */
  readonly file?: string;
  /** Environment variables that were used. */
  readonly variables: readonly string[];
  /** `TYCHE_` variables that neither Tyche nor the file knows: most likely misspelt. */
  readonly unknownVariables: readonly string[];
}

export interface ReadConfigOptions {
  /** The file named by `--config`. Default: `TYCHE_CONFIG`, else `tyche.json` in the data directory if it exists, else none. */
  readonly file?: string | undefined;
  readonly dataDir: string;
  readonly environment: Environment;
}

const validate = compileValidator(ConfigSchema);

/**
 * Reads and checks the configuration: the file, overridden by environment variables, with defaults for the rest.
 *
 * @throws {ConfigError} with every violation at once, its path and what is allowed.
 */
export function readConfig({ file, dataDir, environment }: ReadConfigOptions): LoadedConfig {
  const named = file ?? (environment["TYCHE_CONFIG"] || undefined);
  const path = named === undefined ? join(dataDir, CONFIG_FILE) : resolve(named);
  const hasFile = named !== undefined || existsSync(path);
  const members = hasFile ? readMembers(path) : {};
  const variables = [
    ...applyVariables(members, environment),
    ...ACCEPTING_VARIABLES.filter((name) => environment[name]),
  ];
  const checked = validate(members);
  const violations = [
    ...(checked.ok ? [] : checked.violations),
    ...checkNetworks(members["networks"]),
    ...checkDatabase(members),
    ...findUnusable(members, { pluginsBase: dirname(path) }),
    ...findUnknownAccepted(environment, { networks: namesOf(members["networks"]) }),
  ];
  if (!checked.ok || violations.length > 0)
    throw new ConfigError(
      path,
      violations.map((violation) => nameVariable(violation, variables)),
    );
  const { pluginsDir, networks, ...config } = checked.values;
  const fromFile = (name: string): string => resolve(dirname(path), name);
  return {
    config: {
      ...config,
      networks: Object.fromEntries(
        Object.entries(networks).map(([name, network]) => [name, withAbsolutePaths(network, fromFile)]),
      ),
      ...(pluginsDir === undefined ? {} : { pluginsDir: fromFile(pluginsDir) }),
    },
    ...(hasFile ? { file: path } : {}),
    variables,
    unknownVariables: findUnknownVariables(environment, members),
  };
}

function withAbsolutePaths(
  network: Config["networks"][string],
  absolute: (name: string) => string,
): Config["networks"][string] {
  if (isEmbedded(network)) return network;
  const { contracts, operatorKey, ...rest } = network;
  const { keystore, passwordFile, ...key } = operatorKey ?? {};
  return {
    ...rest,
    ...(contracts === undefined ? {} : { contracts: absolute(contracts) }),
    ...(operatorKey === undefined
      ? {}
      : {
          operatorKey: {
            ...key,
            ...(keystore === undefined ? {} : { keystore: absolute(keystore) }),
            ...(passwordFile === undefined ? {} : { passwordFile: absolute(passwordFile) }),
          },
        }),
  };
}

function readMembers(path: string): Members {
  try {
    return readConfigFile(path);
  } catch (cause) {
    throw new ConfigError(path, [{ path: "", message: messageOf(cause) }], cause);
  }
}

/** Writes the environment's values into the members; returns the names of the variables that had a value. */
function applyVariables(members: Members, environment: Environment): string[] {
  const used: string[] = [];
  for (const [name, { path, type }] of Object.entries(VARIABLES)) {
    const text = environment[name];
    if (text === undefined || text === "") continue;
    const [outer, inner] = path.slice(1).split("/") as [string, string?];
    const isNumber = type === "integer" && /^\d{1,9}$/.test(text);
    const value = type === "list" ? listOf(text) : isNumber ? Number(text) : text;
    if (inner === undefined) members[outer] = value;
    else {
      const section = (members[outer] ??= {});
      // The schema rejects a section that is not an object.
      if (typeof section !== "object" || section === null || Array.isArray(section)) continue;
      section[inner] = value;
    }
    used.push(name);
  }
  return used;
}

/** Finds set `TYCHE_` variables that nothing reads. The file may name others, such as an operator key's, in an `env` member. */
function findUnknownVariables(environment: Environment, members: Members): string[] {
  const known = new Set([...Object.keys(VARIABLES), ...ACCEPTING_VARIABLES, ...OTHER_VARIABLES]);
  JSON.stringify(members, (key, value: unknown) => {
    if (key === "env" && typeof value === "string") known.add(value);
    return value;
  });
  return Object.keys(environment).filter((name) => name.startsWith("TYCHE_") && !known.has(name));
}

function namesOf(networks: JsonValue | undefined): string[] {
  return typeof networks === "object" && networks !== null ? Object.keys(networks) : [];
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** Reports a violation under the variable's name if the value came from the environment. */
function nameVariable(violation: ParameterViolation, variables: readonly string[]): ParameterViolation {
  const isAt = (path: string): boolean => violation.path === path || violation.path.startsWith(`${path}/`);
  const variable = variables.find((name) => name in VARIABLES && isAt(VARIABLES[name]!.path));
  return variable === undefined ? violation : { ...violation, path: variable };
}

/** The configuration can't be used. `details` lists every violation. */
export class ConfigError extends TycheError {
  override readonly details: readonly ParameterViolation[];

  constructor(file: string, violations: readonly ParameterViolation[], cause?: unknown) {
    const [first] = violations;
    const lines = violations.map(({ path, message }) => `${path || "the file"}: ${message}`);
    const isOfVariables = violations.every(({ path }) => /^[A-Z_]+$/.test(path));
    const text =
      isOfVariables && violations.length === 1
        ? `${first!.path} ${first!.message}`
        : `${file} can't be used as configuration:\n  ${lines.join("\n  ")}`;
    super(text, { code: "invalid_config", blame: "caller", cause });
    this.details = violations;
  }
}

/** Environment variables that accept something by name, for one start only; the file has no such members. */
const ACCEPTING_VARIABLES = ["TYCHE_ACCEPT_CHAINS", "TYCHE_ACCEPT_MISSING"] as const;

/**
 * Finds names in TYCHE_ACCEPT_CHAINS and TYCHE_ACCEPT_MISSING that match no network or sandbox layer. A start would refuse them, or
 * proceed without what was meant.
 *
 * @param options.networks Names of the configured networks.
 */
function findUnknownAccepted(
  environment: Readonly<Record<string, string | undefined>>,
  { networks }: { readonly networks: readonly string[] },
): readonly ParameterViolation[] {
  const known: Readonly<
    Record<(typeof ACCEPTING_VARIABLES)[number], [what: string, names: readonly string[]]>
  > = {
    TYCHE_ACCEPT_CHAINS: ["a network", [...new Set([...PROFILE_NAMES, ...networks])]],
    TYCHE_ACCEPT_MISSING: ["a layer of the sandbox", ACCEPTABLE_LAYERS],
  };
  return ACCEPTING_VARIABLES.flatMap((variable) => {
    const [what, names] = known[variable];
    const entries = (environment[variable] ?? "").split(",").map((entry) => entry.trim());
    return entries
      .filter((entry) => entry !== "" && !names.includes(entry))
      .map((entry) => ({
        path: variable,
        message: `${describeValue(entry)} can't be used: an entry is ${what}, one of ${names.join(", ")}`,
      }));
  });
}
