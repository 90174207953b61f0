import { getAbiItem, getAddress, parseAbiParameters, slice, toFunctionSelector, type Hex } from "viem";
import type { Proof } from "../vrf/proof.ts";
import {
  batchVrfCoordinatorAbi,
  batchVrfCoordinatorV2PlusAbi,
  functionsCoordinatorAbi,
  presetConsumerAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "./contracts/abi.ts";
import { decodePresetBatch, type PresetBatch } from "./presetBatch.ts";
import { decodeSignatures, type SignedReport } from "./presetReport.ts";
import { MAX_NODES } from "./quorum.ts";
import { createReadLimit, decodeBoundedCall, decodeBoundedParameters, readWord } from "../evm/boundedAbi.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { createMemo } from "../lib/memo.ts";
import { toWord, WORD_BYTES } from "../lib/uint256.ts";

/** A proof as submitted on chain, with the request it claims to be for. */
export interface Fulfilment {
  readonly proof: Proof;
  readonly commitment: {
    readonly blockNum: bigint;
    readonly subId: bigint;
    readonly callbackGasLimit: number;
    readonly numWords: number;
    readonly sender: Hex;
    /** VRF v2.5 only. */
    readonly extraArgs?: Hex;
  };
  /** VRF v2.5 only: whether the subscription pays the premium but not the gas; absent in a batch. */
  readonly onlyPremium?: boolean;
}

/**
 * Decodes the proofs in a call of `fulfillRandomWords` of a coordinator or its batch contract, in either version, or in PresetConsumer's
 * `deliver`; none for any other call, such as one through an unknown contract.
 */
export function decodeFulfilments(input: Hex): Fulfilment[] {
  const data = decodeDelivery(input)?.fulfilment ?? input;
  const call = tryDecode(() => decodeBoundedCall({ abi: vrfCoordinatorAbi, data }));
  if (call?.functionName === "fulfillRandomWords") {
    const [proof, commitment] = call.args;
    return [{ proof: toProof(proof), commitment }];
  }
  const batch = tryDecode(() => decodeBoundedCall({ abi: batchVrfCoordinatorAbi, data }));
  if (batch === undefined) return tryDecode(() => readV2Plus(data)) ?? [];
  const [proofs, commitments] = batch.args;
  return proofs.flatMap((proof, index) => {
    const commitment = commitments[index];
    return commitment === undefined ? [] : [{ proof: toProof(proof), commitment }];
  });
}

const [FULFILL_V2_PLUS, FULFILL_BATCH_V2_PLUS] = [vrfCoordinatorV2PlusAbi, batchVrfCoordinatorV2PlusAbi].map(
  (abi) => toFunctionSelector(getAbiItem({ abi, name: "fulfillRandomWords" })),
) as [Hex, Hex];
const PROOF_BYTES = 13 * WORD_BYTES;
/** VRFCoordinatorV2_5 normalises all to a tag and a flag: a commitment with more is no request's. */
const MAX_EXTRA_ARGS_BYTES = 4 + WORD_BYTES;

/**
 * Reads the proofs in a call of VRFCoordinatorV2_5 or its batch contract. Anyone may call them, so this reads what they read, where libraries
 * refuse to: Solidity takes negative offsets within calldata.
 */
function readV2Plus(input: Hex): Fulfilment[] {
  const data = fromHexText(input).subarray(SELECTOR_BYTES);
  if (input.startsWith(FULFILL_V2_PLUS)) {
    const commitment = commitmentAt(data, offsetAt(data, 0, PROOF_BYTES));
    const onlyPremium = readWord(data, PROOF_BYTES + WORD_BYTES) !== 0n;
    return commitment === undefined ? [] : [{ proof: proofAt(data, 0), commitment, onlyPremium }];
  }
  if (!input.startsWith(FULFILL_BATCH_V2_PLUS)) return [];
  const proofsAt = offsetAt(data, 0, 0);
  const first = offsetAt(data, 0, WORD_BYTES) + WORD_BYTES;
  const count = lengthAt(data, proofsAt);
  if (first + count * WORD_BYTES > data.length) throw new RangeError("the list ends beyond the data");
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
    const commitment = commitmentAt(data, offsetAt(data, first, first + i * WORD_BYTES));
    const proof = proofAt(data, proofsAt + WORD_BYTES + i * PROOF_BYTES);
    return commitment === undefined ? [] : [{ proof, commitment }];
  });
}

