import type { DrandRound } from "../../beacon/drand.ts";
import { encodeFunctionData, type Hex } from "viem";
import {
  ITEM_HEAD_BYTES,
  MAX_BATCH_BYTES,
  MAX_PRESETS_PER_BATCH,
  BEACON_BYTES,
  encodePresetBatch,
} from "../../chainlink/presetBatch.ts";
import { submissionGas } from "../../chainlink/gas.ts";
import { MAX_TRANSACTION_GAS } from "../../evm/pipelining.ts";
import { presetConsumerAbi } from "../../chainlink/contracts/abi.ts";

/** A request ready to go on chain. */
export type Submission = (PresetSubmission | FunctionSubmission | RandomSubmission) & {
  readonly label?: Label | undefined;
};

/** What a request is for, and whose it is: on chain for all to see. */
export interface Label {
  readonly dapp: string;
  readonly text: string;
}

export interface PresetSubmission {
  readonly kind: "preset";
  readonly requestId: string;
  readonly vrfSubscriptionId: bigint;
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words are joined, used instead of `keyHash`. */
  readonly joinedKeyHashes?: readonly Hex[] | undefined;
  readonly confirmations: number;
  /** Id of the stored source on this chain. */
  readonly sourceId: number;
  /** CBOR array of the arguments; empty for none. */
  readonly argsCbor: Uint8Array;
  /** The round of drand that it waits for. */
  readonly beacon?: DrandRound | undefined;
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

/** The transaction that brings submissions on chain. */
export interface EncodedSubmissions {
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
export function encodeSubmissions(submissions: readonly Submission[]): EncodedSubmissions {
  if (submissions.some(isJoined)) return encodeJoins(submissions.filter(isJoined));
  const groups = groupPresets(submissions);
  const functions = submissions.filter((one) => one.kind === "function");
  const randoms = submissions.filter((one) => one.kind === "random");
  const presets = groups.map(({ items }) => {
    const first = items[0]!;
    return {
      vrfSubId: first.vrfSubscriptionId,
      keyHash: first.keyHash,
      confirmations: first.confirmations,
      batch: encodeItems(items),
    };
  });
  const entries = [
    ...groups.map(({ items }) => items.map((item) => item.requestId)),
    ...functions.map((one) => [one.requestId]),
    ...randoms.map((one) => [one.requestId]),
  ];
  const data = encodeFunctionData({
    abi: presetConsumerAbi,
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
      labelsOf(submissions, entries),
    ],
  });
  return { data, gas: gasOf(submissions, groups), entries };
}

/** Returns the labels of submissions with their places in the transaction. */
function labelsOf(submissions: readonly Submission[], entries: EncodedSubmissions["entries"]) {
  const labels = new Map(submissions.map(({ requestId, label }) => [requestId, label]));
  return entries.flatMap((ids, index) =>
    ids.flatMap((id, item) => {
      const label = labels.get(id);
      return label === undefined ? [] : [{ index: BigInt(index), item: BigInt(item), ...label }];
    }),
  );
}

type Joined = (PresetSubmission | RandomSubmission) & { readonly joinedKeyHashes: readonly Hex[] };

/** Whether a submission joins the words of several keys. */
function isJoined(one: Submission): one is Joined {
  return one.kind !== "function" && one.joinedKeyHashes !== undefined;
}

function encodeJoins(submissions: readonly Joined[]): EncodedSubmissions {
  const groups = groupPresets(submissions);
  const randoms = submissions.filter((one) => one.kind === "random");
  const callOf = ({ vrfSubscriptionId, joinedKeyHashes, confirmations }: Joined) => ({
    vrfSubId: vrfSubscriptionId,
    keyHashes: joinedKeyHashes,
    confirmations,
  });
  const calls = [
    ...groups.map(({ items }) => ({
      ...callOf(items[0] as Joined),
      numWords: 0,
      batch: encodeItems(items),
    })),
    ...randoms.map((one) => ({
      ...callOf(one),
      numWords: one.numWords,
      batch: "0x" as const,
    })),
  ];
  const entries = [
    ...groups.map(({ items }) => items.map(({ requestId }) => requestId)),
    ...randoms.map(({ requestId }) => [requestId]),
  ];
  const args = [calls, labelsOf(submissions, entries)] as const;
  return {
    data: encodeFunctionData({ abi: presetConsumerAbi, functionName: "submitJoined", args }),
    gas: gasOf(submissions, groups),
    entries,
  };
}

function encodeItems(items: readonly PresetSubmission[]): Hex {
  return encodePresetBatch(
    items.map((item) => ({ sourceId: item.sourceId, args: item.argsCbor })),
    items[0]?.beacon,
  );
}

/** Returns the gas limit of a transaction with these submissions; `groups` are the presets among them that share a proof. */
function gasOf(submissions: readonly Submission[], groups: readonly PresetGroup[]): bigint {
  const functions = submissions.filter((one) => one.kind === "function");
  return submissionGas({
    batchBytes: groups.map(({ bytes }) => bytes),
    functionBytes: functions.map((one) => one.data.length / 2 - 1),
    subscriptions: [...Map.groupBy(functions, (one) => one.functionsSubscriptionId).values()].map((each) => ({
      linked: Math.max(...each.map(({ linked }) => linked)),
      requests: each.length,
    })),
    randoms: submissions.filter((one) => one.kind === "random" && !isJoined(one)).length,
    joins: [...groups.map(({ items }) => items[0]!), ...submissions.filter((one) => one.kind === "random")]
      .filter(isJoined)
      .map(({ joinedKeyHashes }) => joinedKeyHashes.length),
    labelBytes: submissions.flatMap(({ label }) => (label === undefined ? [] : [bytesOf(label)])),
  });
}

/** Returns the bytes of a label's texts. */
function bytesOf({ dapp, text }: Label): number {
  return Buffer.byteLength(dapp) + Buffer.byteLength(text);
}

/** Returns the bytes of a preset in a packed batch: its source id, the length of its arguments, and the arguments. */
function packedBytes({ argsCbor }: PresetSubmission): number {
  return argsCbor.length + (argsCbor.length < 255 ? 3 : ITEM_HEAD_BYTES);
}

/** Presets that share a VRF request, and their bytes as packed. */
interface PresetGroup {
  readonly items: PresetSubmission[];
  bytes: number;
}

/** Creates groups of presets, in order, as they share VRF requests. */
function createPresetGroups() {
  const groups: PresetGroup[] = [];
  const growing = new Map<string, PresetGroup>();
  return {
    groups,
    /** Returns whether the preset begins a group. */
    add: (one: PresetSubmission): boolean => {
      const terms = `${one.vrfSubscriptionId} ${(one.joinedKeyHashes ?? [one.keyHash]).join()} ${one.confirmations} ${one.beacon?.round} ${one.beacon?.chainHash}`;
      const bytes = packedBytes(one);
      const group = growing.get(terms);
      const hasRoom =
        group !== undefined &&
        group.items.length < MAX_PRESETS_PER_BATCH &&
        group.bytes + bytes <= MAX_BATCH_BYTES;
      if (hasRoom) {
        group.items.push(one);
        group.bytes += bytes;
        return false;
      }
      const begun = { items: [one], bytes: bytes + (one.beacon === undefined ? 0 : BEACON_BYTES) };
      growing.set(terms, begun);
      groups.push(begun);
      return true;
    },
  };
}

function groupPresets(submissions: readonly Submission[]): readonly PresetGroup[] {
  const { groups, add } = createPresetGroups();
  for (const one of submissions) if (one.kind === "preset") add(one);
  return groups;
}

/** Maximum bytes of one transaction: pools refuse more than 128 KiB (geth, `txMaxSize`). */
export const MAX_TRANSACTION_BYTES = 120_000;

/**
 * Splits submissions, in order, into parts that fit one transaction; an oversized one goes alone. Those with joined words
 * are kept apart from the others.
 *
 * @param maxGas gas limit of one transaction. Default 2^24.
 */
export function splitByLimits(
  submissions: readonly Submission[],
  maxGas = MAX_TRANSACTION_GAS,
): Submission[][] {
  return [...Map.groupBy(submissions, isJoined).values()].flatMap((alike) => splitAlike(alike, maxGas));
}

function splitAlike(submissions: readonly Submission[], maxGas: bigint): Submission[][] {
  const parts: Submission[][] = [];
  let part = createPart();
  for (const one of submissions) {
    part.add(one);
    if (part.submissions.length > 1 && !part.fits(maxGas)) {
      part.submissions.pop();
      part = createPart();
      part.add(one);
    }
    if (part.submissions.length === 1) parts.push(part.submissions);
  }
  return parts;
}

/** Creates a transaction to add submissions to. */
function createPart() {
  const submissions: Submission[] = [];
  const { groups, add } = createPresetGroups();
  /** Bytes of calldata. */
  let bytes = 0;
  return {
    submissions,
    add(one: Submission): void {
      submissions.push(one);
      const isEntry = one.kind !== "preset" || add(one);
      if (one.kind === "preset") bytes += packedBytes(one);
      if (one.kind === "function") bytes += one.data.length / 2 - 1;
      if (isEntry) bytes += ENTRY_BYTES;
      if (one.label !== undefined) bytes += ENTRY_BYTES + bytesOf(one.label);
    },
    fits: (maxGas: bigint): boolean => bytes <= MAX_TRANSACTION_BYTES && gasOf(submissions, groups) <= maxGas,
  };
}

/** Bytes of an entry's other words in the calldata, and of a label's. */
const ENTRY_BYTES = 320;
