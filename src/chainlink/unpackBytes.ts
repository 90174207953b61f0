import type { Hex } from "viem";
import type { DecodedValue } from "../api/types.ts";
import { decodeResult } from "../domain/decodeResult.ts";
import { isText } from "../lib/hiddenCharacters.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { toWord } from "../lib/uint256.ts";
import { deriveWords } from "./fulfilmentWords.ts";
import { decodeArgs, decodeFunctionsRequest } from "./functionsRequest.ts";
import { decodePresetBatch, presetRequestId } from "./presetBatch.ts";
import { decodeBatchReport, decodeResults, type PresetResult } from "./presetReport.ts";
import { decodeRevertReason } from "./revertReason.ts";
import { isPaidNatively } from "./vrfVersion.ts";

/** `resultCode` of RequestProcessed where the consumer's callback reverted (FunctionsResponse.FulfillResult). */
const CALLBACK_FAILED = "1";
/** Extra arguments that VRFCoordinatorV2_5 accepts: none, or `abi.encode(bool)` after the tag, bytes4(keccak256("VRF ExtraArgsV1")). */
const PAYMENT = /^0x(?:92fd13380{63}[01])?$/;
/**
 * Most entries of lists that are read in a call or an event: one may take a byte or two of it, and takes up to 170 in an answer. The oracle's reports
 * have up to 60,000 bytes of results, most of which take 34.
 */
const MAX_ENTRIES = 2_000;
/** Bytes of a round's signature, a compressed point of BLS12-381 G1, whose first bit is set. */
const SIGNATURE_BYTES = 48;

/** Reads what a value holds; throws, or returns nothing, if it holds something else. Results, whose ids are hashed, throw if they are more than `maxEntries`. */
type Reader = (
  value: Hex,
  siblings: ReadonlyMap<string, string>,
  maxEntries: number,
) => readonly DecodedValue[] | undefined;

/** By the name of the value in the interfaces of our contracts and Chainlink's; other bytes under these names don't parse. */
const READERS: Readonly<Record<string, Reader>> = {
  batch: (batch, siblings) => readBatch(batch, siblings.get("vrfRequestId")),
  results: (results, siblings, maxEntries) =>
    readResults(fromHexText(results), siblings.get("vrfRequestId"), maxEntries),
  report: (report, _, maxEntries) => readReport(fromHexText(report), maxEntries),
  reason: readRevert,
  callbackReturnData: (data, siblings) =>
    siblings.get("resultCode") === CALLBACK_FAILED ? readRevert(data) : undefined,
  data: readFunction,
  response: (response) => (response === "0x" ? undefined : [readingOf(fromHexText(response))]),
  extraArgs: (extraArgs) =>
    PAYMENT.test(extraArgs)
      ? [leafOf("nativePayment", "bool", String(isPaidNatively({ extraArgs })))]
      : undefined,
  // How many there are stands in the request.
  outputSeed: (seed) => deriveWords(BigInt(seed), 1).map((word) => leafOf("first word", "uint256", word)),
};

/**
 * Adds to values of our contracts' and Chainlink's events and calls what they hold, where it is known: presets with their arguments, results,
 * functions, errors and words. Lists of more than {@link MAX_ENTRIES} entries in all stay bytes.
 */
export function unpackBytes(
  values: readonly DecodedValue[],
  left = { entries: MAX_ENTRIES },
): DecodedValue[] {
  const siblings = new Map(
    values.flatMap(({ name, value }) => (typeof value === "string" ? [[name, value] as const] : [])),
  );
  return values.map((one) => {
    const { name, type, value } = one;
    if (typeof value !== "string") return { ...one, value: unpackBytes(value, left) };
    const isKnown = (type === "bytes" || name === "outputSeed") && Object.hasOwn(READERS, name);
    try {
      const holds = isKnown ? READERS[name]!(value as Hex, siblings, left.entries) : undefined;
      const entries = countEntries(holds);
      if (holds === undefined || entries > left.entries) return one;
      left.entries -= entries;
      return { ...one, holds };
    } catch {
      // Anyone may call with bytes that are none of these.
      return one;
    }
  });
}

