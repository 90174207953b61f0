import { toFunctionSelector, type Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { WORD_BYTES, AbiWriter, encodedBytesLength } from "../../lib/uint256.ts";
import type { Observation } from "../aggregateObservations.ts";
import type { ReportSignature, ReportSigner } from "../signer.ts";

/** One request's answer, with what the coordinator needs to find the request. */
export interface ReportItem {
  readonly requestId: Hex;
  readonly observation: Observation;
  /** The request's struct Commitment, 352 bytes, as logged. */
  readonly commitment: Uint8Array;
  /** Of the round of drand that the request waited for; absent if it waited for none. */
  readonly beaconSignature?: Uint8Array | undefined;
}

/** What a report is signed for besides its content: OCR2's report context. */
export interface ReportContext {
  /** The coordinator's current configuration, `latestConfigDetails().configDigest`. */
  readonly configDigest: Hex;
  /** 32 bits, in practice a block number. */
  readonly epoch: number;
}

const NOTHING = new Uint8Array();
const CONTEXT_WORDS = 3;
const transmitSelector = fromHexText(
  toFunctionSelector("transmit(bytes32[3],bytes,bytes32[],bytes32[],bytes32)"),
);

/**
 * Encodes a report: `abi.encode(bytes32[] requestIds, bytes[] results, bytes[] errors, bytes[] onchainMetadata, bytes[]
 * offchainMetadata)`, as FunctionsCoordinator `_beforeTransmit` decodes it; the contract doesn't read the off-chain metadata, which have
 * the signatures of drand's rounds. The length is a multiple of 32 bytes.
 */
export function encodeReport(items: readonly ReportItem[]): Uint8Array {
  const arrays = [
    items.map(({ observation }) => (observation.ok ? observation.bytes : NOTHING)),
    items.map(({ observation }) => (observation.ok ? NOTHING : observation.bytes)),
    items.map(({ commitment }) => commitment),
    items.map(({ beaconSignature }) => beaconSignature ?? NOTHING),
  ];
  const lengths = [WORD_BYTES * (1 + items.length), ...arrays.map(arrayLength)];
  const head = lengths.length * WORD_BYTES;
  const writer = new AbiWriter(head + lengths.reduce((sum, length) => sum + length, 0));
  let offset = head;
  for (const length of lengths) {
    writer.word(offset);
    offset += length;
  }
  writer.word(items.length);
  for (const { requestId } of items) writer.raw(fromHexText(requestId));
  for (const values of arrays) writeArray(writer, values);
  return writer.bytes;
}

function arrayLength(values: readonly Uint8Array[]): number {
  return values.reduce((sum, value) => sum + WORD_BYTES + encodedBytesLength(value), WORD_BYTES);
}

function writeArray(writer: AbiWriter, values: readonly Uint8Array[]): void {
  writer.word(values.length);
  let offset = values.length * WORD_BYTES;
  for (const value of values) {
    writer.word(offset);
    offset += encodedBytesLength(value);
  }
  for (const value of values) writer.dynamic(value);
}

/** Encodes the context as the three words that are signed and sent: config digest, epoch and round (always 1), zero. */
export function encodeContext({ configDigest, epoch }: ReportContext): Uint8Array {
  return new AbiWriter(CONTEXT_WORDS * WORD_BYTES)
    .raw(fromHexText(configDigest))
    .word((BigInt(epoch) << 8n) | 1n)
    .word(0n).bytes;
}

/**
 * Returns the hash that the nodes sign: keccak256(keccak256(report) ‖ context). OCR2Base `transmit` recovers the signers from this exact
 * hash; there is no Ethereum message prefix.
 */
export function reportDigest(report: Uint8Array, context: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([keccak256(report), context]));
}

/**
 * Signs a report and encodes the call of OCR2Base `transmit` that carries it. `signers` must be exactly as many as the coordinator
 * requires, (n + f) / 2 + 1 rounded down, each a different node.
 */
export function encodeTransmission(
  items: readonly ReportItem[],
  reportContext: ReportContext,
  signers: readonly ReportSigner[],
): Hex {
  const report = encodeReport(items);
  const context = encodeContext(reportContext);
  const digest = reportDigest(report, context);
  return encodeSignedTransmission(
    report,
    context,
    signers.map((signer) => signer.sign(digest)),
  );
}

/** Encodes the call of OCR2Base `transmit` that carries a report with existing signatures. */
export function encodeSignedTransmission(
  report: Uint8Array,
  context: Uint8Array,
  signatures: readonly ReportSignature[],
): Hex {
  const rs = 7 * WORD_BYTES + WORD_BYTES + report.length;
  const ss = rs + WORD_BYTES * (1 + signatures.length);
  const rawVs = new Uint8Array(WORD_BYTES);
  rawVs.set(signatures.map(({ recoveryId }) => recoveryId));
  const writer = new AbiWriter(4 + ss + WORD_BYTES * (1 + signatures.length));
  writer
    .raw(transmitSelector)
    .raw(context)
    .word(7 * WORD_BYTES)
    .word(rs)
    .word(ss)
    .raw(rawVs);
  writer.word(report.length).raw(report);
  writer.word(signatures.length);
  for (const { r } of signatures) writer.raw(r);
  writer.word(signatures.length);
  for (const { s } of signatures) writer.raw(s);
  return toHexText(writer.bytes);
}
