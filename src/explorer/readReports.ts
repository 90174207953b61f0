import type { ReportView } from "../api/types.ts";
import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { decodeDelivery, decodeTransmission } from "../chainlink/calldata.ts";
import { PRESET_CONSUMER_READS } from "../chainlink/presetConsumerReads.ts";
import {
  batchReportDigest,
  decodeBatchReport,
  type ReportPlace,
  type SignedReport,
} from "../chainlink/presetReport.ts";
import { findSigner, reportDigest } from "../chainlink/reportSigners.ts";
import { toHexText } from "../lib/hex.ts";
import type { ArchivedTransaction } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** Reads the signed reports in a call of FunctionsCoordinator `transmit` or PresetConsumer `deliver`; none in any other call. */
export async function readReports(
  { to, input }: Pick<ArchivedTransaction, "to" | "input">,
  chain: Pick<ExploredChain, "client" | "contracts" | "chainId">,
  book: AddressBook,
): Promise<readonly ReportView[]> {
  const { functionsCoordinator, presetConsumer } = chain.contracts;
  if (to === functionsCoordinator.toLowerCase()) return readTransmission(input, book);
  const reports = to === presetConsumer.toLowerCase() ? (decodeDelivery(input)?.reports ?? []) : [];
  if (reports.length === 0) return [];
  const { data, decode } = PRESET_CONSUMER_READS.adoptedNodes();
  const answer = await chain.client.request("eth_call", [{ to: presetConsumer, data }, "latest"]);
  const { configDigest, signers } = decode(answer as Hex);
  const place = { chainId: chain.chainId, presetConsumer, configDigest };
  return reports.flatMap((one) => viewPresetReport(one, place, { book, signers }));
}

function readTransmission(input: Hex, book: AddressBook): ReportView[] {
  const transmission = decodeTransmission(input);
  if (transmission === undefined) return [];
  const { context, items, signatures } = transmission;
  const digest = reportDigest(transmission);
  const [configDigest, epochAndRound] = context;
  const view = {
    configDigest,
    // OCR2Base: 27 bytes of padding, 4 of epoch, 1 of round.
    epoch: Number((BigInt(epochAndRound) >> 8n) & 0xffff_ffffn),
    round: Number(BigInt(epochAndRound) & 0xffn),
    requestIds: items.map(({ requestId }) => requestId),
    digest,
    signatures: signatures.map((signature) => {
      const signer = findSigner(digest, signature);
      return { ...signature, signer: signer === undefined ? null : book.party(signer) };
    }),
  };
  return [view];
}

function viewPresetReport(
  { report, signatures }: SignedReport,
  place: ReportPlace,
  { book, signers }: { readonly book: AddressBook; readonly signers: readonly Hex[] },
): ReportView[] {
  let requestIds: Hex[];
  try {
    requestIds = decodeBatchReport(report).map(({ vrfRequestId }) => vrfRequestId);
  } catch {
    return [];
  }
  const digest = toHexText(batchReportDigest(report, place));
  const view = {
    configDigest: place.configDigest,
    requestIds,
    digest,
    signatures: signatures.map(({ r, s, recoveryId }) => {
      const signature = { r: toHexText(r), s: toHexText(s), recoveryId };
      const signer = findSigner(digest, signature);
      const isAdopted = signer !== undefined && signers.includes(signer);
      return { ...signature, signer: isAdopted ? book.party(signer) : null };
    }),
  };
  return [view];
}
