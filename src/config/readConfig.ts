import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { compileValidator } from "../lib/schemaCheck.ts";
import { TycheError, messageOf } from "../lib/errors.ts";
import { CONFIG_FILE } from "../store/dataDirectory.ts";
import { type JsonValue, pointerTo } from "../lib/parseJson.ts";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { isObject } from "../lib/isObject.ts";
import { VRF25_NETWORKS } from "../networks/vrf25.ts";
import { checkDatabaseChoice } from "./databaseSchema.ts";
import { checkIdentityProvider } from "./identityProviderSchema.ts";
import { ConfigSchema, type Config } from "./configSchema.ts";
import { isEmbedded } from "./embeddedNetworkSchema.ts";
import {
  ACCEPTABLE_LAYERS,
  createHostPolicy,
  createModuleAllowList,
  SandboxOptionError,
} from "../../sandbox/index.ts";
import { isNodeUrl } from "../chainlink/offchainConfig.ts";
import { describeValue } from "../lib/describeValue.ts";
import { PROFILE_NAMES, NETWORK_NAMES, findProfile } from "../networks/profiles.ts";
import { isIP } from "node:net";
import { parseServedHosts } from "../lib/loopback.ts";
import { ORIGIN_FORM, parseRpcOrigins } from "../networks/embedded/rpc/rpcAccess.ts";
import { parsePublicUrl, PUBLIC_URL_FORM } from "./publicUrl.ts";
import { readConfigFile, type Members } from "./readConfigFile.ts";

/** Environment variables that override members of the file; lists are comma-separated. */
const VARIABLES: Readonly<
  Record<string, { readonly path: string; readonly type?: "list" | "integer" | "boolean" }>
