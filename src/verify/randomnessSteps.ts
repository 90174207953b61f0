import type { Hex } from "viem";
import { COORDINATOR_READS } from "../chainlink/vrfCoordinator.ts";
import { vrfVersionOf } from "../chainlink/vrfVersion.ts";
import { toWord } from "../lib/uint256.ts";
import { keyHash, randomWords, requestIdOf, seedOf } from "../vrf/randomWords.ts";
import { verify } from "../vrf/verify.ts";
import { decodeFulfilments } from "../chainlink/calldata.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { explainCallback } from "./explainCallback.ts";
import type { RandomnessParts, RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, failedStep, notApplicableStep, type VerificationStep } from "./verification.ts";

/** The result of checking a proof. */
export interface CheckedRandomness {
  readonly steps: readonly VerificationStep[];
  /** The words that follow from the proof; `undefined` if it is missing or wrong. */
  readonly words: readonly bigint[] | undefined;
}

/**
 * Checks a request for random words: that its proof is by the key that the request named and the coordinator knows, for a seed made
 * from the request's pre-seed and its block's hash, and that the coordinator derived the words from the proof's output. Presets that
 * share a proof share the result.
 */
export function checkRandomness(
  parts: RandomnessParts,
  means: RequestPartsMeans,
): Promise<CheckedRandomness> {
  return means.facts.once(`checked randomness ${parts.vrfRequestId}`, () => check(parts, means));
}

async function check(parts: RandomnessParts, means: RequestPartsMeans): Promise<CheckedRandomness> {
  const { vrfRequestId, request, fulfilment } = parts;
  if (request === undefined)
    return {
      steps: [failedStep("request", "the request that the proof answers is not on chain")],
      words: undefined,
    };
  if (fulfilment === undefined) {
    const place = { coordinator: request.log.address, blockNumber: request.log.blockNumber };
    const detail = `there is no VRF proof on chain yet: ${await means.pending.ofWords(request, place)}`;
    return { steps: [notApplicableStep("proof", detail)], words: undefined };
  }
  const { input } = await means.facts.getTransaction(fulfilment.log.transactionHash);
  // The id is a hash of key and pre-seed: only one entry can be the one that the coordinator accepted for this request.
  const entry = decodeFulfilments(input).find(
    ({ proof }) => toWord(requestIdOf(keyHash(proof.publicKey), proof.preSeed)) === vrfRequestId,
  );
  if (entry === undefined)
    return {
      steps: [failedStep("proof", "the calldata of the transaction hold no VRF proof for this request")],
      words: undefined,
    };

  const { proof, commitment } = entry;
  const { blockHash, blockNumber } = request.log;
  const seed = seedOf(request.preSeed, blockHash);
  const verdict = verify(proof, seed);
  const steps = [
    compareStep("request", "the proof is for what was requested", [
      {
        what: "VRF request id",
        expected: toWord(requestIdOf(request.keyHash, request.preSeed)),
        found: vrfRequestId,
      },
      { what: "pre-seed", expected: toWord(request.preSeed), found: toWord(proof.preSeed) },
      { what: "block of the request", expected: String(blockNumber), found: String(commitment.blockNum) },
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
    ]),
    await checkKey(request, { proved: keyHash(proof.publicKey), at: fulfilment.log.blockNumber }, means),
  ];
  const seedText = `seed ${toWord(seed)}, the hash of its pre-seed and the hash of block ${blockNumber}, ${blockHash}`;
  if (!verdict.valid) {
    steps.push(failedStep("proof", `the VRF proof is not valid for ${seedText}: ${verdict.reason}`));
    return { steps, words: undefined };
  }
  steps.push(compareStep("proof", `the VRF proof is valid for ${seedText}`, []));
  const words = randomWords(verdict.output, request.numWords);
  steps.push(
    compareStep("words", await describeWords(fulfilment, means), [
      { what: "output", expected: toWord(verdict.output), found: toWord(fulfilment.outputSeed) },
    ]),
  );
  return { steps, words };
}

/**
 * Describes the words. The coordinator counts a request as fulfilled even if the callback that takes the words fails, and says so in
 * its log.
 */
async function describeWords(
  { success, log }: OracleEventOf<"RandomWordsFulfilled">,
  means: RequestPartsMeans,
): Promise<string> {
  const holds = "the coordinator drew the words from the proof's output";
  return success ? holds : `${holds}; they are final, but ${await explainCallback(log, means)}`;
}

/** Checks that the proof's key is the requested one, and registered. */
async function checkKey(
  request: OracleEventOf<"RandomWordsRequested">,
  { proved, at }: { readonly proved: Hex; readonly at: bigint },
  { facts, book }: RequestPartsMeans,
): Promise<VerificationStep> {
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
    "the proof was made with the key that the request names, which the coordinator has registered",
    [{ what: "key hash", expected: request.keyHash, found: proved }, keys],
  );
  const isOnlyOutdated = request.keyHash === proved && !isRegistered && state !== "block";
  if (!isOnlyOutdated) return step;
  return notApplicableStep(
    "key",
    "the key is not registered now; the node can't say what was registered then",
    step.compared,
  );
}
