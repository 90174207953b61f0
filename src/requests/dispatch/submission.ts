import { encodeFunctionData } from "viem";
import type { Hex } from "viem";
import { MAX_VRF_CALLBACK_GAS } from "../../chainlink/limits.ts";
import {
  MAX_BATCH_BYTES,
  JOINED_CALLBACK_GAS,
  PART_CALLBACK_GAS,
  encodePresetBatch,
  presetCallbackGas,
  submissionGas,
  type SubmissionSize,
} from "../../chainlink/presetBatch.ts";
import { joinedPresetsAbi } from "../../chainlink/contracts/abi.ts";
import { OWN_ABIS, type VrfVersion } from "../../chainlink/vrfVersion.ts";

/**
 * Maximum number of presets that share one VRF request: even with the longest sources, the callback stays under the
 * coordinator's 2,500,000 gas.
 */
export const MAX_PRESETS_PER_PROOF = 10;

/** A request ready to go on chain. */
export type Submission = PresetSubmission | FunctionSubmission | RandomSubmission;

export interface PresetSubmission {
  readonly kind: "preset";
  readonly requestId: string;
  readonly vrfSubscriptionId: bigint;
  readonly functionsSubscriptionId: bigint;
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words are joined, used instead of `keyHash`. */
  readonly joinedKeyHashes?: readonly Hex[] | undefined;
  readonly confirmations: number;
  /** Id of the stored source on this chain. */
  readonly sourceId: number;
  /** CBOR array of the arguments; empty for none. */
  readonly argsCbor: Uint8Array;
  /** Size of the whole function request in bytes, for the callback's gas. */
  readonly requestBytes: number;
  /** Number of contracts that will be on the Functions subscription besides PresetConsumer. */
  readonly linked: number;
}

export interface FunctionSubmission {
  readonly kind: "function";
  readonly requestId: string;
  readonly functionsSubscriptionId: bigint;
  /** The whole CBOR-encoded request. */
  readonly data: Hex;
  /** Number of contracts that will be on the Functions subscription besides PresetConsumer. */
  readonly linked: number;
}

export interface RandomSubmission {
  readonly kind: "random";
  readonly requestId: string;
  readonly vrfSubscriptionId: bigint;
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words are joined, used instead of `keyHash`. */
  readonly joinedKeyHashes?: readonly Hex[] | undefined;
  readonly confirmations: number;
  readonly numWords: number;
}

/** One transaction's worth of submissions. */
export interface Batch {
  /** Calldata of PresetConsumer.submit. */
  readonly data: Hex;
  /** Gas limit of the transaction. */
  readonly gas: bigint;
  /** Request ids by entry, in the contract's order; a preset entry has one id per item. */
  readonly entries: readonly (readonly string[])[];
}

/**
 * Encodes submissions as one transaction; presets of the same dapp and terms share a VRF request. Submissions with joined
 * words go through a different contract function than those without, so the two can't share a transaction.
 */
export function encodeBatch(submissions: readonly Submission[], vrfVersion: VrfVersion): Batch {
  if (submissions.some(isJoined)) return encodeJoins(submissions.filter(isJoined));
  const groups = groupPresets(submissions);
  const functions = submissions.filter((one) => one.kind === "function");
  const randoms = submissions.filter((one) => one.kind === "random");
  const presets = groups.map((items) => {
    const [first] = items as [PresetSubmission];
    return {
      vrfSubId: first.vrfSubscriptionId,
      keyHash: first.keyHash,
      confirmations: first.confirmations,
      callbackGasLimit: callbackGasOf(items),
      batch: encodeItems(items),
    };
  });
  const data = encodeFunctionData({
    abi: OWN_ABIS[vrfVersion].presetConsumer,
    functionName: "submit",
    args: [
      presets,
      functions.map((one) => ({ functionsSubId: one.functionsSubscriptionId, data: one.data })),
      randoms.map((one) => ({
        vrfSubId: one.vrfSubscriptionId,
        keyHash: one.keyHash,
        confirmations: one.confirmations,
        numWords: one.numWords,
      })),
    ],
  });
  return {
    data,
    gas: gasOf(submissions, groups),
    entries: [
      ...groups.map((items) => items.map((item) => item.requestId)),
      ...functions.map((one) => [one.requestId]),
      ...randoms.map((one) => [one.requestId]),
    ],
  };
}

type Joined = (PresetSubmission | RandomSubmission) & { readonly joinedKeyHashes: readonly Hex[] };

/** Whether a submission joins the words of several keys. */
function isJoined(one: Submission): one is Joined {
  return one.kind !== "function" && one.joinedKeyHashes !== undefined;
}

function encodeJoins(submissions: readonly Joined[]): Batch {
  const groups = groupPresets(submissions);
  const randoms = submissions.filter((one) => one.kind === "random");
  const callOf = ({ vrfSubscriptionId, joinedKeyHashes, confirmations }: Joined) => ({
    vrfSubId: vrfSubscriptionId,
    keyHashes: joinedKeyHashes,
    confirmations,
  });
  const calls = [
    ...groups.map((items) => ({
      ...callOf(items[0] as Joined),
      callbackGasLimit: callbackGasOf(items),
      numWords: 0,
      batch: encodeItems(items),
    })),
    ...randoms.map((one) => ({
      ...callOf(one),
      callbackGasLimit: JOINED_CALLBACK_GAS,
      numWords: one.numWords,
      batch: "0x" as const,
    })),
  ];
  return {
    data: encodeFunctionData({ abi: joinedPresetsAbi, functionName: "submitJoined", args: [calls] }),
    gas: gasOf(submissions, groups),
    entries: [
      ...groups.map((items) => items.map(({ requestId }) => requestId)),
      ...randoms.map(({ requestId }) => [requestId]),
    ],
  };
}

