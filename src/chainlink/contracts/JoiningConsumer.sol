// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {JoinedWords} from "./JoinedWords.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";

/**
 * Leaves requests with the words of several proving keys to the code of JoinedPresetsBase, which runs in this contract's
 * place, on its storage. The code is a contract of its own because a request with one key is not to pay for it: each
 * more function costs all others gas.
 */
abstract contract JoiningConsumer is PresetConsumerBase {
  /// submitJoined of JoinedPresetsBase. Its other functions are this contract's own, or check who calls.
  fallback() external {
    address joined = _joined();
    assembly {
      calldatacopy(0, 0, calldatasize())
      let ok := delegatecall(gas(), joined, 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if iszero(ok) { revert(0, returndatasize()) }
      return(0, returndatasize())
    }
  }

  function _takePart(uint256 args, uint256 randomWord) internal override returns (bool taken) {
    taken = JoinedWords.isPart(args);
    if (!taken) return false;
    address joined = _joined();
    uint256 record = JoinedWords.recordAt(args);
    // takePart(uint256,uint256)
    uint256 selector = TAKE_PART;
    assembly {
      let call_ := mload(0x40)
      mstore(call_, selector)
      mstore(add(call_, 0x20), record)
      mstore(add(call_, 0x40), randomWord)
      // The word is spent, but the coordinator's log then says that the callback failed.
      if iszero(delegatecall(gas(), joined, add(call_, 28), 0x44, 0, 0)) { revert(0, 0) }
    }
  }

  uint256 private constant TAKE_PART = uint32(bytes4(keccak256("takePart(uint256,uint256)")));

  /// The first and only contract that this one's constructor has made (RLP of its address and the nonce 1).
  function _joined() private view returns (address joined) {
    assembly {
      mstore(0, or(shl(240, 0xd694), or(shl(80, address()), shl(72, 1))))
      joined := and(keccak256(0, 23), 0xffffffffffffffffffffffffffffffffffffffff)
    }
  }
}
