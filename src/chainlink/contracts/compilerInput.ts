import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";

/** Contracts that Tyche deploys, by name. */
export type ContractName =
  | keyof typeof VRF_CONTRACTS
  | keyof typeof VRF_V2_PLUS_CONTRACTS
  | keyof typeof FUNCTIONS_CONTRACTS
  | keyof typeof OUR_CONTRACTS;

/** One run of one compiler: its input, and the key under which the output is cached. */
export interface CompilationUnit {
  readonly name: string;
  /** npm alias of the compiler. */
  readonly compiler: "solc-0.8.6" | "solc-0.8.19";
  /** Contract name to its path among the sources. */
  readonly contracts: Readonly<Record<string, string>>;
  /** Solidity's standard JSON input, as text. */
  readonly input: string;
  /** First 32 lower-case hex digits of the SHA-256 of compiler version and input; equal exactly when the output would be. */
  readonly key: string;
}

/** Root of the checkout; its `node_modules` holds the compilers, the public contracts and the cache. */
export const PROJECT_ROOT = resolve(import.meta.dirname, "../../..");

/** The npm package contains the compiler runs as its build read them: block explorers need the sources, which it lacks otherwise. */
const PACKAGED = new URL("./compilationUnits.json", import.meta.url);

/**
 * Returns the compiler runs of every deployed contract, with each Solidity source and its imports: from the npm package or,
 * in a checkout, from the sources on disk.
 *
 * The settings reproduce the public deployments: 200 optimizer runs (a million exceeds the 24,576-byte code limit of
 * EIP-170), no IR pipeline, and the compiler versions that the sources pin.
 *
 * @throws Error when a source or compiler is not installed (`npm ci` installs them).
 */
export function readCompilationUnits(): readonly CompilationUnit[] {
  if (existsSync(PACKAGED)) return JSON.parse(readFileSync(PACKAGED, "utf8")) as readonly CompilationUnit[];
  return [
    unit("vrf", "solc-0.8.6", "berlin", VRF_CONTRACTS),
    unit("vrf-v2-plus", "solc-0.8.19", "paris", VRF_V2_PLUS_CONTRACTS),
    unit("functions", "solc-0.8.19", "paris", FUNCTIONS_CONTRACTS),
    unit("tyche", "solc-0.8.19", "paris", OUR_CONTRACTS),
  ];
}

/** Returns the file that caches a unit's output. */
export function cacheFileOf(unit: CompilationUnit): string {
  return join(PROJECT_ROOT, "node_modules/.cache/tyche", `contracts-${unit.name}-${unit.key}.json`);
}

const CHAINLINK = "@chainlink/contracts/src/v0.8/";

const VRF_CONTRACTS = {
  VRFCoordinatorV2: `${CHAINLINK}vrf/VRFCoordinatorV2.sol`,
  BatchVRFCoordinatorV2: `${CHAINLINK}vrf/BatchVRFCoordinatorV2.sol`,
} as const;

const VRF_V2_PLUS_CONTRACTS = {
  VRFCoordinatorV2_5: `${CHAINLINK}vrf/dev/VRFCoordinatorV2_5.sol`,
  BatchVRFCoordinatorV2Plus: `${CHAINLINK}vrf/dev/BatchVRFCoordinatorV2Plus.sol`,
} as const;

const FUNCTIONS_CONTRACTS = {
  BlockhashStore: `${CHAINLINK}vrf/dev/BlockhashStore.sol`,
  LinkToken: `${CHAINLINK}shared/token/ERC677/LinkToken.sol`,
  FunctionsRouter: `${CHAINLINK}functions/v1_0_0/FunctionsRouter.sol`,
  FunctionsCoordinator: `${CHAINLINK}functions/v1_3_0/FunctionsCoordinator.sol`,
} as const;

const OUR_CONTRACTS = {
  FixedPriceFeed: "src/chainlink/contracts/FixedPriceFeed.sol",
  PresetConsumer: "src/chainlink/contracts/PresetConsumer.sol",
  PresetConsumerV2Plus: "src/chainlink/contracts/PresetConsumerV2Plus.sol",
  SubscriptionOwner: "src/chainlink/contracts/SubscriptionOwner.sol",
  SubscriptionOwnerV2Plus: "src/chainlink/contracts/SubscriptionOwnerV2Plus.sol",
} as const;

function unit(
  name: string,
  compiler: CompilationUnit["compiler"],
  evmVersion: string,
  contracts: Readonly<Record<string, string>>,
): CompilationUnit {
  const sources = new Map<string, { readonly content: string }>();
  for (const path of Object.values(contracts)) collect(path, sources);
  const outputSelection: Record<string, Record<string, string[]>> = {};
  for (const [contract, path] of Object.entries(contracts))
    outputSelection[path] = { [contract]: ["abi", "evm.bytecode.object"] };
  const input = JSON.stringify({
    language: "Solidity",
    sources: Object.fromEntries(sources),
    settings: { optimizer: { enabled: true, runs: 200 }, evmVersion, outputSelection },
  });
  const version = readText(`node_modules/${compiler}/package.json`).match(/"version":\s*"([^"]+)"/)?.[1];
  const key = createHash("sha256").update(`${version}\n${input}`).digest("hex").slice(0, 32);
  return { name, compiler, contracts, input, key };
}

/** Adds the source at `path`, and everything it imports, to `sources`. */
function collect(path: string, sources: Map<string, { readonly content: string }>): void {
  if (sources.has(path)) return;
  const content = readText(path.startsWith("@") ? `node_modules/${path}` : path);
  sources.set(path, { content });
  for (const [, target] of content.matchAll(IMPORT)) {
    if (target !== undefined)
      collect(target.startsWith(".") ? posix.join(dirname(path), target) : target, sources);
  }
}

/** An import directive at the start of a line; comments that mention imports do not match. */
const IMPORT = /^import\s+(?:[^"';]*?from\s+)?["']([^"']+)["']/gm;

function readText(path: string): string {
  return readFileSync(join(PROJECT_ROOT, path), "utf8");
}
