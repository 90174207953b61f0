import type { Comparison, VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { deriveWords } from "../chainlink/fulfilmentWords.ts";
import { COORDINATOR_READS } from "../chainlink/vrfCoordinator.ts";
import { vrfVersionOf } from "../chainlink/vrfVersion.ts";
import { toWord } from "../lib/uint256.ts";
import { keyHash, requestIdOf, seedOf } from "../vrf/randomWords.ts";
import { verify, type ProofVerdict } from "../vrf/verify.ts";
import { decodeFulfilments, type Fulfilment } from "../chainlink/calldata.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { explainCallback } from "./explainCallback.ts";
import { pause } from "./pause.ts";
import { proofsIn, type RandomnessParts, type RequestPartsMeans } from "./randomnessParts.ts";
import {
  compareStep,
  describeDeliverer,
  describeHidden,
  describeMissingRequest,
  failedStep,
  HOW_TO_PASS,
  notApplicableStep,
} from "./verification.ts";

/**
 * Proofs for one request that are tried in a transaction, at 10 ms each: anyone can put false ones before the real one, some 230 in the 128 KiB
 * that nodes take as a transaction.
 */
const MAX_TRIED_PROOFS = 512;

/** The result of checking a proof, or those of a join. */
export interface CheckedRandomness {
  readonly steps: readonly VerificationStep[];
  /** The words that follow from it; none if a proof is missing or wrong. */
  readonly words: readonly bigint[];
  /** What the words of a batch of presets are derived from; `undefined` if a proof is missing or wrong. */
  readonly seed?: bigint | undefined;
}

/**
 * Checks a request for random words: that its proof is by the key that the request named and the coordinator knows, for a seed made
 * from the request's pre-seed and its block's hash, and that the coordinator derived the words from the proof's output. A batch's presets
 * share the result.
 */
export function checkRandomness(
  parts: RandomnessParts,
  means: RequestPartsMeans,
): Promise<CheckedRandomness> {
  return means.facts.once(`checked randomness ${parts.vrfRequestId}`, () => check(parts, means));
}

async function check(parts: RandomnessParts, means: RequestPartsMeans): Promise<CheckedRandomness> {
  const { request, fulfilment } = parts;
  if (request === undefined)
    return { steps: [notApplicableStep("proof", describeMissingRequest("the VRF proof"))], words: [] };
  if (fulfilment === undefined) {
    const place = { coordinator: request.log.address, blockNumber: request.log.blockNumber };
    const detail = `there is no VRF proof on chain yet: ${await means.pending.ofWords(request, place)}`;
    return { steps: [notApplicableStep("proof", detail)], words: [] };
  }
  const delivery = await findDelivery(request, fulfilment, means);
  if (delivery.tried === undefined) return { steps: [describeMissingProof(delivery)], words: [] };
  const { proof, verdict, terms, seed } = delivery.tried;
  const { blockHash, blockNumber } = request.log;
  const place = { proved: keyHash(proof.publicKey), at: fulfilment.log.blockNumber };
  const key = await checkKey(request, place, means);
  const seedText = `seed ${toWord(seed)}, the hash of its pre-seed and the hash of block ${blockNumber}, ${blockHash}`;
  if (!verdict.valid) {
    const detail = `the VRF proof is not valid for ${seedText}: ${verdict.reason}`;
    return { steps: [key, failedStep("proof", detail, terms)], words: [] };
  }
  const holds = `the VRF proof is for this request, and valid for ${seedText}; the coordinator drew the words from its output`;
  const step = compareStep(
    "proof",
    `${holds}${describeThrough(delivery)}${await explainFailure(fulfilment, means)}`,
    [...terms, { what: "output", expected: toWord(verdict.output), found: toWord(fulfilment.outputSeed) }],
  );
  // A node can make up a request for any number of words.
  const words = deriveWords(verdict.output, request.numWords);
  return { steps: [key, step], words, seed: words[0] };
}

/** A proof for a request, checked. */
interface TriedProof {
  readonly proof: Fulfilment["proof"];
  readonly seed: bigint;
  readonly verdict: ProofVerdict;
  /** What the proof was submitted for, compared with the request. */
  readonly terms: readonly Comparison[];
}

/** How a proof reached the coordinator. */
interface Delivery {
  /** What delivered it to the coordinator; `undefined` if the transaction itself did. */
  readonly through: string | undefined;
  /** Whether that is a contract that the oracle's operator did not publish. */
  readonly isForeign: boolean;
  /** `undefined` if the transaction doesn't show the proof. */
  readonly tried: TriedProof | undefined;
}

/**
 * Finds the proof that the coordinator accepted. Anyone may deliver it, through any contract, along with others that are not valid: it
 * is the one that holds, in the transaction's calldata or else among the calls to the coordinator. A proof needs no more trust in
 * the trace that shows it than in any calldata. A transaction that calls the coordinator with a proof can deliver no other one, as the
 * coordinator is locked meanwhile. Another call of it may call a contract that delivers one, such as `cancelSubscription` of v2.5.
 */
async function findDelivery(
  request: OracleEventOf<"RandomWordsRequested">,
  { log }: OracleEventOf<"RandomWordsFulfilled">,
  { facts, book }: RequestPartsMeans,
): Promise<Delivery> {
  const { requestId } = request;
  const coordinator = request.log.address;
  const { input, to } = await facts.getTransaction(log.transactionHash);
  const given = proofsIn(input, requestId);
  if (to === coordinator && decodeFulfilments(input).length > 0)
    return { through: undefined, isForeign: false, tried: given[0] && tryProof(given[0], request) };
  const through = describeDeliverer(to, coordinator);
  const isForeign = to !== book.known().presetConsumer;
  const findHolding = async (proofs: readonly Fulfilment[]): Promise<TriedProof | undefined> => {
    const likely = proofs.filter(
      (one) => compareStep("proof", "", compareTerms(one, request)).outcome === "ok",
    );
    for (const one of likely.slice(0, MAX_TRIED_PROOFS)) {
      const tried = tryProof(one, request);
      if (tried.verdict.valid) return tried;
      await pause();
    }
    return undefined;
  };
  const findTraced = async (): Promise<readonly Fulfilment[]> =>
    (await facts.findCalls(log.transactionHash, coordinator)).flatMap((one) => proofsIn(one, requestId));
  return { through, isForeign, tried: (await findHolding(given)) ?? (await findHolding(await findTraced())) };
}

function tryProof(one: Fulfilment, request: OracleEventOf<"RandomWordsRequested">): TriedProof {
  const { proof } = one;
  const seed = seedOf(request.preSeed, request.log.blockHash);
  return { proof, seed, verdict: verify(proof, seed), terms: compareTerms(one, request) };
}

function compareTerms(
  { proof, commitment }: Fulfilment,
  request: OracleEventOf<"RandomWordsRequested">,
): readonly Comparison[] {
  const { blockNumber } = request.log;
  return [
    {
      what: "VRF request id",
      expected: toWord(requestIdOf(request.keyHash, request.preSeed)),
      found: request.requestId,
    },
    { what: "pre-seed", expected: toWord(request.preSeed), found: toWord(proof.preSeed) },
    { what: "block of the request", expected: String(blockNumber), found: String(commitment.blockNum) },
    { what: "subscription", expected: String(request.subId), found: String(commitment.subId) },
    {
      what: "callback gas limit",
      expected: String(request.callbackGasLimit),
      found: String(commitment.callbackGasLimit),
    },
    { what: "number of words", expected: String(request.numWords), found: String(commitment.numWords) },
    { what: "consumer", expected: request.sender, found: commitment.sender.toLowerCase() },
    ...(request.extraArgs === undefined
      ? []
      : [
          {
            what: "extra arguments",
            expected: request.extraArgs,
            found: commitment.extraArgs ?? "none",
          },
        ]),
  ];
}

function describeMissingProof({ through }: Delivery): VerificationStep {
  if (through === undefined)
    return failedStep("proof", "the calldata of the transaction hold no VRF proof for this request");
  return notApplicableStep("proof", describeHidden("proof", through));
}

function describeThrough({ through, isForeign }: Delivery): string {
  return isForeign ? `; it was delivered through ${through}` : "";
}

/** The coordinator counts a request as fulfilled even if the callback that takes the words fails, and says so in its log. */
async function explainFailure(
  { success, log }: OracleEventOf<"RandomWordsFulfilled">,
  means: RequestPartsMeans,
): Promise<string> {
  return success ? "" : `; the words are final, but ${await explainCallback(log, means)}`;
}

/** Checks that the proof's key is the requested one, and the oracle's: one that its operator publishes or, unless that is known, a registered one. */
async function checkKey(
  request: OracleEventOf<"RandomWordsRequested">,
  { proved, at }: { readonly proved: Hex; readonly at: bigint },
  { facts, book, keyHashes }: RequestPartsMeans,
): Promise<VerificationStep> {
  const named = { what: "key hash", expected: request.keyHash, found: proved };
  if (keyHashes !== undefined) {
    const holds =
      "the proof was made with the key that the request names, which is one that the operator publishes";
    const step = compareStep("key", holds, [named]);
    if (step.outcome === "failed" || keyHashes.includes(proved)) return step;
    const detail = `the key ${proved} is none that the operator publishes (${keyHashes.join(", ")}); compare it with what the operator publishes now, and ask another node`;
    return notApplicableStep("key", detail, step.compared);
  }
  const read = COORDINATOR_READS[vrfVersionOf(request)].lane(proved);
  const { data, state } = await facts.call(book.get("vrfCoordinator"), read.data, at);
  const { isRegistered, registered = [] } = read.decode(data);
  const keys = {
    what: "registered keys",
    expected: proved,
    found: isRegistered ? proved : registered.join(", ") || "none like it",
  };
  const step = compareStep(
    "key",
    "the proof was made with the key that the request names; that the coordinator has registered it is the node's word",
    [named, keys],
  );
  const isOnlyOutdated = request.keyHash === proved && !isRegistered && state !== "block";
  if (!isOnlyOutdated) return step;
  return notApplicableStep(
    "key",
    `the key is not registered now, and the node can't say what was registered then; ask an archive node, or ${HOW_TO_PASS}`,
    step.compared,
  );
}
