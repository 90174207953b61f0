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
import { ACCEPTING_VARIABLES, findUnknownAccepted } from "./findUnknownAccepted.ts";
import { findUnusable } from "./findUnusable.ts";
import { readConfigFile, type Members } from "./readConfigFile.ts";

/** Variables of the environment that win over members of the file; lists are comma-separated. */
const VARIABLES: Readonly<Record<string, { readonly path: string; readonly type?: "list" | "integer" }>> = {
  PORT: { path: "/port", type: "integer" },
  HOST: { path: "/host" },
  LOG_LEVEL: { path: "/logLevel" },
  TYCHE_HOSTS: { path: "/hosts", type: "list" },
  TYCHE_RPC_ORIGINS: { path: "/rpcOrigins", type: "list" },
  TYCHE_ALLOW_HOSTS: { path: "/sandbox/allowHosts", type: "list" },
  TYCHE_ALLOW_MODULES: { path: "/sandbox/allowModules", type: "list" },
};

type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration, and where it comes from. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path; absent when there is no file. */
  readonly file?: string;
  /** Variables of the environment that were used. */
  readonly variables: readonly string[];
}

/** Options of {@link readConfig}. */
export interface ReadConfigOptions {
  /** The file that `--config` names. Default: `TYCHE_CONFIG`, else `tyche.json` in the data directory if it is there, else none. */
  readonly file?: string | undefined;
  readonly dataDir: string;
  readonly environment: Environment;
}

const validate = compileValidator(ConfigSchema);

/**
 * Reads and checks the configuration: the file, with the environment's variables over it and defaults for the rest.
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

/** Writes what the environment says into the members; gives the names of the variables that said something. */
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
      // A section that is none is refused as such.
      if (typeof section !== "object" || section === null || Array.isArray(section)) continue;
      section[inner] = value;
    }
    used.push(name);
  }
  return used;
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

/** What came from the environment is told by the name it has there. */
function nameVariable(violation: ParameterViolation, variables: readonly string[]): ParameterViolation {
  const isAt = (path: string): boolean => violation.path === path || violation.path.startsWith(`${path}/`);
  const variable = variables.find((name) => name in VARIABLES && isAt(VARIABLES[name]!.path));
  return variable === undefined ? violation : { ...violation, path: variable };
}

/** The configuration can't be used. `details` has every violation. */
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
