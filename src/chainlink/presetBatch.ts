import { concatBytes, type Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { MAX_VRF_CALLBACK_GAS } from "./limits.ts";

/** One preset of a batch: a stored source and its arguments. */
export interface PresetItem {
  /** 1 to 65,535, from PresetConsumer.storeSource. */
  readonly sourceId: number;
  /** Bytes of `encodeArgs`: the CBOR array of the arguments, or nothing. */
  readonly args: Uint8Array;
}

/** Presets that share one VRF request, and the one subscription that pays for their functions. */
export interface PresetBatch {
  readonly functionsSubId: bigint;
  readonly items: readonly PresetItem[];
}

/** Maximum bytes of one preset's arguments: a batch with this item alone, minus its subscription, source and length. */
export const MAX_ARGUMENT_BYTES = 24_575 - 5 - 5;
/** Maximum bytes of a packed batch: what fits in the code of one contract after its first byte. */
export const MAX_BATCH_BYTES = 24_575;

/**
 * Packs a batch as PresetBatch.sol reads it: 5 bytes of subscription id, then for each item 2 bytes of source id,
 * the length of its arguments (1 byte, or 255 and 2 bytes), the arguments.
 *
 * @throws PresetBatchError when something does not fit.
 */
export function encodePresetBatch({ functionsSubId, items }: PresetBatch): Hex {
  if (functionsSubId < 0n || functionsSubId >= 1n << 40n) {
    throw new PresetBatchError(`subscription id ${functionsSubId} does not fit 5 bytes`);
  }
  const parts: Uint8Array[] = [];
  for (const { sourceId, args } of items) {
    if (!(sourceId > 0 && sourceId <= 0xffff))
      throw new PresetBatchError(`source id ${sourceId} is not 1 to 65535`);
    const n = args.length;
    if (n > MAX_BATCH_BYTES) throw new PresetBatchError(`arguments have ${n} bytes`);
    const length = n < 255 ? [n] : [255, n >> 8, n & 0xff];
    parts.push(Uint8Array.of(sourceId >> 8, sourceId & 0xff, ...length), args);
  }
  const packed = toHexText(concatBytes(parts)).slice(2);
  if (items.length === 0 || packed.length / 2 + 5 > MAX_BATCH_BYTES) {
    throw new PresetBatchError(
      `${items.length} items of ${packed.length / 2} bytes, at most ${MAX_BATCH_BYTES - 5}`,
    );
  }
  return `0x${functionsSubId.toString(16).padStart(10, "0")}${packed}`;
}

/**
 * Unpacks a batch, from the calldata of PresetConsumer.submit.
 *
 * @throws PresetBatchError when the bytes end within an item, or there is no item; SyntaxError when they are not hex.
 */
export function decodePresetBatch(batch: Hex): PresetBatch {
  const bytes = fromHexText(batch);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const items: PresetItem[] = [];
  for (let at = 5; at < bytes.length;) {
    const short = bytes[at + 2];
    const start = short === 255 ? at + 5 : at + 3;
    if (short === undefined || start > bytes.length)
      throw new PresetBatchError("the bytes end within an item");
    const length = short === 255 ? view.getUint16(at + 3) : short;
    if (start + length > bytes.length) throw new PresetBatchError("the bytes end within an item");
    items.push({
      sourceId: view.getUint16(at),
      args: bytes.slice(start, start + length),
    });
    at = start + length;
  }
  if (items.length === 0) throw new PresetBatchError("there is no item");
  return { functionsSubId: BigInt(batch.slice(0, 2 + 2 * 5)), items };
}

/**
 * Returns the VRF callback gas limit of a batch: an upper bound of what the callback takes, so that every item has enough.
 * Above {@link MAX_VRF_CALLBACK_GAS} the coordinator refuses the request: use fewer items.
 *
 * @param requestBytes length of each item's encoded request, as `encodePresetRequest` returns it
 * @param linked number of contracts on the Functions subscription besides PresetConsumer, at the time of the callback
 */
export function presetCallbackGas(requestBytes: readonly number[], linked: number): number {
  const requests = requestBytes.reduce((sum, bytes) => sum + REQUEST_GAS + bytes * REQUEST_GAS_PER_BYTE, 0);
  return CALLBACK_BASE_GAS + Math.ceil(requests) + consumersGas({ linked, requests: requestBytes.length });
}

/** Gas of a part's callback on top of that for its presets: with four keys 16,000 to 38,200, growing with the memory in use. */
export const PART_CALLBACK_GAS = 75_000;
/**
 * Callback gas limit if only random numbers are joined: with four keys 112,500, most of which PresetConsumer wants available
 * before it tries.
 */
export const JOINED_CALLBACK_GAS = 200_000;

/** Returns how many items with requests of this length one VRF request can serve, with `linked` contracts on the subscription. */
export function maxPresetsPerBatch(requestBytes: number, linked: number): number {
  const first = CALLBACK_BASE_GAS + linked * (CONSUMER_GAS - CONSUMER_AGAIN_GAS);
  const each = REQUEST_GAS + requestBytes * REQUEST_GAS_PER_BYTE + linked * CONSUMER_AGAIN_GAS;
  return Math.floor((MAX_VRF_CALLBACK_GAS - first) / each);
}

/** Function requests on one subscription in one transaction. */
export interface SubscriptionUse {
  /** Number of contracts on the subscription besides PresetConsumer. */
  readonly linked: number;
  readonly requests: number;
}

/**
 * Returns the gas that the router takes to load the subscription's consumers, which it does for each request
 * (FunctionsRouter._sendRequest, FunctionsSubscriptions.getSubscription): from cold storage the first time, then from slots
 * that the transaction has already touched.
 */
function consumersGas({ linked, requests }: SubscriptionUse): number {
  return linked * (CONSUMER_GAS + Math.max(0, requests - 1) * CONSUMER_AGAIN_GAS);
}

/** One transaction of PresetConsumer, by the lengths that decide its gas. */
export interface SubmissionSize {
  /** Length of each packed batch. */
  readonly batchBytes: readonly number[];
  /** Length of each function call's data. */
  readonly functionBytes: readonly number[];
  /** The subscriptions of these function calls. */
  readonly subscriptions: readonly SubscriptionUse[];
  /** Number of requests for random words that are not joined. */
  readonly randoms: number;
  /** Number of key hashes of each request for joined words; the batches of presets among them are in `batchBytes`. */
  readonly joins?: readonly number[];
}

/**
 * Returns the gas limit of a submission: an upper bound for subscriptions never used before. Too little reverts the whole
 * submission (`InsufficientGas`); unused gas costs nothing. Each of three nested calls holds back 1/64 of the gas.
 */
export function submissionGas(size: SubmissionSize): bigint {
  const { batchBytes, functionBytes, subscriptions, randoms, joins = [] } = size;
  let gas = FIRST_TOUCH_GAS + randoms * RANDOM_GAS;
  for (const keys of joins) gas += JOIN_GAS + keys * JOINED_KEY_GAS;
  for (const bytes of batchBytes) {
    gas += BATCH_GAS + bytes * CALLDATA_GAS_PER_BYTE;
    gas +=
      bytes <= MAX_BATCH_BYTES_IN_STORAGE
        ? bytes * STORAGE_GAS_PER_BYTE
        : CODE_GAS + bytes * CODE_GAS_PER_BYTE;
  }
  for (const bytes of functionBytes) gas += FUNCTION_GAS + bytes * FUNCTION_GAS_PER_BYTE;
  for (const use of subscriptions) gas += consumersGas(use);
  return BigInt(Math.ceil((gas * 64) / 61));
}

/** The transaction itself, and the first access to every contract and subscription. Here and below: measured, plus a margin. */
const FIRST_TOUCH_GAS = 110_000;
const RANDOM_GAS = 45_000;
const BATCH_GAS = 65_000;
/** A join, and each of its parts: 54,200 on V2, 58,600 on V2.5. */
const JOIN_GAS = 60_000;
const JOINED_KEY_GAS = 65_000;
const FUNCTION_GAS = 145_000;
/** Calldata, two logs, and copies in memory from contract to contract. */
const FUNCTION_GAS_PER_BYTE = 45;
const CALLDATA_GAS_PER_BYTE = 16;
/** PresetBatch.sol: a longer batch is stored as code. */
const MAX_BATCH_BYTES_IN_STORAGE = 95;
const STORAGE_GAS_PER_BYTE = 700;
const CODE_GAS = 40_000;
const CODE_GAS_PER_BYTE = 205;

/** Per contract on a subscription: 2,174, and 175 for each request after the first. */
const CONSUMER_GAS = 2_250;
const CONSUMER_AGAIN_GAS = 190;
/** Reading the batch and the first access to every contract involved: 62,000 on an untouched subscription. */
const CALLBACK_BASE_GAS = 80_000;
/** Per request beyond the first: 97,000 to 100,000, and 21 to 26 per byte. */
const REQUEST_GAS = 105_000;
const REQUEST_GAS_PER_BYTE = 26;

/** A batch of presets can't be packed or unpacked. */
export class PresetBatchError extends TycheError {
  constructor(reason: string) {
    super(`a batch of presets is malformed: ${reason}`, { code: "malformed_batch", blame: "us" });
  }
}
