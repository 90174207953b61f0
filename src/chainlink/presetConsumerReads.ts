import { getAbiItem, toFunctionSelector, type Hex } from "viem";
import { readOf, type ContractRead } from "./contractRead.ts";
import { presetConsumerAbi } from "./contracts/abi.ts";

/** The nodes that PresetConsumer takes reports from; no signers, and a digest of zeros, before it has adopted any. */
export interface AdoptedNodes {
  readonly configDigest: Hex;
  /** How many of them may be faulty. */
  readonly faulty: number;
  /** Checksummed, in the order of the configuration. */
  readonly signers: readonly Hex[];
}

/** Whether a contract's code is that of a PresetConsumer of this version: it has the functions that this version calls. */
export function isPresetConsumer(code: Hex): boolean {
  return [SUBMIT, DELIVER].every((selector) => code.includes(`${PUSH4}${selector.slice(2)}`));
}

/** Whether a call of PresetConsumer is one that only a service sends: with requests, or with a preset's source. */
export function isOfService(data: Hex): boolean {
  return [SUBMIT, SUBMIT_JOINED, STORE_SOURCE].some((selector) => data.startsWith(selector));
}

const PUSH4 = "63";
const [SUBMIT, SUBMIT_JOINED, STORE_SOURCE, DELIVER] = (
  ["submit", "submitJoined", "storeSource", "deliver"] as const
).map((name) => toFunctionSelector(getAbiItem({ abi: presetConsumerAbi, name }))) as [Hex, Hex, Hex, Hex];

/** The reads of PresetConsumer, the same for every version of VRF. */
export const PRESET_CONSUMER_READS = {
  /** What is kept of a VRF request's batch, see `pendingRecord`; 0 for none, and once it has its results. */
  record: (vrfRequestId: Hex): ContractRead<bigint> =>
    readOf(presetConsumerAbi, "recordOf", [BigInt(vrfRequestId)]),
  /** The id of the stored source with this hash; 0 if there is none. */
  sourceIdOf: (hash: Hex): ContractRead<number> => readOf(presetConsumerAbi, "sourceIdOf", [hash]),
  /** A stored source, in UTF-8. Reverts with UnknownSource if there is none. */
  source: (sourceId: number): ContractRead<Hex> => readOf(presetConsumerAbi, "sourceOf", [sourceId]),
  adoptedNodes: (): ContractRead<AdoptedNodes> =>
    readOf(presetConsumerAbi, "adoptedNodes", [], ([configDigest, faulty, signers]) => ({
      configDigest,
      faulty,
      signers,
    })),
} as const;
