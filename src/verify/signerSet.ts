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
import { MAX_NODES } from "../chainlink/quorum.ts";
import type { ChainFacts } from "./chainFacts.ts";

/** A configuration of the coordinator: whose signatures count. */
export interface SignerSet {
  /** Checksummed. */
  readonly signers: readonly Hex[];
  /** Number of nodes that may be faulty. */
  readonly faulty: number;
  /** Computed from the configuration. */
  readonly digest: Hex;
  /** As the coordinator names it. */
  readonly namedDigest: Hex;
  /** Ordinal number among the coordinator's configurations, from 1. */
  readonly count: bigint;
  /** URL of each node, where each has an operator of its own; `undefined` for an oracle that holds all keys. */
  readonly urls: readonly string[] | undefined;
}

/** Configurations searched for an old report, with a request for each block that has some. A node can name any number. */
const MAX_CONFIGS = 1_000;
/** Why signatures can't be checked. */
export const MISSING_SIGNERS = `the configuration that the report is for was not found: the node doesn't show it, or the coordinator has had ${MAX_CONFIGS} since`;
/** Storage slots searched; FunctionsCoordinator v1.3.0 has its signers among them. */
const SEARCHED_SLOTS = 64;

/** The chain of a coordinator, and its address. */
export interface SignerSetPlace {
  readonly coordinator: Hex;
  readonly chainId: number;
}

/**
 * Reads the coordinator's configurations, the current one first, as far as the node has them. Wherever the addresses come from, the
 * digest is a hash of them together with chain and contract, and reports are accepted for one digest only: a list that hashes to it is
 * the right one.
 */
export async function* readSignerSets(place: SignerSetPlace, facts: ChainFacts): AsyncGenerator<SignerSet> {
  const latest = await readLatestConfig(place.coordinator, facts);
  let isKnown = false;
  for await (const set of readLogs(latest.blockNumber, place, facts)) {
    isKnown ||= set.digest === latest.configDigest;
    yield set;
  }
  const stored = isKnown ? undefined : await readStorage(latest, place, facts);
  if (stored !== undefined) yield stored;
}

/** Returns the configuration with a digest; `none` if none has it, `undefined` if the node doesn't show all that there were. */
export function findSignerSet(
  configDigest: Hex,
  place: SignerSetPlace,
  facts: ChainFacts,
): Promise<SignerSet | "none" | undefined> {
  return facts.once(`signers ${place.coordinator} ${configDigest}`, async () => {
    let isFirstSeen = false;
    for await (const set of readSignerSets(place, facts)) {
      if (set.digest === configDigest) return set;
      isFirstSeen ||= set.count === 1n;
    }
    return isFirstSeen ? "none" : undefined;
  });
}

/** Returns the coordinator's current digest, and the block and number of its configuration. */
export async function readLatestConfig(coordinator: Hex, facts: ChainFacts) {
  const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
  const { data } = await facts.call(coordinator, encodeFunctionData(call));
  const [count, blockNumber, configDigest] = decodeFunctionResult({ ...call, data });
  return { count: BigInt(count), blockNumber, configDigest };
}

async function* readLogs(
  latestBlock: number,
  place: SignerSetPlace,
  facts: ChainFacts,
): AsyncGenerator<SignerSet> {
  const pattern = { address: place.coordinator, topics: [CONFIG_SET_TOPIC] };
  let block = latestBlock;
  let seen = 0;
  while (seen < MAX_CONFIGS && block > 0) {
    const logs = await facts.readLogData(pattern, BigInt(block)).catch(() => []);
    block = 0;
    // The oldest of the block comes last: it names an earlier block.
    for (const data of logs.slice(seen - MAX_CONFIGS).toReversed()) {
      seen += 1;
      const config = decodeConfigSet(data);
      const { count, signers, faulty, configDigest, offchainConfig, previousBlock } = config;
      const digest = configDigestOf(config, { ...place, count });
      const urls = parseNodeUrls(offchainConfig, signers.length);
      yield { signers, faulty, digest, namedDigest: configDigest, count, urls };
      block = previousBlock;
    }
  }
}

/**
 * Reads the signers from storage. A chain of our own keeps no old logs, but it keeps its configuration: the signers are a list
 * somewhere in the coordinator's storage, as long as the list of transmitters, which the coordinator returns.
 */
async function readStorage(
  { count, configDigest }: { readonly count: bigint; readonly configDigest: Hex },
  place: SignerSetPlace,
  facts: ChainFacts,
): Promise<SignerSet | undefined> {
  const { coordinator } = place;
  const call = { abi: functionsCoordinatorAbi, functionName: "transmitters" } as const;
  const { data } = await facts.call(coordinator, encodeFunctionData(call));
  const transmitters = decodeFunctionResult({ ...call, data });
  if (transmitters.length > MAX_NODES) return undefined;
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
      const rest = { onchainConfig: "0x", offchainConfigVersion: 1n, offchainConfig: "0x" } as const;
      const digest = configDigestOf({ signers, transmitters, faulty, ...rest }, { ...place, count });
      if (digest === configDigest)
        return { signers, faulty, digest, namedDigest: configDigest, count, urls: undefined };
    }
  }
  return undefined;
}
