import { concatBytes, type Hex } from "viem";
import { PACKED_ROUND_BYTES, packRound, unpackRound, type DrandRound } from "../beacon/drand.ts";
import { TycheError } from "../lib/errors.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256, toWord } from "../lib/uint256.ts";
import { randomWords } from "../vrf/randomWords.ts";

/** One preset of a batch: a stored source and its arguments. */
export interface PresetItem {
  /** 1 to 65,535, from PresetConsumer.storeSource. */
  readonly sourceId: number;
  /** Bytes of `encodeArgs`: the CBOR array of the arguments, or nothing. */
  readonly args: Uint8Array;
}

/** Presets that share a request for words. */
export interface PresetBatch {
  readonly items: readonly PresetItem[];
  /** The round of drand that all of them wait for; `undefined` for none. */
  readonly beacon: DrandRound | undefined;
}

/** Maximum bytes of a packed batch; a transaction's calldata must hold it. */
export const MAX_BATCH_BYTES = 24_575;
/** Bytes before an item's arguments: the source id, and the longest form of the arguments' length. */
export const ITEM_HEAD_BYTES = 5;
/** Maximum bytes of one preset's arguments: a batch with this item alone. */
export const MAX_ARGUMENT_BYTES = MAX_BATCH_BYTES - ITEM_HEAD_BYTES;
/** Maximum number of presets in one batch, so that the results of all fit one report. */
export const MAX_PRESETS_PER_BATCH = 100;

/** No source has this id: the last entry of a batch has it, if the batch waits for a round of drand. Its arguments are the packed round. */
const BEACON_SOURCE_ID = 0;
/** Bytes that a round takes in a batch. */
export const BEACON_BYTES = 3 + PACKED_ROUND_BYTES;

/**
 * Packs a batch as PresetConsumerBase.sol describes: for each item 2 bytes of source id, the length of its arguments (1 byte, or
 * 255 and 2 bytes), the arguments. A round of drand is one more entry at the end: the contract doesn't tell it from a preset, and its
 * "result" is the round's signature.
 *
 * @throws PresetBatchError when something does not fit.
 */
export function encodePresetBatch(items: readonly PresetItem[], beacon?: DrandRound): Hex {
  const parts: Uint8Array[] = [];
  for (const { sourceId, args } of items) {
    if (!(sourceId > 0 && sourceId <= 0xffff))
      throw new PresetBatchError(`source id ${sourceId} is not 1 to 65535`);
    const n = args.length;
    if (n > MAX_ARGUMENT_BYTES) throw new PresetBatchError(`arguments have ${n} bytes`);
    const length = n < 255 ? [n] : [255, n >> 8, n & 0xff];
    parts.push(Uint8Array.of(sourceId >> 8, sourceId & 0xff, ...length), args);
  }
  if (beacon !== undefined)
    parts.push(Uint8Array.of(0, BEACON_SOURCE_ID, PACKED_ROUND_BYTES), packRound(beacon));
  const packed = concatBytes(parts);
  if (items.length === 0 || items.length > MAX_PRESETS_PER_BATCH || packed.length > MAX_BATCH_BYTES) {
    throw new PresetBatchError(
      `${items.length} items of ${packed.length} bytes, at most ${MAX_PRESETS_PER_BATCH} of ${MAX_BATCH_BYTES}`,
    );
  }
  return toHexText(packed);
}

/**
 * Unpacks a batch.
 *
 * @throws PresetBatchError when the bytes end within an item, or there are too many or none; SyntaxError when they are not hex.
 */
export function decodePresetBatch(batch: Hex): PresetBatch {
  const bytes = fromHexText(batch);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const items: PresetItem[] = [];
  for (let at = 0; at < bytes.length;) {
    // One more is the round that the batch waits for.
    if (items.length > MAX_PRESETS_PER_BATCH)
      throw new PresetBatchError(`there are more than ${MAX_PRESETS_PER_BATCH} items and a round`);
    const short = bytes[at + 2];
    const start = short === 255 ? at + 5 : at + 3;
    if (short === undefined || start > bytes.length)
      throw new PresetBatchError("the bytes end within an item");
    const length = short === 255 ? view.getUint16(at + 3) : short;
    if (start + length > bytes.length) throw new PresetBatchError("the bytes end within an item");
    items.push({ sourceId: view.getUint16(at), args: bytes.slice(start, start + length) });
    at = start + length;
  }
  const last = items.at(-1);
  const hasBeacon = last?.sourceId === BEACON_SOURCE_ID && last.args.length === PACKED_ROUND_BYTES;
  const beacon = hasBeacon ? unpackRound(items.pop()!.args) : undefined;
  if (items.length === 0 || items.length > MAX_PRESETS_PER_BATCH)
    throw new PresetBatchError(`there are ${items.length} items of 1 to ${MAX_PRESETS_PER_BATCH}`);
  return { items, beacon };
}

/** Returns the random word of each preset of a batch: keccak256(seed ‖ i), as a coordinator derives words from a proof's output. */
export function wordsOfBatch(seed: bigint, items: number): readonly bigint[] {
  return randomWords(seed, items);
}

/** keccak256("tyche.BeaconWord.v1"). */
const BEACON_TAG = keccak256(new TextEncoder().encode("tyche.BeaconWord.v1"));

/**
 * Returns the word of a preset or function that waits for a round of drand: keccak256(tag ‖ its word of the batch ‖ the round's
 * signature ‖ its request id). Whoever can choose one of the two parts can't choose this.
 *
 * @param word 0 for a function, which has none
 */
export function beaconWord(
  word: bigint,
  { signature, requestId }: { readonly signature: Uint8Array; readonly requestId: Hex },
): bigint {
  const parts = [BEACON_TAG, fromHexText(toWord(word)), signature, fromHexText(requestId)];
  return readUint256(keccak256(concatBytes(parts)));
}

/** Returns the id of one preset of a batch, keccak256(VRF request id ‖ item), 32 bytes. */
export function presetRequestId(vrfRequestId: Hex, item: number): Hex {
  return toHexText(keccak256(encodeUint256s(BigInt(vrfRequestId), BigInt(item))));
}

/**
 * Returns the records that PresetConsumer keeps of a batch: `pending` until the seed arrives, then `ready`. Their two lowest
 * bits tell which is which.
 */
export function pendingRecord(batch: Hex): Hex {
  return tagged(keccak256(fromHexText(batch)), 1n);
}
export function readyRecord(batch: Hex, seed: bigint): Hex {
  return tagged(keccak256(encodeUint256s(BigInt(pendingRecord(batch)), seed)), 2n);
}

function tagged(hash: Uint8Array, kind: bigint): Hex {
  return toWord(((readUint256(hash) >> 2n) << 2n) | kind);
}

/** A batch of presets can't be packed or unpacked. */
export class PresetBatchError extends TycheError {
  constructor(reason: string) {
    super(`a batch of presets is malformed: ${reason}`, { code: "malformed_batch", blame: "us" });
  }
}
