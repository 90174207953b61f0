import type { Hex } from "viem";
import { toWord } from "../lib/uint256.ts";
import { keyHash, outputOf, randomWords, requestIdOf } from "../vrf/randomWords.ts";
import type { Fulfilment } from "./calldata.ts";
import { MAX_RANDOM_WORDS } from "./limits.ts";

/** What follows from a fulfilment's calldata alone. */
export interface FulfilmentWords {
  readonly keyHash: Hex;
  readonly requestId: Hex;
  /** The uint256 that the words are derived from. */
  readonly output: bigint;
  readonly words: readonly bigint[];
}

/** Derives key hash, request id and random words of a fulfilment as VRFCoordinatorV2 does, without checking the proof. */
export function deriveFulfilmentWords({ proof, commitment }: Fulfilment): FulfilmentWords {
  const hash = keyHash(proof.publicKey);
  const output = outputOf(proof.gamma);
  return {
    keyHash: hash,
    requestId: toWord(requestIdOf(hash, proof.preSeed)),
    output,
    words: deriveWords(output, commitment.numWords),
  };
}

/** Derives a request's words from a proof's output, at most as many as the coordinator allows: it never accepts a request for more. */
export function deriveWords(output: bigint, numWords: number): readonly bigint[] {
  return randomWords(output, Math.min(numWords, MAX_RANDOM_WORDS));
}
