// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {CodeChunk} from "./CodeChunk.sol";

/**
 * Packed presets that share one request for random words, big-endian:
 *   uint40 functionsSubId ‖ items, each: uint16 sourceId ‖ uint8 n ‖ [uint16 n, if the byte was 255] ‖ n bytes of args
 * where args is the CBOR array of the preset's arguments, or nothing.
 *
 * They are kept as they came until the words arrive. The record begins at the storage slot numbered by the VRF request
 * id, which is a hash; its first byte is the length of the batch, which follows in as many slots as it takes, or 255,
 * and the address of a chunk of code follows.
 */
library PresetBatch {
  /// Longer batches are cheaper as code: 35,400 gas + 200 a byte, against 22,300 for each word of storage.
  uint256 private constant MAX_BYTES_IN_STORAGE = 95;
  uint256 private constant IN_CODE = 255;
  /// INVALID: tells the chunks of batches, of no use after the callback, from those of sources.
  uint256 private constant FIRST_BYTE = 0xfe;

  /// Number of items, 0 if the bytes are malformed.
  function count(bytes calldata batch) internal pure returns (uint256 items) {
    assembly {
      let end := add(batch.offset, batch.length)
      let cursor := add(batch.offset, 5)
      for {} lt(cursor, end) {} {
        let n := byte(2, calldataload(cursor))
        cursor := add(cursor, 3)
        if eq(n, 255) {
          n := shr(240, calldataload(cursor))
          cursor := add(cursor, 2)
        }
        cursor := add(cursor, n)
        items := add(items, 1)
      }
      if iszero(eq(cursor, end)) { items := 0 }
    }
  }

  /// Keeps a batch of at most CodeChunk.MAX_BYTES until `take`.
  function keep(uint256 vrfRequestId, bytes calldata batch) internal {
    if (batch.length > MAX_BYTES_IN_STORAGE) {
      uint256 chunk = uint160(CodeChunk.store(batch, FIRST_BYTE));
      assembly {
        sstore(vrfRequestId, or(shl(248, IN_CODE), shl(88, chunk)))
      }
      return;
    }
    assembly {
      // Bytes after the batch's end may come along; the length keeps them out of use.
      sstore(vrfRequestId, or(shl(248, batch.length), shr(8, calldataload(batch.offset))))
      for { let i := 31 } lt(i, batch.length) { i := add(i, 0x20) } {
        vrfRequestId := add(vrfRequestId, 1)
        sstore(vrfRequestId, calldataload(add(batch.offset, i)))
      }
    }
  }

  /// Reads the batch of a request and deletes it; empty if there is none.
  function take(uint256 vrfRequestId) internal returns (bytes memory batch) {
    uint256 first;
    assembly {
      first := sload(vrfRequestId)
      if first { sstore(vrfRequestId, 0) }
    }
    uint256 length = first >> 248;
    if (length == IN_CODE) return CodeChunk.read(address(uint160(first >> 88)));
    batch = new bytes(length);
    assembly {
      let at := add(batch, 0x20)
      if length { mstore(at, shl(8, first)) }
      for { let i := 31 } lt(i, length) { i := add(i, 0x20) } {
        vrfRequestId := add(vrfRequestId, 1)
        mstore(add(at, i), sload(vrfRequestId))
        sstore(vrfRequestId, 0)
      }
    }
  }

  /// Reads the head of a batch; `firstItem` is the place in memory where the first item begins.
  function open(bytes memory batch) internal pure returns (uint256 functionsSubId, uint256 firstItem) {
    assembly {
      functionsSubId := shr(216, mload(add(batch, 0x20)))
      firstItem := add(batch, 0x25)
    }
  }

  /// Reads the item at `cursor` in memory; its args lie at `args`, and the next item right behind them.
  function readItem(uint256 cursor) internal pure returns (uint256 sourceId, uint256 args, uint256 argsLength) {
    assembly {
      let head := mload(cursor)
      sourceId := shr(240, head)
      args := add(cursor, 3)
      argsLength := byte(2, head)
      if eq(argsLength, 255) {
        args := add(cursor, 5)
        argsLength := and(shr(216, head), 0xffff)
      }
    }
  }
}
