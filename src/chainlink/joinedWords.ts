import type { Hex } from "viem";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256 } from "../lib/uint256.ts";

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
