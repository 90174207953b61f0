import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  parseAbiItem,
  parseAbiParameters,
  toEventSelector,
  type Hex,
} from "viem";
import { readOf } from "./contractRead.ts";
import { functionsCoordinatorAbi, presetConsumerAbi } from "./contracts/abi.ts";
import { faultyNodesOf } from "./quorum.ts";

/** OCR2Abstract. */
const CONFIG_SET = parseAbiItem(
  "event ConfigSet(uint32 previousConfigBlockNumber, bytes32 configDigest, uint64 configCount, address[] signers, address[] transmitters, uint8 f, bytes onchainConfig, uint64 offchainConfigVersion, bytes offchainConfig)",
);
const DIGEST_PARAMETERS = parseAbiParameters(
  "uint256, address, uint64, address[], address[], uint8, bytes, uint64, bytes",
);

/** First topic of OCR2Abstract `ConfigSet`. */
export const CONFIG_SET_TOPIC = toEventSelector(CONFIG_SET);

/** A configuration as OCR2's `setConfig` takes it. */
export interface NodeConfig {
  /** Checksummed. */
  readonly signers: readonly Hex[];
  readonly transmitters: readonly Hex[];
  readonly faulty: number;
  readonly onchainConfig: Hex;
  readonly offchainConfigVersion: bigint;
  readonly offchainConfig: Hex;
}

/** The content of a `ConfigSet` log. */
export interface ConfigSet extends NodeConfig {
  /** Block of the previous configuration; 0 for the first. */
  readonly previousBlock: number;
  readonly configDigest: Hex;
  /** Ordinal number among the contract's configurations, from 1. */
  readonly count: bigint;
}

/** Returns the configuration of these nodes, ⌊(n − 1) / 3⌋ of which may be faulty. */
export function nodeConfigOf(nodes: {
  readonly signers: readonly Hex[];
  readonly transmitters: readonly Hex[];
  readonly offchainConfig?: Hex | undefined;
}): NodeConfig {
  const { signers, transmitters, offchainConfig = "0x" } = nodes;
  const faulty = faultyNodesOf(signers.length);
  return { signers, transmitters, faulty, onchainConfig: "0x", offchainConfigVersion: 1n, offchainConfig };
}

/** Encodes the call of `setConfig`. */
export function encodeSetConfig(config: NodeConfig): Hex {
  const { signers, transmitters, faulty, onchainConfig, offchainConfigVersion, offchainConfig } = config;
  return encodeFunctionData({
    abi: functionsCoordinatorAbi,
    functionName: "setConfig",
    args: [signers, transmitters, faulty, onchainConfig, offchainConfigVersion, offchainConfig],
  });
}

/**
 * Returns the gas limit of `setConfig`: a fixed part, and for each node four storage slots and its share of the lists and the
 * log; the slots of replaced nodes are freed.
 */
export function gasOfSetConfig(nodes: number): bigint {
  return SET_CONFIG_GAS + GAS_PER_NODE * BigInt(nodes);
}

/** Decodes the data of a `ConfigSet` log. Throws viem's error if it isn't one. */
export function decodeConfigSet(data: Hex): ConfigSet {
  const [
    previousBlock,
    configDigest,
    count,
    signers,
    transmitters,
    faulty,
    onchainConfig,
    offchainConfigVersion,
    offchainConfig,
  ] = decodeAbiParameters(CONFIG_SET.inputs, data);
  const config = { signers, transmitters, faulty, onchainConfig, offchainConfigVersion, offchainConfig };
  return { previousBlock, configDigest, count, ...config };
}

/** The read of a coordinator's current configuration: its ordinal number, block and digest. */
export const LATEST_CONFIG = readOf(
  functionsCoordinatorAbi,
  "latestConfigDetails",
  [],
  ([count, blockNumber, configDigest]) => ({ count: BigInt(count), blockNumber, configDigest }),
);

/** Where a configuration is set, and as the how many-th of its contract. */
export interface ConfigPlace {
  readonly chainId: number;
  readonly coordinator: Hex;
  readonly count: bigint;
}

/** Returns the digest of OCR2Base `_configDigestFromConfigData`: a hash whose first two bytes are a version, 0x0001. */
export function configDigestOf(config: NodeConfig, place: ConfigPlace): Hex {
  return `0x0001${keccak256(encodeConfig(config, place)).slice(6)}`;
}

/** Encodes the call of PresetConsumer `adoptNodes`, which anybody may send after a `setConfig`. */
export function encodeAdoptNodes(config: NodeConfig, place: ConfigPlace): Hex {
  return encodeFunctionData({
    abi: presetConsumerAbi,
    functionName: "adoptNodes",
    args: [encodeConfig(config, place)],
  });
}

/** Returns the gas limit of `adoptNodes`, for URLs of any length allowed. */
export function gasOfAdoptNodes(nodes: number): bigint {
  return ADOPT_NODES_GAS + ADOPT_GAS_PER_NODE * BigInt(nodes);
}

/** Encodes what a configuration's digest is the hash of. */
function encodeConfig(config: NodeConfig, place: ConfigPlace): Hex {
  return encodeAbiParameters(DIGEST_PARAMETERS, [
    BigInt(place.chainId),
    place.coordinator,
    place.count,
    config.signers,
    config.transmitters,
    config.faulty,
    config.onchainConfig,
    config.offchainConfigVersion,
    config.offchainConfig,
  ]);
}

/** Upper bound of the part that does not grow with the nodes, with room for replaced ones: 31 take about 600,000. */
const SET_CONFIG_GAS = 1_500_000n;
const GAS_PER_NODE = 150_000n;
const ADOPT_NODES_GAS = 120_000n;
const ADOPT_GAS_PER_NODE = 12_000n;