function proofAt(data: Uint8Array, at: number): Proof {
  const word = (index: number): bigint => readWord(data, at + index * WORD_BYTES);
  const pair = (index: number) => [word(index), word(index + 1)] as const;
  return toProof({
    pk: pair(0),
    gamma: pair(2),
    c: word(4),
    s: word(5),
    seed: word(6),
    uWitness: addressIn(word(7)),
    cGammaWitness: pair(8),
    sHashWitness: pair(10),
    zInv: word(12),
  });
}

/** Returns the commitment at `at`; `undefined` for one that no request can have. */
function commitmentAt(data: Uint8Array, at: number): Fulfilment["commitment"] | undefined {
  const word = (index: number): bigint => readWord(data, at + index * WORD_BYTES);
  const extraArgs = bytesAt(data, offsetAt(data, at, at + 5 * WORD_BYTES));
  if (extraArgs.length > MAX_EXTRA_ARGS_BYTES) return undefined;
  return {
    blockNum: word(0),
    subId: word(1),
    callbackGasLimit: Number(word(2)),
    numWords: Number(word(3)),
    sender: addressIn(word(4)),
    extraArgs: toHexText(extraArgs),
  };
}

function addressIn(word: bigint): Hex {
  return getAddress(slice(toWord(word), 12));
}

/** Decodes a call of PresetConsumer `submit`; `undefined` for any other call. */
export function decodeSubmission(input: Hex) {
  const call = tryDecode(() => decodeBoundedCall({ abi: presetConsumerAbi, data: input }));
  if (call?.functionName !== "submit") return undefined;
  const [presets, functions, randoms, labels] = call.args;
  return { presets, functions, randoms, labels };
}

/** An entry of PresetConsumer `submitJoined`. */
export type JoinedCall = ReturnType<typeof decodeJoinedSubmission>[number];

/** Decodes the entries of a call of `submitJoined`; none for any other call. */
export function decodeJoinedSubmission(input: Hex) {
  const call = tryDecode(() => decodeBoundedCall({ abi: presetConsumerAbi, data: input }));
  return call?.functionName === "submitJoined" ? call.args[0] : [];
}

/** Decodes a batch; without presets if the bytes are malformed. */
export function decodeBatch(batch: Hex): PresetBatch {
  return tryDecode(() => decodePresetBatch(batch)) ?? { items: [], beacon: undefined };
}

/** A call of PresetConsumer `deliver`. */
interface Delivery {
  /** Call of the batch coordinator; `0x` for none. */
  readonly fulfilment: Hex;
  readonly reports: readonly SignedReport[];
}

const DELIVER = toFunctionSelector("deliver(bytes,(bytes,bytes)[])");
const SELECTOR_BYTES = 4;

/**
 * Decodes a call of PresetConsumer `deliver`, without reports that have more signatures than there can be nodes, and each report once;
 * `undefined` for any other call. Reports with the same bytes, or signatures, have them in one array.
 *
 * Anyone may call it, so this reads what the contract reads, where libraries refuse to: Solidity takes negative offsets within calldata.
 */
export function decodeDelivery(input: Hex): Delivery | undefined {
  if (!input.startsWith(DELIVER)) return undefined;
  return tryDecode(() => {
    const data = fromHexText(input).subarray(SELECTOR_BYTES);
    const take = createReadLimit(data);
    const fulfilmentAt = offsetAt(data, 0, 0);
    const reportsAt = offsetAt(data, 0, WORD_BYTES);
    const first = reportsAt + WORD_BYTES;
    const count = lengthAt(data, reportsAt);
    if (first + count * WORD_BYTES > data.length) throw new RangeError("the list ends beyond the data");
    const reports = new Map<string, SignedReport>();
    const once = createMemo<string>();
    const bytesOf = (place: number) =>
      once(`bytes ${place}`, () => {
        const bytes = bytesAt(data, place);
        take(bytes.length);
        return bytes;
      });
    const signaturesOf = (place: number) =>
      once(`signatures ${place}`, () => decodeSignatures(bytesOf(place), MAX_NODES + 1));
    for (let i = 0; i < count; i += 1) {
      const at = offsetAt(data, first, first + i * WORD_BYTES);
      const places = [offsetAt(data, at, at), offsetAt(data, at, at + WORD_BYTES)] as const;
      if (!reports.has(places.join()))
        reports.set(places.join(), { report: bytesOf(places[0]), signatures: signaturesOf(places[1]) });
    }
    return {
      fulfilment: toHexText(bytesAt(data, fulfilmentAt)),
      reports: [...reports.values()].filter(({ signatures }) => signatures.length <= MAX_NODES),
    };
  });
}

