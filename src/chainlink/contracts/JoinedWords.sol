// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

/**
 * Joins one word from each of several proving keys into one seed. Nobody can choose a seed while one of the keys' holders
 * is honest: each word is fixed by its proof before any other is known. Whoever is last knows the others' words, and can
 * only withhold their own; then there is no seed.
 *
 * seed = keccak256(TAG ‖ request id ‖ the words, in the order of the keys), 32 bytes each, where the request's id is that
 * of the first key's VRF request.
 */
library JoinedWords {
  bytes32 internal constant TAG = keccak256("tyche.JoinedWords.v1");
  uint256 internal constant MAX_PARTS = 4;

  struct Join {
    uint256 requestId;
    /// What becomes of the seed: the record of a batch, or 0 if only random numbers are wanted.
    bytes32 batch;
    /// By key; 0 until the word is there, as no hash is.
    uint256[MAX_PARTS] words;
  }

  /// Whether a request may name these keys: 2 to 4 different ones.
  function areDistinct(bytes32[] calldata keyHashes) internal pure returns (bool) {
    uint256 count = keyHashes.length;
    if (count < 2 || count > MAX_PARTS) return false;
    for (uint256 i = 1; i < count; ++i) {
      for (uint256 k = 0; k < i; ++k) if (keyHashes[i] == keyHashes[k]) return false;
    }
    return true;
  }

  /// Adds the word of one key. Returns the seed once all are there, and 0 before.
  function add(Join storage join, uint256 index, uint256 parts, uint256 word) internal returns (uint256 seed) {
    uint256[] memory words = new uint256[](parts);
    for (uint256 i = 0; i < parts; ++i) {
      words[i] = i == index ? word : join.words[i];
      if (words[i] == 0) {
        join.words[index] = word;
        return 0;
      }
    }
    return uint256(keccak256(abi.encodePacked(TAG, join.requestId, words)));
  }
}
