// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

/**
 * Bytes kept as the code of a contract, behind a STOP that keeps them from being run: 200 gas a byte to write and some
 * 3,000 gas to read all of it, against 22,100 and 2,100 for each word of storage.
 */
library CodeChunk {
  /// The contract could not be created: too little gas was left.
  error InsufficientGas();

  /// A contract's code has at most 24,576 bytes (EIP-170); the first is ours.
  uint256 internal constant MAX_BYTES = 24_575;

  /// Stores `data`, at most MAX_BYTES.
  function store(bytes memory data) internal returns (address chunk) {
    // PUSH2 size, DUP1, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 0, RETURN, and the STOP: 12 bytes that return the rest.
    bytes memory code = abi.encodePacked(hex"61", uint16(data.length + 1), hex"80600c6000396000f300", data);
    assembly {
      chunk := create(0, add(code, 0x20), mload(code))
    }
    if (chunk == address(0)) revert InsufficientGas();
  }

  function read(address chunk) internal view returns (bytes memory data) {
    uint256 length = chunk.code.length - 1;
    data = new bytes(length);
    assembly {
      extcodecopy(chunk, add(data, 0x20), 1, length)
    }
  }
}