/** Returns the place that the offset at `at` names, counted from `base`; it may be outside the data. */
function offsetAt(data: Uint8Array, base: number, at: number): number {
  return base + Number(BigInt.asIntN(256, readWord(data, at)));
}

function lengthAt(data: Uint8Array, at: number): number {
  return Number(readWord(data, at));
}

/** Returns the bytes whose length is at `at`, without copying them. @throws RangeError if they are not in the data. */
function bytesAt(data: Uint8Array, at: number): Uint8Array {
  const [start, length] = [at + WORD_BYTES, lengthAt(data, at)];
  if (start + length > data.length) throw new RangeError("the bytes end beyond the data");
  return data.subarray(start, start + length);
}

/** A call of OCR2Base `transmit`. */
export interface Transmission {
  /** Config digest, epoch and round, and an unused word: 32 bytes each. */
  readonly context: readonly [Hex, Hex, Hex];
  /** The bytes that are signed, along with the context. */
  readonly report: Hex;
  readonly signatures: readonly { readonly r: Hex; readonly s: Hex; readonly recoveryId: number }[];
  readonly items: readonly {
    readonly requestId: Hex;
    readonly result: Hex;
    readonly error: Hex;
    readonly commitment: Hex;
    /** Of the round of drand that the request waited for; `0x` if it waited for none. */
    readonly beaconSignature: Hex;
  }[];
}

/** FunctionsCoordinator `_beforeTransmit`: request ids, results, errors, on-chain and off-chain metadata. */
const REPORT = parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]");

/** Decodes a call of `transmit`; `undefined` for any other call, if its report is malformed, or has more signatures than there can be nodes. */
export function decodeTransmission(input: Hex): Transmission | undefined {
  const call = tryDecode(() => decodeBoundedCall({ abi: functionsCoordinatorAbi, data: input }));
  if (call?.functionName !== "transmit") return undefined;
  const [context, report, rs, ss, rawVs] = call.args;
  const decoded = tryDecode(() => decodeBoundedParameters(REPORT, report));
  if (decoded === undefined || rs.length !== ss.length || rs.length > MAX_NODES) return undefined;
  const [requestIds, results, errors, commitments, beaconSignatures] = decoded;
  return {
    context,
    report,
    signatures: rs.map((r, index) => ({
      r,
      s: ss[index]!,
      recoveryId: Number(`0x${rawVs.slice(2 + 2 * index, 4 + 2 * index)}`),
    })),
    items: requestIds.map((requestId, index) => ({
      requestId,
      result: results[index] ?? "0x",
      error: errors[index] ?? "0x",
      commitment: commitments[index] ?? "0x",
      beaconSignature: beaconSignatures[index] ?? "0x",
    })),
  };
}

interface EncodedProof {
  readonly pk: readonly [bigint, bigint];
  readonly gamma: readonly [bigint, bigint];
  readonly c: bigint;
  readonly s: bigint;
  readonly seed: bigint;
  readonly uWitness: Hex;
  readonly cGammaWitness: readonly [bigint, bigint];
  readonly sHashWitness: readonly [bigint, bigint];
  readonly zInv: bigint;
}

function toProof({ pk, seed, ...proof }: EncodedProof): Proof {
  const point = ([x, y]: readonly [bigint, bigint]) => ({ x, y });
  return {
    ...proof,
    publicKey: point(pk),
    gamma: point(proof.gamma),
    preSeed: seed,
    cGammaWitness: point(proof.cGammaWitness),
    sHashWitness: point(proof.sHashWitness),
  };
}

/** Anyone can send any calldata: what can't be decoded is not one of these calls. */
function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