function readBatch(batch: Hex, vrfRequestId: string | undefined): readonly DecodedValue[] {
  const { items, beacon } = decodePresetBatch(batch);
  return [
    ...items.map(({ sourceId, args }, item) =>
      groupOf("preset", [
        ...idOf(vrfRequestId, item),
        leafOf("sourceId", "uint16", sourceId),
        listOf("args", "string", decodeArgs(args)),
      ]),
    ),
    ...(beacon === undefined ? [] : [leafOf("round of drand", "uint64", beacon.round)]),
  ];
}

function readReport(report: Uint8Array, maxEntries: number): readonly DecodedValue[] {
  let left = maxEntries;
  return decodeBatchReport(report).map(({ vrfRequestId, results }) => {
    // The batch is an entry, too.
    const holds = readResults(results, vrfRequestId, left - 1);
    left -= 1 + holds.length;
    return groupOf("batch", [
      leafOf("vrfRequestId", "bytes32", vrfRequestId),
      { ...leafOf("results", "bytes", toHexText(results)), holds },
    ]);
  });
}

function readResults(
  packed: Uint8Array,
  vrfRequestId: string | undefined,
  maxEntries: number,
): readonly DecodedValue[] {
  const results = decodeResults(packed);
  if (results.length > maxEntries) throw new RangeError(`there are more than ${maxEntries} results`);
  return results.map((result, item) => {
    if (item > 0 && item === results.length - 1 && isSignature(result))
      return leafOf("signature of the round", "bytes", toHexText(result.bytes));
    const reading = result.ok
      ? readingOf(result.bytes)
      : leafOf("error", "string", decodeResult(result.bytes, "string"));
    return groupOf("result", [...idOf(vrfRequestId, item), reading]);
  });
}

function isSignature({ ok, bytes }: PresetResult): boolean {
  return ok && bytes.length === SIGNATURE_BYTES && bytes[0]! >= 0x80;
}

/** Reads a result, whose type isn't on chain: as text, or as a number. */
function readingOf(bytes: Uint8Array): DecodedValue {
  const text = decodeResult(bytes, "string");
  if (isText(text)) return leafOf("result", "string", text);
  return bytes.length <= 32
    ? leafOf("result", "uint256", decodeResult(bytes, "uint256"))
    : leafOf("result", "bytes", toHexText(bytes));
}

function readRevert(data: Hex): readonly DecodedValue[] | undefined {
  const { text } = decodeRevertReason(data);
  return text === data ? undefined : [leafOf("error", "string", text)];
}

function readFunction(data: Hex): readonly DecodedValue[] {
  const { source, args, bytesArgs, beacon } = decodeFunctionsRequest(fromHexText(data));
  return [
    leafOf("source", "string", source),
    listOf("args", "string", args),
    ...(bytesArgs.length === 0 ? [] : [listOf("bytesArgs", "bytes", bytesArgs)]),
    ...(beacon === undefined ? [] : [leafOf("round of drand", "uint64", beacon.round)]),
  ];
}

/** The id of a preset follows from its VRF request and its place. */
function idOf(vrfRequestId: string | undefined, item: number): readonly DecodedValue[] {
  if (vrfRequestId === undefined) return [];
  return [leafOf("requestId", "bytes32", presetRequestId(toWord(BigInt(vrfRequestId)), item))];
}

function leafOf(name: string, type: string, value: string | number | bigint): DecodedValue {
  return { name, type, value: String(value) };
}

function groupOf(type: string, value: readonly DecodedValue[]): DecodedValue {
  return { name: "", type, value };
}

/** Counts what has no name: entries of lists, presets, batches and their results. */
function countEntries(values: readonly DecodedValue[] = []): number {
  return values.reduce(
    (sum, { name, value, holds }) =>
      sum +
      (name === "" ? 1 : 0) +
      (typeof value === "string" ? 0 : countEntries(value)) +
      countEntries(holds),
    0,
  );
}

function listOf(name: string, type: string, values: readonly string[]): DecodedValue {
  return { name, type: `${type}[]`, value: values.map((value) => leafOf("", type, value)) };
}
