// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

/**
 * Joins the words of several proving keys into the words of one request. The request's id is that of its first part,
 * the VRF request of the first key. Big-endian, 32 bytes each:
 *   seed = keccak256(TAG ‖ request id ‖ the parts' words, in the order of the keys)
 *   word i = keccak256(seed ‖ i), as VRFCoordinatorV2 draws words from a proof's output
 *
 * A part's record is one slot, where PresetBatch looks for a batch: it reads as a batch of 7 bytes whose item names
 * source 0, which no source has. No batch of the operator's is that short, so none passes for a part:
 *   uint8 7 ‖ uint40 0 ‖ uint16 0 ‖ uint8 index ‖ uint8 parts ‖ uint16 items of the batch ‖ uint160 key
 */
library JoinedWords {
  bytes32 internal constant TAG = keccak256("tyche.JoinedWords.v1");
  uint256 private constant PART_BYTES = 7;
  uint256 private constant MAX_PARTS = 4;

  /// Whether a request may name these keys: 2 to 4 different ones.
  function areDistinct(bytes32[] calldata keyHashes) internal pure returns (bool) {
    uint256 count = keyHashes.length;
    if (count < 2 || count > MAX_PARTS) return false;
    for (uint256 i = 1; i < count; ++i) {
      for (uint256 k = 0; k < i; ++k) if (keyHashes[i] == keyHashes[k]) return false;
    }
    return true;
  }

  /// Opens the join of a request.
  function open(uint256 requestId) internal {
    uint256 slot = _slotOf(uint160(requestId));
    assembly {
      sstore(slot, requestId)
    }
  }

  /// Keeps part `index` of a request until its word comes. `items`: presets of the request's batch, 0 for none.
  function keepPart(uint256 vrfRequestId, uint256 requestId, uint256 index, uint256 parts, uint256 items) internal {
    uint256 record = (PART_BYTES << 248) |
      (index << 184) |
      (parts << 176) |
      (items << 160) |
      uint160(requestId);
    assembly {
      sstore(vrfRequestId, record)
    }
  }

  /// Where the batch of a request is kept.
  function batchSlotOf(uint160 key) internal pure returns (uint256) {
    unchecked {
      return _slotOf(key) + 1 + MAX_PARTS;
    }
  }

  /// Whether the first item of a batch in memory, with its arguments at `args`, is a part's record.
  function isPart(uint256 args) internal pure returns (bool found) {
    assembly {
      // Before the arguments: the bytes' length, 5 bytes of subscription, 2 of source, 1 of length.
      found := eq(mload(sub(args, 0x28)), PART_BYTES)
    }
  }

  /// The rest of the record of the part at `args`, from the index on: 24 bytes, and what follows them in memory.
  function recordAt(uint256 args) internal pure returns (uint256 record) {
    assembly {
      record := mload(sub(args, 1))
    }
  }

  /// Reads a part's record, as `recordAt` gives it.
  function readPart(
    uint256 record
  ) internal pure returns (uint160 key, uint256 index, uint256 parts, uint256 items) {
    unchecked {
      index = record >> 248;
      parts = (record >> 240) & 0xff;
      items = (record >> 224) & 0xffff;
      key = uint160(record >> 64);
    }
  }

  /// Takes the word of a part. With the last one the join is closed, and its id and seed returned; 0 before.
  function add(
    uint160 key,
    uint256 index,
    uint256 parts,
    uint256 word
  ) internal returns (uint256 requestId, uint256 seed) {
    uint256 slot = _slotOf(key);
    bytes32 tag = TAG;
    assembly {
      // The words after the tag and the id, in free memory.
      let free := mload(0x40)
      let words := add(free, 0x40)
      let complete := 1
      for { let i := 0 } lt(i, parts) { i := add(i, 1) } {
        let one := word
        if iszero(eq(i, index)) { one := sload(add(add(slot, 1), i)) }
        // No word is 0: that of a hash would be, once in 2^256 times.
        if iszero(one) { complete := 0 break }
        mstore(add(words, mul(i, 0x20)), one)
      }
      switch complete
      case 0 { sstore(add(add(slot, 1), index), word) }
      default {
        requestId := sload(slot)
        sstore(slot, 0)
        for { let i := 0 } lt(i, parts) { i := add(i, 1) } {
          if iszero(eq(i, index)) { sstore(add(add(slot, 1), i), 0) }
        }
        mstore(free, tag)
        mstore(add(free, 0x20), requestId)
        seed := keccak256(free, add(0x40, mul(parts, 0x20)))
      }
    }
  }

  /// Word `index` of a join.
  function wordOf(uint256 seed, uint256 index) internal pure returns (uint256 word) {
    assembly {
      mstore(0, seed)
      mstore(0x20, index)
      word := keccak256(0, 0x40)
    }
  }

  /// The request's id, its parts' words, and its batch: as many slots as it takes.
  function _slotOf(uint160 key) private pure returns (uint256) {
    return uint256(keccak256(abi.encode(TAG, key)));
  }
}