> = {
  PORT: { path: "/port", type: "integer" },
  HOST: { path: "/host" },
  LOG_LEVEL: { path: "/logLevel" },
  TYCHE_HOSTS: { path: "/hosts", type: "list" },
  TYCHE_PUBLIC_URL: { path: "/publicUrl" },
  TYCHE_TRUST_PROXY: { path: "/trustProxy", type: "boolean" },
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
    ...checkDatabaseChoice(members),
    ...checkIdentityProvider(members),
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
    const value = type === undefined ? text : PARSERS[type](text);
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

/** What the schema rejects stays a text, so that its message can show it. */
const PARSERS = {
  list: listOf,
  integer: (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : text),
  boolean: (text: string) => (/^(?:true|false)$/.test(text) ? text === "true" : text),
} as const;

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

/** Checks the rules for networks that the schema can't express: what names imply, and which members go together. */
function checkNetworks(networks: unknown): ParameterViolation[] {
  if (!isObject(networks)) return [];
  return Object.entries(networks).flatMap(([name, network]) => {
    const path = pointerTo(name, "/networks");
    if (isEmbedded(network))
      return [
        ...checkEmbedded(name, path),
        ...(isObject(network) ? [...checkPayment(network, path), ...checkVrfKeys(network, path)] : []),
      ];
    return isObject(network)
      ? [
          ...checkChainId(name, network, path),
          ...checkContracts(network, path),
          ...checkChainlink(name, network, path),
          ...checkPayment(network, path),
          ...checkKey(network["operatorKey"], `${path}/operatorKey`),
          ...checkOracleUrl(network["oracleUrl"], `${path}/oracleUrl`),
        ]
      : [];
  });
}

function checkEmbedded(name: string, path: string): ParameterViolation[] {
  if ((NETWORK_NAMES as readonly string[]).includes(name)) return [];
  const message = `can't be embedded: only ${NETWORK_NAMES.join(", ")} can; any other needs rpcUrls`;
  return [{ path, message }];
}

function checkChainId(name: string, { chainId }: NetworkMembers, path: string): ParameterViolation[] {
  const profile = findProfile(name);
  if (profile === undefined && chainId === undefined) {
    const message = `is required, as ${name} is not a network known by name: ${PROFILE_NAMES.join(", ")}`;
    return [{ path: `${path}/chainId`, message }];
  }
  if (profile === undefined || chainId === undefined || chainId === profile.chainId) return [];
  const message = `must be ${profile.chainId}, the chain id of ${name}; got ${JSON.stringify(chainId)}; give another chain another name`;
  return [{ path: `${path}/chainId`, message }];
}

const REQUIRED_CONTRACTS =
  "is required: the path of the file that `tyche network deploy` writes, which need not exist yet; an oracle node may name its coordinator instead";

function checkContracts(network: NetworkMembers, path: string): ParameterViolation[] {
  const { contracts, coordinator } = network;
  if (contracts === undefined && coordinator === undefined)
    return [{ path: `${path}/contracts`, message: REQUIRED_CONTRACTS }];
  if (contracts === undefined) return [];
  return ["coordinator", "presetConsumer"]
    .filter((member) => network[member] !== undefined)
    .map((member) => ({
      path: `${path}/${member}`,
      message: "is for an oracle node that has no contracts file",
    }));
}

/** Chainlink's coordinator is only known for some chains. */
function checkChainlink(name: string, { chainId, vrf }: NetworkMembers, path: string): ParameterViolation[] {
  if (!isObject(vrf) || VRF25_NETWORKS[Number(chainId ?? findProfile(name)?.chainId)] !== undefined)
    return [];
  return ["coordinator", "keyHash"]
    .filter((member) => vrf[member] === undefined)
    .map((member) => ({
      path: `${path}/vrf/${member}`,
      message: "is required, as Chainlink's VRF v2.5 is not known on this chain",
    }));
}

/** Finds members that have a meaning only alongside others. */
function checkPayment(network: NetworkMembers, path: string): ParameterViolation[] {
  const { vrf, nativePayment } = network;
  const isOwnV2Plus = vrf === "v2.5";
  const needs: readonly (readonly [string, boolean, string])[] = [
    ["nativePayment", isOwnV2Plus || isObject(vrf), 'VRF v2.5: "vrf": "v2.5", or Chainlink\'s oracle'],
    ["coinPerSubscription", nativePayment === true, '"nativePayment": true'],
    ["coinPerDay", nativePayment === true, '"nativePayment": true'],
    ["laneMaxGasGwei", isOwnV2Plus, 'our own VRF v2.5 coordinator: "vrf": "v2.5"'],
  ];
  return needs
    .filter(([member, isMet]) => network[member] !== undefined && !isMet)
    .map(([member, , what]) => ({ path: `${path}/${member}`, message: `needs ${what}` }));
}

/** Presets can't join words of more keys than the network has. */
function checkVrfKeys(
  { vrfKeys = 1, presetVrfKeys = 1 }: NetworkMembers,
  path: string,
): ParameterViolation[] {
  if (!(Number(presetVrfKeys) > Number(vrfKeys))) return [];
  const message = `must be at most vrfKeys, ${Number(vrfKeys)}; got ${Number(presetVrfKeys)}`;
  return [{ path: `${path}/presetVrfKeys`, message }];
}

function checkKey(key: unknown, path: string): ParameterViolation[] {
  if (!isObject(key)) return [];
  const given = ["env", "keystore", "remote"].filter((way) => key[way] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? "none of them" : given.join(" and ");
    return [{ path, message: `must have exactly one of env, keystore and remote; got ${found}` }];
  }
  const needsPassword = key["keystore"] !== undefined;
  if (needsPassword && key["passwordFile"] === undefined)
    return [{ path: `${path}/passwordFile`, message: "is required with keystore" }];
  if (!needsPassword && key["passwordFile"] !== undefined)
    return [{ path: `${path}/passwordFile`, message: "is only for keystore" }];
  return [];
}

/** A request can't be made to a URL with a password, and messages name the URL. */
function checkOracleUrl(url: unknown, path: string): ParameterViolation[] {
  if (typeof url !== "string" || isNodeUrl(url)) return [];
  return [{ path, message: "must be an http: or https: URL without user, password, query and fragment" }];
}

type NetworkMembers = Readonly<Record<string, unknown>>;

/** Lists whose entries are parsed at startup, each with that same parser and the form an entry must have. */
const LISTS: Readonly<Record<string, (entry: string) => void>> = {
  "/rpcOrigins": (entry) => expecting(`an origin such as ${ORIGIN_FORM}`, () => parseRpcOrigins([entry])),
  "/hosts": (entry) => expecting("a host name without scheme, port or path", () => parseServedHosts([entry])),
  "/sandbox/allowHosts": (entry) => createHostPolicy([entry]),
  "/sandbox/allowModules": (entry) => createModuleAllowList([entry]),
};
const HOST_NAME = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*\.?$/i;

/**
 * Finds values that the schema accepts but a start would refuse: list entries that can't be parsed, an invalid address, a missing
 * folder. Members of a wrong type are left to the schema.
 *
 * @param options.pluginsBase Folder where a relative `pluginsDir` starts.
 */
function findUnusable(
  members: Members,
  { pluginsBase }: { readonly pluginsBase: string },
): readonly ParameterViolation[] {
  return [
    ...Object.entries(LISTS).flatMap(([path, parse]) => findUnusableEntries(members, path, parse)),
    ...findUnusableHost(members["host"]),
    ...findUnusablePublicUrl(members["publicUrl"]),
    ...findUnusableFolder(members["pluginsDir"], pluginsBase),
  ];
}

function findUnusableEntries(
  members: Members,
  path: string,
  parse: (entry: string) => void,
): ParameterViolation[] {
  let list: JsonValue | undefined = members;
  for (const name of path.slice(1).split("/")) list = isObject(list) ? list[name] : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry, index) => {
    if (typeof entry !== "string" || entry === "") return [];
    try {
      parse(entry);
      return [];
    } catch (error) {
      const expected = error instanceof SandboxOptionError ? error.details.expected : messageOf(error);
      return [{ path: `${path}/${index}`, message: `${describeValue(entry)} can't be used: ${expected}` }];
    }
  });
}

