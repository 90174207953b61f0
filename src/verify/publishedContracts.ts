import { isAddress, isHash, isHex, size, type Hex } from "viem";
import type { ContractRole, OracleContracts } from "../chainlink/contractBook.ts";
import type { DrandChain } from "../beacon/drand.ts";
import { TycheError } from "../lib/errors.ts";

const ROLES = [
  "vrfCoordinator",
  "functionsRouter",
  "functionsCoordinator",
  "presetConsumer",
] as const satisfies readonly ContractRole[];

/** The network whose addresses are wanted: its name, its chain id, or both where they are known. */
type Wanted =
  | { readonly name: string; readonly chainId?: number | undefined }
  | { readonly chainId: number; readonly name?: never };

export interface Published {
  readonly contracts: Partial<OracleContracts>;
  /** The chain that they are on, if that is said: another chain may have contracts with the same addresses. */
  readonly chainId: number | undefined;
  /** Block in which they had been deployed, if that is said. */
  readonly deploymentBlock: bigint | undefined;
  /** Hashes of the oracle's VRF keys, lower case; `undefined` if they are not said. */
  readonly keyHashes: readonly Hex[] | undefined;
  /** True if the operator says that it runs the chain. Never false: that it doesn't is no operator's word to give. */
  readonly isEmbedded: true | undefined;
  /** The chains of rounds that its presets wait for. */
  readonly drandChains: readonly DrandChain[];
}

/**
 * Parses what an operator published of a network: the response of `GET /api/networks`, one network of it, a contracts file of `tyche network
 * deploy`, or an object of addresses alone. Ignores other members.
 *
 * @throws PublishedContractsError if there are no addresses of the network, they are on another chain, or one is malformed.
 */
export function parsePublished(given: unknown, wanted: Wanted): Published {
  const network = (findNetwork(given, wanted) ?? {}) as Readonly<Record<string, unknown>>;
  const { contracts = network, embedded, beacon, localBeacon, blockNumber } = network;
  const { deploymentBlock = blockNumber } = network;
  const chainId = parseInteger(network["chainId"], "chainId");
  const deployed = parseInteger(deploymentBlock, "deploymentBlock");
  if (chainId !== undefined && wanted.chainId !== undefined && chainId !== wanted.chainId)
    throw new PublishedContractsError(
      `the published contracts are on the chain ${chainId}, not on ${wanted.chainId}; give those of this network, or ask a node of theirs`,
    );
  return {
    contracts: parseAddresses(contracts),
    chainId,
    deploymentBlock: deployed === undefined ? undefined : BigInt(deployed),
    keyHashes: parseKeyHashes(network),
    isEmbedded: embedded === true ? true : undefined,
    drandChains: [beacon, localBeacon].flatMap((one) => parseChain(one) ?? []),
  };
}

function parseInteger(given: unknown, name: string): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "number" && Number.isSafeInteger(given) && given >= 0) return given;
  throw new PublishedContractsError(`${name} must be an integer, not ${JSON.stringify(given)}`);
}

/** Parses the hashes of VRF keys: a list in a network's `vrf`, or those that a contracts file names for itself and its oracle. */
function parseKeyHashes(network: Readonly<Record<string, unknown>>): readonly Hex[] | undefined {
  const { vrf, keyHash, oracle } = network as {
    readonly vrf?: { readonly keyHashes?: unknown } | null;
    readonly keyHash?: unknown;
    readonly oracle?: { readonly furtherVrf?: unknown } | null;
  };
  const further = [oracle?.furtherVrf ?? []]
    .flat()
    .map((one) => (one as { keyHash?: unknown } | null)?.keyHash);
  const given = keyHash === undefined ? vrf?.keyHashes : [keyHash, ...further];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length === 0 || !given.every((one) => isHash(one as string)))
    throw new PublishedContractsError(`the hashes of the VRF keys must be 32 bytes each`);
  return (given as readonly Hex[]).map((one) => one.toLowerCase() as Hex);
}

/** Parses a chain of rounds. One that is malformed is none: its hash would be no request's. */
function parseChain(given: unknown): DrandChain | undefined {
  const { publicKey, genesisTime, period, groupHash, beaconId } = (given ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (!isHex(publicKey) || !isHex(groupHash) || typeof beaconId !== "string") return undefined;
  // The chain's hash stands for these lengths, and for these only.
  if (size(publicKey) !== 96 || size(groupHash) !== 32) return undefined;
  if (!Number.isSafeInteger(genesisTime) || !Number.isInteger(period)) return undefined;
  const isPeriod = (period as number) >= 1 && (period as number) < 2 ** 32;
  if (!isPeriod) return undefined;
  return { publicKey, groupHash, beaconId, genesisTime: genesisTime as number, period: period as number };
}

function parseAddresses(given: unknown): Partial<OracleContracts> {
  const source = (given ?? {}) as Readonly<Record<string, unknown>>;
  const entries = ROLES.flatMap((role): [ContractRole, Hex][] => {
    const address = source[role];
    if (address === undefined) return [];
    if (typeof address !== "string" || !isAddress(address))
      throw new PublishedContractsError(`${role} must be an address, not ${JSON.stringify(address)}`);
    return [[role, address]];
  });
  if (entries.length === 0) throw new PublishedContractsError(`no address of ${ROLES.join(", ")} is given`);
  return Object.fromEntries(entries);
}

/** Returns the network's entry of a list; what is given, if that is no list. */
function findNetwork(given: unknown, wanted: Wanted): unknown {
  const { data, items } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (data !== undefined) return findNetwork(data, wanted);
  const list = Array.isArray(given) ? (given as readonly unknown[]) : items;
  if (!Array.isArray(list)) return given;
  const { name, chainId } = wanted;
  const [key, value] = name === undefined ? ["chainId", chainId] : ["name", name];
  const found = list.find((one) => (one as Readonly<Record<string, unknown>> | null)?.[key] === value);
  if (found === undefined)
    throw new PublishedContractsError(`the published networks have no ${name ?? `chain ${chainId}`}`);
  return found as unknown;
}

/** The text holds no addresses of the network. */
export class PublishedContractsError extends TycheError {
  constructor(message: string) {
    super(message, { code: "invalid_parameter", blame: "caller" });
  }
}
