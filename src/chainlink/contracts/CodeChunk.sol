// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

/**
 * Bytes kept as the code of a contract, behind one byte that keeps them from being run: 200 gas a byte to write and
 * some 3,000 gas to read all of it, against 22,100 and 2,100 for each word of storage.
 */
library CodeChunk {
  /// A contract could not be made: too little gas was left.
  error InsufficientGas();

  /// Code of a contract is at most 24,576 bytes (EIP-170), the first of which is ours.
  uint256 internal constant MAX_BYTES = 24_575;

  /// Writes `data`, at most MAX_BYTES, behind `firstByte`, which must end every call: STOP or INVALID.
  function store(bytes calldata data, uint256 firstByte) internal returns (address chunk) {
    assembly {
      let code := mload(0x40)
      let size := add(data.length, 1)
      // PUSH2 size, DUP1, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 0, RETURN: 12 bytes that return the rest of the code.
      mstore(code, or(shl(152, 0x61000080600c6000396000f300), or(shl(232, size), shl(152, firstByte))))
      calldatacopy(add(code, 13), data.offset, data.length)
      chunk := create(0, code, add(size, 12))
    }
    if (chunk == address(0)) revert InsufficientGas();
  }

  /// Copies a chunk's bytes to memory at `at`, which need not be allocated; gives back their number.
  function copyTo(address chunk, uint256 at) internal view returns (uint256 length) {
    assembly {
      length := sub(extcodesize(chunk), 1)
      extcodecopy(chunk, at, 1, length)
    }
  }

  function read(address chunk) internal view returns (bytes memory data) {
    uint256 at;
    assembly {
      data := mload(0x40)
      at := add(data, 0x20)
    }
    uint256 length = copyTo(chunk, at);
    assembly {
      mstore(data, length)
      mstore(0x40, add(at, and(add(length, 31), not(31))))
    }
  }
}
