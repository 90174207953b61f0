import type { Hex } from "viem";
import { encodeUint256s, readUint256, toWord } from "../lib/uint256.ts";
import { keyHash, outputOf, randomWords, requestIdOf } from "../vrf/randomWords.ts";
import type { Fulfilment } from "./calldata.ts";
import { MAX_RANDOM_WORDS } from "./limits.ts";
import { keccak256 } from "../lib/keccak.ts";

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

/** keccak256("tyche.JoinedWords.v1"): separates joined words from any other hash. */
const TAG = readUint256(keccak256(new TextEncoder().encode("tyche.JoinedWords.v1")));

/**
 * Joins one word of each of several proving keys, as JoinedWords.sol does: keccak256(tag ‖ request id ‖ words), 32 bytes
 * each. The request's words are derived from it as from a proof's output.
 *
 * @param requestId VRF request id of the first part
 * @param words in the order of the key hashes
 */
export function joinWords(requestId: Hex, words: readonly bigint[]): bigint {
  return readUint256(keccak256(encodeUint256s(TAG, BigInt(requestId), ...words)));
}
