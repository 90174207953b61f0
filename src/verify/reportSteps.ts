import type { Comparison, VerificationStep } from "../api/types.ts";
import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from "viem";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { EVENT_TOPICS, FULFILL_RESULTS, decodeLog } from "../chainlink/events.ts";
import { decodeTransmission, type Transmission } from "../chainlink/calldata.ts";
import { word } from "../chainlink/eventData.ts";
import { findSigner, reportDigest } from "../chainlink/reportSigners.ts";
import { isCallbackFailure } from "../chainlink/failedCallbacks.ts";
import { TIMED_OUT } from "../text/failure.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, writeUint256 } from "../lib/uint256.ts";
import { hashOf } from "./encodeBlock.ts";
import { explainCallback } from "./explainCallback.ts";
import { pause } from "./pause.ts";
import { signaturesOf } from "../chainlink/quorum.ts";
import { findSignerSet, MISSING_SIGNERS, readLatestConfig, type SignerSet } from "./signerSet.ts";
import type { FunctionsParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import {
  compareStep,
  describeDeliverer,
  describeHidden,
  describeMissingRequest,
  failedStep,
  notApplicableStep,
} from "./verification.ts";

/** FunctionsRouter: the second value is the number of requests that the consumer has sent. */
const consumerAbi = parseAbi(["function getConsumer(address, uint64) view returns (bool, uint64, uint64)"]);

/** Numbers that are tried for a request, at 10 µs each. */
const MAX_TRIED_NUMBERS = 200_000;
/** Reports on one request that are tried in a transaction: its sender can put false ones before the real one in its calldata. */
const MAX_TRIED_REPORTS = 64;
/** Pairs of numbers that are tried before other work runs. */
const NUMBERS_PER_TURN = 1_000n;

/** The result of checking a request's report. */
export interface CheckedReport {
  readonly steps: readonly VerificationStep[];
  /** From the signed report; `undefined` without one. */
  readonly delivered: { readonly result: Hex; readonly error: Hex } | undefined;
  /** What a function's report has as the signature of a round of drand; absent without a report. */
  readonly beaconSignature?: { readonly ok: true; readonly bytes: Uint8Array };
  /** The configuration of the report; `undefined` if the node no longer has it. Absent without a report. */
  readonly signers?: SignerSet | undefined;
}

/**
 * Checks a function request's report: that enough nodes of the coordinator's configuration signed it, and that the router
 * processed what they signed.
 */
export async function checkReport(
  parts: FunctionsParts,
  means: RequestPartsMeans & { readonly chainId: number },
): Promise<CheckedReport> {
  const { processed, request } = parts;
  if (processed === undefined) {
    const why = request === undefined ? "" : `: ${await explainMissing(request, means)}`;
    const step = notApplicableStep("delivery", `there is no report on chain yet${why}`);
    return { steps: [step], delivered: undefined };
  }
  const { through, tried } = await findTransmission(processed, request, means);
  if (tried === undefined) {
    const step = notApplicableStep("delivery", describeHidden("report", through));
    return { steps: [step], delivered: { result: processed.response, error: processed.err } };
  }
  const { item, signers } = tried;
  const compared: Comparison[] = [
    ...compareItem(item, processed, request),
    { what: "outcome", expected: "FULFILLED", found: FULFILL_RESULTS[processed.resultCode] ?? "unknown" },
  ];
  // The callback of a caller's own contract may fail; the result was still delivered.
  const isCallbackOnly = isCallbackFailure(processed);
  const delivery = compareStep(
    "delivery",
    "the router delivered what the nodes signed" +
      (through === undefined ? "" : `; it was delivered through ${through}`) +
      (isCallbackOnly ? `, but ${await explainCallback(processed.log, means)}` : ""),
    isCallbackOnly ? compared.slice(0, -1) : compared,
  );
  const gap =
    request === undefined
      ? describeMissingRequest("the report")
      : (await isHashedInId(request, means))
        ? undefined
        : "that the signed request id is the hash of this source and these arguments can't be shown; ask an archive node";
  const isOpen = delivery.outcome === "ok" && gap !== undefined;
  const step = isOpen ? notApplicableStep("delivery", gap, compared) : delivery;
  const beaconSignature = { ok: true, bytes: fromHexText(item.beaconSignature) } as const;
  return { steps: [...tried.steps, step], delivered: item, signers, beaconSignature };
}

/** A transmission of a request's report, with its signatures checked. */
interface TriedTransmission {
  readonly item: Transmission["items"][number];
  /** The steps `signers` and `signatures`. */
  readonly steps: readonly VerificationStep[];
  /** The configuration of the steps; `undefined` if it is none of the coordinator's, or the node doesn't show it. */
  readonly signers: SignerSet | undefined;
}

/**
 * Finds the report that the coordinator took. A node's transmitter may deliver it through any contract, along with false ones: it is the
 * one that holds, in the transaction's calldata or else among the calls of the coordinator. That takes no false one for a request that is
 * open, and passes over those for answered ones.
 */
async function findTransmission(
  processed: OracleEventOf<"RequestProcessed">,
  request: OracleEventOf<"OracleRequest"> | undefined,
  means: RequestPartsMeans & { readonly chainId: number },
): Promise<{
  /** What delivered the report to the coordinator; `undefined` if the transaction itself did. */
  readonly through: string | undefined;
  readonly tried: TriedTransmission | undefined;
}> {
  const { facts, book } = means;
  const { transactionHash } = processed.log;
  const coordinator = book.get("functionsCoordinator");
  const { input, to } = await facts.getTransaction(transactionHash);
  const given = candidatesIn(input, processed.requestId);
  const findSigned = async (candidates: readonly Candidate[]): Promise<TriedTransmission | undefined> => {
    const isLikely = ({ item }: Candidate): boolean =>
      compareStep("delivery", "", compareItem(item, processed, request)).outcome === "ok";
    for (const one of candidates.filter(isLikely).slice(0, MAX_TRIED_REPORTS)) {
      const tried = await tryTransmission(one, means);
      if (tried.steps.every(({ outcome }) => outcome === "ok")) return tried;
      await pause();
    }
    return undefined;
  };
  const [first] = given;
  if (to === coordinator && first !== undefined)
    return { through: undefined, tried: (await findSigned(given)) ?? (await tryTransmission(first, means)) };
  const findTraced = async (): Promise<readonly Candidate[]> =>
    (await facts.findCalls(transactionHash, coordinator)).flatMap((one) =>
      candidatesIn(one, processed.requestId),
    );
  return {
    through: describeDeliverer(to, coordinator),
    tried: (await findSigned(given)) ?? (await findSigned(await findTraced())),
  };
}

interface Candidate {
  readonly transmission: Transmission;
  readonly item: Transmission["items"][number];
}

function candidatesIn(input: Hex, requestId: Hex): readonly Candidate[] {
  const transmission = decodeTransmission(input);
  if (transmission === undefined) return [];
  return transmission.items
    .filter((item) => item.requestId === requestId)
    .map((item) => ({ transmission, item }));
}

async function tryTransmission(
  { transmission, item }: Candidate,
  means: RequestPartsMeans & { readonly chainId: number },
): Promise<TriedTransmission> {
  const { facts, book, chainId } = means;
  const { context, signatures } = transmission;
  const place = { coordinator: book.get("functionsCoordinator"), chainId };
  const set = await findSignerSet(context[0], place, facts);
  const digest = reportDigest(transmission);
  // Many requests share a report.
  const steps = await facts.once(`signatures ${digest} ${JSON.stringify(signatures)}`, () =>
    checkSignatures(transmission, set, means),
  );
  return { item, steps, signers: set === "none" ? undefined : set };
}

function compareItem(
  { result, error, commitment }: Transmission["items"][number],
  processed: OracleEventOf<"RequestProcessed">,
  request: OracleEventOf<"OracleRequest"> | undefined,
): readonly Comparison[] {
  return [
    { what: "result", expected: result, found: processed.response },
    { what: "error", expected: error, found: processed.err },
    ...(request === undefined
      ? []
      : [{ what: "commitment of the request", expected: request.commitment, found: commitment }]),
  ];
}

/**
 * Whether a request's id is the hash of its source, arguments and terms, as FunctionsBilling `_startBilling` derives it: the nodes sign the id alone, so
 * that they could otherwise have answered another request, in a block that the node made up. One of the hashed numbers is in no log, how many
 * requests the consumer had sent on the subscription; it is searched for from both ends, as the node's word of it may be wrong or too new.
 */
async function isHashedInId(
  request: OracleEventOf<"OracleRequest">,
  { facts, book }: RequestPartsMeans,
): Promise<boolean> {
  const { requestId, requestingContract, requestInitiator, subscriptionId, commitment, log } = request;
  const before = [book.get("functionsCoordinator"), requestingContract, subscriptionId].map(BigInt);
  const after = [
    hashOf(fromHexText(request.data)),
    request.dataVersion,
    request.callbackGasLimit,
    word(commitment, 2), // cost
    word(commitment, 10), // timeout
    requestInitiator,
  ].map(BigInt);
  const hashed = encodeUint256s(...before, 0n, ...after);
  const isIt = (number: bigint): boolean => {
    writeUint256(hashed, 32 * before.length, number);
    return toHexText(keccak256(hashed)) === requestId;
  };
  const call = {
    abi: consumerAbi,
    functionName: "getConsumer",
    args: [requestingContract, subscriptionId],
  } as const;
  const last = await facts
    .call(book.get("functionsRouter"), encodeFunctionData(call), log.blockNumber)
    .then(({ data }) => decodeFunctionResult({ ...call, data })[1])
    .catch(() => 0n);
  for (let i = 0n; i < MAX_TRIED_NUMBERS / 2; i += 1n) {
    if (isIt(i + 1n) || (i < last && isIt(last - i))) return true;
    if (i % NUMBERS_PER_TURN === NUMBERS_PER_TURN - 1n) await pause();
  }
  return false;
}

/** Says why a function request has no report. */
async function explainMissing(
  request: OracleEventOf<"OracleRequest">,
  { facts, book, pending }: RequestPartsMeans,
): Promise<string> {
  const address = book.get("functionsRouter");
  const find = (topic: Hex) =>
    facts.findLogAfter({ address, topics: [topic, request.requestId] }, request.log.blockNumber);
  if ((await find(EVENT_TOPICS.RequestTimedOut)) !== undefined) return TIMED_OUT;
  const log = await find(EVENT_TOPICS.RequestNotProcessed);
  const refusal = log === undefined ? undefined : decodeLog(log);
  return await pending.ofFunction(request, refusal?.name === "RequestNotProcessed" ? refusal : undefined);
}

async function checkSignatures(
  transmission: Transmission,
  set: Awaited<ReturnType<typeof findSignerSet>>,
  { facts, book }: RequestPartsMeans,
): Promise<readonly VerificationStep[]> {
  const { context, signatures } = transmission;
  const [configDigest] = context;
  const digest = reportDigest(transmission);
  const recovered = signatures.map((signature) => findSigner(digest, signature));
  if (set !== undefined && set !== "none") return compareSignatures(set, recovered, configDigest);
  const latest = await readLatestConfig(book.get("functionsCoordinator"), facts);
  const digests = [{ what: "config digest", expected: latest.configDigest, found: configDigest }];
  return [
    set === undefined
      ? notApplicableStep("signers", MISSING_SIGNERS, digests)
      : failedStep("signers", "the report is for a configuration that the coordinator has not had", digests),
    notApplicableStep(
      "signatures",
      `the report is signed by ${recovered.map((address) => address ?? "none").join(", ")}`,
    ),
  ];
}

/**
 * Compares a report's signatures with a configuration: it takes exactly as many as the coordinator requires, by different nodes of it.
 *
 * @param recovered address of each signature's key; `undefined` for values that are no signature
 * @param namedDigest digest that the chain names
 */
export function compareSignatures(
  { signers, faulty, urls, digest }: SignerSet,
  recovered: readonly (Hex | undefined)[],
  namedDigest: Hex,
): readonly VerificationStep[] {
  const wanted = signaturesOf(signers.length, faulty);
  const distinct = new Set(recovered.filter((address) => address !== undefined && signers.includes(address)));
  // Nodes of different operators are identified by their URLs.
  const named =
    urls === undefined ? "" : `: ${[...distinct].map((one) => urls[signers.indexOf(one!)]).join(", ")}`;
  return [
    compareStep(
      "signers",
      `the report is for the configuration with the nodes ${signers.join(", ")}; that the coordinator has it is the node's word`,
      [{ what: "config digest", expected: digest, found: namedDigest }],
    ),
    compareStep(
      "signatures",
      `${wanted} of ${signers.length} nodes signed this report, as many as the contract requires${named}`,
      [
        {
          what: "signatures of different registered nodes",
          expected: String(wanted),
          found: String(distinct.size),
        },
        { what: "signatures", expected: String(wanted), found: String(recovered.length) },
        {
          what: "signed by",
          expected: [...distinct].join(", "),
          found: recovered.map((address) => address ?? "none").join(", "),
        },
      ],
    ),
  ];
}
