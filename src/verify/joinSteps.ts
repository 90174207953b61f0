import type { VerificationStep } from "../api/types.ts";
import { decodeBatchItems } from "../chainlink/calldata.ts";
import { deriveWords } from "../chainlink/fulfilmentWords.ts";
import { joinWords } from "../chainlink/joinedWords.ts";
import { toWord } from "../lib/uint256.ts";
import { checkRandomness, type CheckedRandomness } from "./randomnessSteps.ts";
import { findJoinedCall } from "./requestParts.ts";
import type { JoinParts, RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/**
 * Checks words that are joined from those of several VRF keys: each word's proof, that the keys are those that the request transaction
 * names, each once and in that order, and that the consumer joined all of the words and nothing else. Presets that share a join share the
 * result.
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
    words.push(...(checked.words ?? []).slice(0, 1));
  }
  const call = await findJoinedCall(joining, means);
  if (call === undefined) {
    steps.push(
      failedStep("join", "the request transaction's calldata hold no such request for joined words"),
    );
    return { steps, words: undefined };
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
    return { steps, words: undefined };
  }
  const seed = joinWords(joining.requestId, words);
  const count = call.batch === "0x" ? call.numWords : decodeBatchItems(call.batch).length;
  steps.push(
    compareStep("join", `the consumer joined the words of all ${parts.length} keys that the request names`, [
      ...terms,
      { what: "seed of the joined words", expected: toWord(seed), found: toWord(joined.seed) },
    ]),
  );
  return { steps, words: deriveWords(seed, count) };
}