function encodeItems(items: readonly PresetSubmission[]): Hex {
  return encodePresetBatch({
    functionsSubId: items[0]!.functionsSubscriptionId,
    items: items.map((item) => ({ sourceId: item.sourceId, args: item.argsCbor })),
  });
}

/** Returns the gas limit of a transaction with these submissions; `groups` are the presets among them that share a proof. */
function gasOf(submissions: readonly Submission[], groups: readonly (readonly PresetSubmission[])[]): bigint {
  return submissionGas(sizeOf(submissions, groups));
}

function sizeOf(
  submissions: readonly Submission[],
  groups: readonly (readonly PresetSubmission[])[],
): SubmissionSize {
  const functions = submissions.filter((one) => one.kind === "function");
  return {
    batchBytes: groups.map((items) => items.reduce((bytes, item) => bytes + packedBytes(item), 5)),
    functionBytes: functions.map((one) => one.data.length / 2 - 1),
    subscriptions: [...Map.groupBy(functions, (one) => one.functionsSubscriptionId).values()].map((each) => ({
      linked: linkedOf(each),
      requests: each.length,
    })),
    randoms: submissions.filter((one) => one.kind === "random" && !isJoined(one)).length,
    joins: [...groups.map(([first]) => first!), ...submissions.filter((one) => one.kind === "random")]
      .filter(isJoined)
      .map(({ joinedKeyHashes }) => joinedKeyHashes.length),
  };
}

/** Returns the bytes of a preset in a packed batch: its source id, the length of its arguments, and the arguments. */
function packedBytes({ argsCbor }: PresetSubmission): number {
  return argsCbor.length + (argsCbor.length < 255 ? 3 : ITEM_HEAD_BYTES);
}

function callbackGasOf(items: readonly PresetSubmission[]): number {
  const gas = presetCallbackGas(
    items.map(({ requestBytes }) => requestBytes),
    linkedOf(items),
  );
  return isJoined(items[0]!) ? gas + PART_CALLBACK_GAS : gas;
}

/** Returns the highest number of linked contracts that any of them allows for. */
function linkedOf(submissions: readonly { readonly linked: number }[]): number {
  return Math.max(...submissions.map(({ linked }) => linked));
}

function groupPresets(submissions: readonly Submission[]): PresetSubmission[][] {
  const groups: PresetSubmission[][] = [];
  const growing = new Map<string, PresetSubmission[]>();
  for (const one of submissions) {
    if (one.kind !== "preset") continue;
    const terms = `${one.vrfSubscriptionId} ${one.functionsSubscriptionId} ${(one.joinedKeyHashes ?? [one.keyHash]).join()} ${one.confirmations}`;
    let items = growing.get(terms);
    if (items === undefined || !hasRoom(items, one)) {
      items = [];
      growing.set(terms, items);
      groups.push(items);
    }
    items.push(one);
  }
  return groups;
}

function hasRoom(items: readonly PresetSubmission[], one: PresetSubmission): boolean {
  const all = [...items, one];
  return (
    all.length <= MAX_PRESETS_PER_PROOF &&
    callbackGasOf(all) <= MAX_VRF_CALLBACK_GAS &&
    all.reduce((bytes, item) => bytes + item.argsCbor.length + ITEM_HEAD_BYTES, 0) <= MAX_PACKED_BYTES
  );
}

/** Bytes before each item's arguments: the source id and the longest form of the arguments' length. */
const ITEM_HEAD_BYTES = 5;
/** Maximum bytes of a batch's items: MAX_BATCH_BYTES minus the subscription id. */
const MAX_PACKED_BYTES = MAX_BATCH_BYTES - 5;

/** Maximum gas of one transaction: networks with EIP-7825 refuse more than 2^24, and it must fit in a block. */
const MAX_TRANSACTION_GAS = 16_000_000n;
/** Maximum bytes of one transaction: pools refuse more than 128 KiB (geth, `txMaxSize`). */
const MAX_TRANSACTION_BYTES = 120_000;

/**
 * Splits submissions, in order, into batches that fit one transaction; an oversized one goes alone. Those with joined words
 * are kept apart from the others.
 *
 * @param maxGas gas limit of one transaction. Default 16,000,000.
 */
export function splitByLimits(
  submissions: readonly Submission[],
  maxGas = MAX_TRANSACTION_GAS,
): Submission[][] {
  return [...Map.groupBy(submissions, isJoined).values()].flatMap((alike) => splitAlike(alike, maxGas));
}

function splitAlike(submissions: readonly Submission[], maxGas: bigint): Submission[][] {
  const parts: Submission[][] = [];
  // For the last part: its gas at most, as if each submission went alone, and its bytes of calldata.
  let gas = 0n;
  let bytes = 0;
  for (const one of submissions) {
    const size = sizeOf([one], groupPresets([one]));
    const oneGas = submissionGas(size);
    const oneBytes = [...size.batchBytes, ...size.functionBytes].reduce((sum, n) => sum + n, ENTRY_BYTES);
    const part = parts.at(-1);
    const fits =
      part !== undefined &&
      bytes + oneBytes <= MAX_TRANSACTION_BYTES &&
      (gas + oneGas <= maxGas || gasOf([...part, one], groupPresets([...part, one])) <= maxGas);
    if (fits) {
      part.push(one);
      gas += oneGas;
      bytes += oneBytes;
    } else {
      parts.push([one]);
      [gas, bytes] = [oneGas, oneBytes];
    }
  }
  return parts;
}

/** Bytes of an entry's other words in the calldata. */
const ENTRY_BYTES = 320;
