import { concatBytes, encodeFunctionData, type Hex } from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256, toWord, WORD_BYTES } from "../lib/uint256.ts";
import { presetConsumerAbi } from "./contracts/abi.ts";
import { MAX_PRESETS_PER_BATCH } from "./presetBatch.ts";
import { TycheError } from "../lib/errors.ts";

/** What a source gave: its result, or the text of its error in UTF-8. */
export interface PresetResult {
  readonly ok: boolean;
  /** At most {@link MAX_RESULT_BYTES}. */
  readonly bytes: Uint8Array;
}

/** The results of one batch. */
export interface BatchResults {
  readonly vrfRequestId: Hex;
  /** Record of the batch with its seed, see `readyRecord`. */
  readonly ready: Hex;
  /** Bytes of {@link encodeResults}. */
  readonly results: Uint8Array;
}

/** A recoverable signature of the node with this index in the configuration. */
export interface NodeSignature {
  readonly index: number;
  /** 32 bytes each. */
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  /** 0 or 1. */
  readonly recoveryId: number;
}

export interface SignedReport {
  /** Bytes of {@link encodeBatchReport}. */
  readonly report: Uint8Array;
  readonly signatures: readonly NodeSignature[];
}

/** Where reports are valid. */
export interface ReportPlace {
  readonly chainId: number;
  readonly presetConsumer: Hex;
  /** FunctionsCoordinator's configuration that PresetConsumer has adopted. */
  readonly configDigest: Hex;
}

/** Longest result or error text: 15 bits. */
export const MAX_RESULT_BYTES = 0x7fff;
const ERROR = 0x8000;
const HEAD_BYTES = 2 * WORD_BYTES + 3;
const SIGNATURE_BYTES = 66;
/** keccak256("tyche.PresetReport.v1"). */
const REPORT_TAG = readUint256(keccak256(new TextEncoder().encode("tyche.PresetReport.v1")));

/** Packs the results of a batch: for each preset, in order, 2 bytes with the length (highest bit: an error), and the bytes. */
export function encodeResults(results: readonly PresetResult[]): Uint8Array {
  return concatBytes(
    results.flatMap(({ ok, bytes }) => {
      const n = bytes.length | (ok ? 0 : ERROR);
      return [Uint8Array.of(n >> 8, n & 0xff), bytes];
    }),
  );
}

/** Unpacks the results of a batch. @throws PresetReportError when the bytes end within a result, or there are more than a batch can have. */
export function decodeResults(packed: Uint8Array): readonly PresetResult[] {
  const results: PresetResult[] = [];
  for (let at = 0; at < packed.length;) {
    const n = (packed[at]! << 8) | (packed[at + 1] ?? 0);
    const end = at + 2 + (n & MAX_RESULT_BYTES);
    if (end > packed.length) throw new PresetReportError("the bytes end within a result");
    // One more is the signature of the round that the batch waited for.
    if (results.length > MAX_PRESETS_PER_BATCH)
      throw new PresetReportError(`there are more than ${MAX_PRESETS_PER_BATCH} results and a round`);
    results.push({ ok: n < ERROR, bytes: packed.slice(at + 2, end) });
    at = end;
  }
  return results;
}

/** Packs the results of batches into the bytes that the nodes sign, see `SignedReport` of PresetConsumerBase.sol. */
export function encodeBatchReport(batches: readonly BatchResults[]): Uint8Array {
  return concatBytes(
    batches.flatMap(({ vrfRequestId, ready, results }) => {
      const n = results.length;
      return [
        fromHexText(vrfRequestId),
        fromHexText(ready),
        Uint8Array.of(n >> 16, (n >> 8) & 0xff, n & 0xff),
        results,
      ];
    }),
  );
}

/** Unpacks a report. @throws PresetReportError when the bytes end within a batch, as PresetConsumer reverts then. */
export function decodeBatchReport(report: Uint8Array): readonly BatchResults[] {
  const batches: BatchResults[] = [];
  for (let at = 0; at < report.length;) {
    const start = at + HEAD_BYTES;
    const n = (report[start - 3]! << 16) | (report[start - 2]! << 8) | report[start - 1]!;
    if (start > report.length || start + n > report.length)
      throw new PresetReportError("the bytes end within a batch");
    batches.push({
      vrfRequestId: toWord(readUint256(report, at)),
      ready: toWord(readUint256(report, at + WORD_BYTES)),
      results: report.slice(start, start + n),
    });
    at = start + n;
  }
  return batches;
}

/** Returns the 32-byte hash that the nodes sign, see NodeReports.sol; no Ethereum prefix. */
export function batchReportDigest(report: Uint8Array, place: ReportPlace): Uint8Array {
  const { chainId, presetConsumer, configDigest } = place;
  return keccak256(
    encodeUint256s(
      REPORT_TAG,
      BigInt(chainId),
      BigInt(presetConsumer),
      BigInt(configDigest),
      readUint256(keccak256(report)),
    ),
  );
}

/**
 * Encodes the call of PresetConsumer.deliver.
 *
 * @param fulfilment call of the batch coordinator with proofs; `0x` for none
 */
export function encodeDelivery(fulfilment: Hex, reports: readonly SignedReport[]): Hex {
  return encodeFunctionData({
    abi: presetConsumerAbi,
    functionName: "deliver",
    args: [
      fulfilment,
      reports.map(({ report, signatures }) => ({
        report: toHexText(report),
        signatures: toHexText(
          concatBytes(
            signatures
              .toSorted((a, b) => a.index - b.index)
              .flatMap(({ index, r, s, recoveryId }) => [
                Uint8Array.of(index),
                r,
                s,
                Uint8Array.of(27 + recoveryId),
              ]),
          ),
        ),
      })),
    ],
  });
}

/** Unpacks the signatures of a report, `max` at most; bytes that are left over belong to none. */
export function decodeSignatures(packed: Uint8Array, max: number): readonly NodeSignature[] {
  return Array.from({ length: Math.min(max, Math.floor(packed.length / SIGNATURE_BYTES)) }, (_, i) => {
    const one = packed.subarray(i * SIGNATURE_BYTES, (i + 1) * SIGNATURE_BYTES);
    return {
      index: one[0]!,
      r: one.slice(1, 33),
      s: one.slice(33, 65),
      recoveryId: one[65]! - 27,
    };
  });
}

/** The bytes on chain are no report of results. */
export class PresetReportError extends TycheError {
  constructor(reason: string) {
    super(`a report of presets is malformed: ${reason}`, { code: "chain_unavailable", blame: "upstream" });
  }
}
