import type { RequestVerification, VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { decodeDelivery } from "../chainlink/calldata.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { readyRecord } from "../chainlink/presetBatch.ts";
import {
  batchReportDigest,
  decodeBatchReport,
  PresetReportError,
  type BatchResults,
  type SignedReport,
} from "../chainlink/presetReport.ts";
import { findSigner } from "../chainlink/reportSigners.ts";
import { toHexText } from "../lib/hex.ts";
import { pause } from "./pause.ts";
import { type CheckedReport, compareSignatures } from "./reportSteps.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import type { BatchParts, PresetParts } from "./requestParts.ts";
import { MISSING_SIGNERS, readSignerSets, type SignerSet } from "./signerSet.ts";
import { compareStep, describeDeliverer, describeHidden, notApplicableStep } from "./verification.ts";

/**
 * Reports on one batch that are tried in a transaction, each with every configuration: anyone can put false ones before the real one, some 300
 * in the 128 KiB that nodes take as a transaction.
 */
const MAX_TRIED_REPORTS = 512;
/** How often a report is tried with a configuration, at a few milliseconds each. */
const MAX_TRIES = 16 * MAX_TRIED_REPORTS;

type Means = RequestPartsMeans & { readonly chainId: number };

/**
 * Checks the report on a preset's batch: that enough nodes of the coordinator's configuration signed it, that it is for the batch of
 * the request with the seed of its words, and that the consumer logged the results that it holds.
 *
 * @param seed of the batch's words; `undefined` without a valid proof
 * @param round the round that the batch waits for; `null` if it waits for none
 */
export async function checkBatchReport(
  { item, ...batch }: PresetParts,
  seed: bigint | undefined,
  round: RequestVerification["beacon"],
  means: Means,
): Promise<CheckedReport> {
  const { reported, results } = batch;
  if (reported === undefined) {
    const waits =
      round === null
        ? ""
        : `it waits for round ${round.round}, due at ${round.time ?? "an unknown time"}; from then on, `;
    const detail = `there is no report on chain yet: ${waits}nothing but the nodes' silence keeps it from being delivered`;
    return { steps: seed === undefined ? [] : [notApplicableStep("delivery", detail)], delivered: undefined };
  }
  const { steps, signers } = await means.facts.once(`report ${reported.vrfRequestId}`, () =>
    check(batch, reported, seed, means),
  );
  const result = results[item];
  if (result === undefined) return { steps, delivered: undefined, signers };
  const bytes = toHexText(result.bytes);
  return {
    steps,
    delivered: result.ok ? { result: bytes, error: "0x" } : { result: "0x", error: bytes },
    signers,
  };
}

async function check(
  { requested, items, beacon, results }: BatchParts,
  reported: OracleEventOf<"BatchReported">,
  seed: bigint | undefined,
  means: Means,
): Promise<Omit<CheckedReport, "delivered">> {
  const ready =
    requested === undefined || seed === undefined ? undefined : readyRecord(requested.batch, seed);
  const { tried, through } = await findReport(reported, ready, means);
  if (tried === undefined) {
    const step = notApplicableStep("delivery", describeHidden("report", through));
    return { steps: [step], signers: undefined };
  }
  const { batch, signers, steps } = tried;
  if (ready === undefined) {
    const detail = "without a valid proof there is no seed that the report could be for";
    return { steps: [...steps, notApplicableStep("delivery", detail)], signers };
  }
  const delivery = compareStep(
    "delivery",
    "the consumer took what the nodes signed, for the batch that was requested with the seed of its words" +
      (through === undefined ? "" : `; it was delivered through ${through}`),
    [
      { what: "hash of batch and seed", expected: ready, found: batch.ready },
      { what: "results", expected: toHexText(batch.results), found: reported.results },
      {
        what: "number of results",
        expected: String(items.length + (beacon === undefined ? 0 : 1)),
        found: String(results.length),
      },
    ],
  );
  return { steps: [...steps, delivery], signers };
}

/** A report on a batch, with its signatures checked. */
interface TriedReport {
  readonly batch: BatchResults;
  /** The steps `signers` and `signatures`. */
  readonly steps: readonly VerificationStep[];
  readonly isSigned: boolean;
  /** The configuration of the steps; `undefined` if the node no longer has the report's. */
  readonly signers: SignerSet | undefined;
}

/**
 * Finds the report that the consumer took. Anyone may deliver it, through any contract, along with others: it is the one that holds, in
 * the transaction's calldata or else among the calls of the consumer. A call of the consumer itself can hold no false one, as the consumer
 * reverts then; it holds none if a contract delivered the report while it was called back with a word.
 */
async function findReport(
  { vrfRequestId, results, log }: OracleEventOf<"BatchReported">,
  ready: Hex | undefined,
  means: Means,
): Promise<{
  /** What delivered the report to the consumer; `undefined` if the transaction itself did. */
  readonly through: string | undefined;
  readonly tried: TriedReport | undefined;
}> {
  const { facts, book } = means;
  const consumer = book.get("presetConsumer");
  const { input, to } = await facts.getTransaction(log.transactionHash);
  const given = candidatesIn(input, vrfRequestId);
  const likely = (candidates: readonly Candidate[]): readonly Candidate[] =>
    candidates.filter(
      ({ batch }) => toHexText(batch.results) === results && (ready === undefined || batch.ready === ready),
    );
  const [first] = [...likely(given), ...given];
  const tries = { left: MAX_TRIES };
  if (to === consumer && first !== undefined)
    return { through: undefined, tried: await tryReport(first, tries, means) };
  const findSigned = async (candidates: readonly Candidate[]): Promise<TriedReport | undefined> => {
    for (const one of likely(candidates).slice(0, MAX_TRIED_REPORTS)) {
      const tried = await tryReport(one, tries, means);
      if (tried.isSigned) return tried;
      await pause();
    }
    return undefined;
  };
  const through = describeDeliverer(to, consumer);
  const findTraced = async (): Promise<readonly Candidate[]> =>
    (await facts.findCalls(log.transactionHash, consumer)).flatMap((one) => candidatesIn(one, vrfRequestId));
  return { through, tried: (await findSigned(given)) ?? (await findSigned(await findTraced())) };
}

interface Candidate extends SignedReport {
  readonly batch: BatchResults;
}

function candidatesIn(input: Hex, vrfRequestId: Hex): readonly Candidate[] {
  const signed = decodeDelivery(input)?.reports ?? [];
  // Any number can share their bytes.
  const reports = new Set(signed.map(({ report }) => report));
  const named = new Map(
    [...reports].map((report) => [
      report,
      batchesOf(report).filter((batch) => batch.vrfRequestId === vrfRequestId),
    ]),
  );
  return signed.flatMap((one) => named.get(one.report)!.map((batch) => ({ ...one, batch })));
}

/** Calldata can hold anything. */
function batchesOf(report: Uint8Array): readonly BatchResults[] {
  try {
    return decodeBatchReport(report);
  } catch (error) {
    if (error instanceof PresetReportError) return [];
    throw error;
  }
}

/**
 * Checks a report's signatures. Neither report nor signatures name the configuration that they are for, which the contract knows: it is
 * the one under which they are those of its nodes.
 */
async function tryReport(
  { report, signatures, batch }: Candidate,
  tries: { left: number },
  { facts, book, chainId }: Means,
): Promise<TriedReport> {
  const place = { chainId, presetConsumer: book.get("presetConsumer") };
  let isFirstSeen = false;
  let wrong: TriedReport | undefined;
  for await (const set of readSignerSets({ coordinator: book.get("functionsCoordinator"), chainId }, facts)) {
    if (tries.left === 0) break;
    tries.left -= 1;
    const digest = toHexText(batchReportDigest(report, { ...place, configDigest: set.digest }));
    const recovered = signatures.map(({ r, s, recoveryId }) =>
      findSigner(digest, { r: toHexText(r), s: toHexText(s), recoveryId }),
    );
    const steps = compareSignatures(set, recovered, set.namedDigest);
    const isSigned = steps.every(({ name, outcome }) => name !== "signatures" || outcome === "ok");
    if (isSigned) return { batch, steps, isSigned, signers: set };
    wrong ??= { batch, steps, isSigned, signers: set };
    isFirstSeen ||= set.count === 1n;
  }
  // Until the coordinator's first configuration has been seen, it can be another one, which the node doesn't show. So it can where the router
  // named the coordinator, of late.
  if (wrong !== undefined && isFirstSeen && book.isGiven("functionsCoordinator")) return wrong;
  const steps = [
    notApplicableStep("signers", MISSING_SIGNERS),
    notApplicableStep(
      "signatures",
      "without the configuration that they are for, the signatures can't be checked",
    ),
  ];
  return { batch, steps, isSigned: false, signers: undefined };
}