function findUnusableHost(host: JsonValue | undefined): ParameterViolation[] {
  if (typeof host !== "string" || host === "" || isIP(host) !== 0) return [];
  // An invalid address that looks like IPv4 would be looked up as a name.
  if (HOST_NAME.test(host) && host.length <= 253 && !/^[\d.]+$/.test(host)) return [];
  return [
    {
      path: "/host",
      message: `must be an address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0, without port; got ${describeValue(host)}`,
    },
  ];
}

function findUnusablePublicUrl(url: JsonValue | undefined): ParameterViolation[] {
  if (typeof url !== "string" || url === "") return [];
  try {
    parsePublicUrl(url);
    return [];
  } catch {
    // What comes before an @ may be a password.
    const got = url.includes("@") ? "" : `; got ${describeValue(url)}`;
    return [{ path: "/publicUrl", message: `must be ${PUBLIC_URL_FORM}${got}` }];
  }
}

function findUnusableFolder(folder: JsonValue | undefined, base: string): ParameterViolation[] {
  if (typeof folder !== "string" || folder === "") return [];
  const isFolder = (): boolean => {
    try {
      return statSync(resolve(base, folder)).isDirectory();
    } catch {
      return false;
    }
  };
  return isFolder()
    ? []
    : [
        {
          path: "/pluginsDir",
          message: `must be a folder with a subfolder for each preset; got ${describeValue(folder)}`,
        },
      ];
}

/** Rethrows a parser's error as the expected form, because the parser's own message names no member. */
function expecting(form: string, parse: () => void): void {
  try {
    parse();
  } catch (cause) {
    throw new Error(`an entry is ${form}`, { cause });
  }
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
