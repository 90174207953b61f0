import {
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  keccak256,
  type Hex,
} from "viem";
import { functionsCoordinatorAbi } from "../chainlink/contracts/abi.ts";
import { configDigestOf, CONFIG_SET_TOPIC, decodeConfigSet } from "../chainlink/nodeConfig.ts";
import { parseNodeUrls } from "../chainlink/offchainConfig.ts";
import type { ChainFacts } from "./chainFacts.ts";

/** A configuration of the coordinator: the signatures it accepts. */
export interface SignerSet {
  /** Checksummed. */
  readonly signers: readonly Hex[];
  readonly transmitters: readonly Hex[];
  /** Number of nodes that may be faulty. */
  readonly faulty: number;
}

/** A configuration with the digest computed from it. */
export type FoundSignerSet = SignerSet & {
  readonly digest: Hex;
  /** URL of each node, where each has an operator of its own; `undefined` for an oracle that holds all keys. */
  readonly urls: readonly string[] | undefined;
};

/** Earlier configurations searched for an old report. */
const MAX_EARLIER_CONFIGS = 16;
/** Storage slots searched; FunctionsCoordinator v1.3.0 has its signers among them. */
const SEARCHED_SLOTS = 64;

export interface SignerSetOptions {
  readonly coordinator: Hex;
  readonly chainId: number;
  /** From the report's context. */
  readonly configDigest: Hex;
}

/**
 * Finds the configuration with a digest. Wherever the addresses come from, the digest is a hash of them together with chain and
 * contract, and the coordinator only accepts reports with its own digest: a list that hashes to it is the right one. Returns
 * `undefined` if the node no longer has the data.
 */
export async function findSignerSet(
  options: SignerSetOptions,
  facts: ChainFacts,
): Promise<FoundSignerSet | undefined> {
  return facts.once(`signers ${options.coordinator} ${options.configDigest}`, async () => {
    const fromLogs = await readLogs(options, facts);
    return fromLogs ?? (await readStorage(options, facts));
  });
}

/** Returns the coordinator's current digest, and the block and number of its configuration. */
export async function readLatestConfig(coordinator: Hex, facts: ChainFacts) {
  const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
  const { data } = await facts.call(coordinator, encodeFunctionData(call));
  const [count, blockNumber, configDigest] = decodeFunctionResult({ ...call, data });
  return { count, blockNumber, configDigest };
}

async function readLogs(options: SignerSetOptions, facts: ChainFacts): Promise<FoundSignerSet | undefined> {
  let block = (await readLatestConfig(options.coordinator, facts)).blockNumber;
  for (let i = 0; i < MAX_EARLIER_CONFIGS && block > 0; i += 1) {
    const pattern = { address: options.coordinator, topics: [CONFIG_SET_TOPIC] };
    const logs = await facts.readLogData(pattern, BigInt(block)).catch(() => []);
    if (logs.length === 0) return undefined;
    let previous = 0;
    for (const data of logs) {
      const found = decodeConfigSet(data);
      const { count, signers, transmitters, faulty, offchainConfig } = found;
      const digest = configDigestOf(found, { ...options, count });
      if (digest === options.configDigest)
        return { signers, transmitters, faulty, digest, urls: parseNodeUrls(offchainConfig, signers.length) };
      previous = found.previousBlock;
    }
    block = previous;
  }
  return undefined;
}

/**
 * Reads the signers from storage. A chain of our own keeps no old logs, but it keeps its configuration: the signers are a list
 * somewhere in the coordinator's storage, as long as the list of transmitters, which the coordinator returns.
 */
async function readStorage(
  options: SignerSetOptions,
  facts: ChainFacts,
): Promise<FoundSignerSet | undefined> {
  const { coordinator } = options;
  const call = { abi: functionsCoordinatorAbi, functionName: "transmitters" } as const;
  const { data } = await facts.call(coordinator, encodeFunctionData(call));
  const transmitters = decodeFunctionResult({ ...call, data });
  const { count } = await readLatestConfig(coordinator, facts);
  const slots = Array.from({ length: SEARCHED_SLOTS }, (_, slot) => BigInt(slot));
  const values = await Promise.all(slots.map((slot) => facts.getStorage(coordinator, slot)));
  for (const [slot, value] of values.entries()) {
    if (BigInt(value) !== BigInt(transmitters.length)) continue;
    // A dynamic array's elements start at keccak256(slot).
    const first = BigInt(keccak256(encodeAbiParameters([{ type: "uint256" }], [BigInt(slot)])));
    const words = await Promise.all(
      transmitters.map((_, index) => facts.getStorage(coordinator, first + BigInt(index))),
    );
    const signers = words.map((word) =>
      getAddress(`0x${BigInt(word).toString(16).padStart(40, "0").slice(-40)}`),
    );
    for (let faulty = 1; 3 * faulty < signers.length; faulty += 1) {
      const set = { signers, transmitters, faulty };
      const rest = { onchainConfig: "0x", offchainConfigVersion: 1n, offchainConfig: "0x" } as const;
      const digest = configDigestOf({ ...set, ...rest }, { ...options, count: BigInt(count) });
      if (digest === options.configDigest) return { ...set, digest, urls: undefined };
    }
  }
  return undefined;
}
