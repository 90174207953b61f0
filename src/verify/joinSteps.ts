import type { VerificationStep } from "../api/types.ts";
import { decodeJoinedSubmission, type JoinedCall } from "../chainlink/calldata.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { deriveWords, joinWords } from "../chainlink/fulfilmentWords.ts";
import { toWord } from "../lib/uint256.ts";
import { checkRandomness, type CheckedRandomness } from "./randomnessSteps.ts";
import { eventsIn, pick, type JoinParts, type RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/**
 * Checks words that are joined from those of several VRF keys: each word's proof, that the keys are those that the request transaction
 * names, each once and in that order, and that the consumer joined all of the words and nothing else. A batch's presets share the result.
 */
export function checkJoin(join: JoinParts, means: RequestPartsMeans): Promise<CheckedRandomness> {
  return means.facts.once(`checked join ${join.joining.requestId}`, () => check(join, means));
}

async function check(join: JoinParts, means: RequestPartsMeans): Promise<CheckedRandomness> {
  const { joining, parts, joined } = join;
  const steps: VerificationStep[] = [];
  const words: bigint[] = [];
  for (const [i, part] of parts.entries()) {
    const checked = await checkRandomness(part, means);
    const place = `word ${i + 1} of ${parts.length}, key hash ${part.request?.keyHash ?? joining.keyHashes[i] ?? "unknown"}`;
    steps.push(...checked.steps.map((step) => ({ ...step, detail: `${step.detail} (${place})` })));
    words.push(...checked.words.slice(0, 1));
  }
  const call = await findJoinedCall(joining, means);
  if (call === undefined) {
    steps.push(
      failedStep("join", "the request transaction's calldata hold no such request for joined words"),
    );
    return { steps, words: [] };
  }
  const keyHashes = call.keyHashes.map((one) => one.toLowerCase());
  const terms = [
    {
      what: "key hashes",
      expected: keyHashes.join(", "),
      found: parts.map(({ request }) => request?.keyHash ?? "none").join(", "),
    },
    {
      what: "different key hashes",
      expected: String(keyHashes.length),
      found: String(new Set(keyHashes).size),
    },
    { what: "request id", expected: parts[0]?.vrfRequestId ?? "none", found: joining.requestId },
    {
      what: "consumer of every word",
      expected: parts.map(() => joining.log.address).join(", "),
      found: parts.map(({ request }) => request?.sender ?? "none").join(", "),
    },
  ];
  const missing = parts.length - words.length;
  if (missing > 0 || joined === undefined) {
    const asked = compareStep("join", "", terms);
    const reason =
      missing > 0
        ? `${words.length} of ${parts.length} words have come with a valid proof`
        : "the consumer has not joined the words: a callback failed";
    steps.push(asked.outcome === "failed" ? asked : notApplicableStep("join", reason, terms));
    return { steps, words: [] };
  }
  const seed = joinWords(joining.requestId, words);
  steps.push(
    compareStep("join", `the consumer joined the words of all ${parts.length} keys that the request names`, [
      ...terms,
      { what: "seed of the joined words", expected: toWord(seed), found: toWord(joined.seed) },
    ]),
  );
  return { steps, words: deriveWords(seed, call.numWords), seed };
}

/** Finds the entry of `submitJoined` that a join was made for, in the calldata of its transaction. */
async function findJoinedCall(
  { requestId, log }: OracleEventOf<"Joining">,
  means: RequestPartsMeans,
): Promise<JoinedCall | undefined> {
  const accepted = pick(await eventsIn(log.transactionHash, means), "Accepted", requestId);
  const { input, to } = await means.facts.getTransaction(log.transactionHash);
  return accepted === undefined || to !== log.address
    ? undefined
    : decodeJoinedSubmission(input)[accepted.index];
}
