// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {VRFCoordinatorV2Interface} from "@chainlink/contracts/src/v0.8/vrf/interfaces/VRFCoordinatorV2Interface.sol";

/// Requests of VRFCoordinatorV2.
abstract contract WordsRequestV2 is PresetConsumerBase {
  /// The coordinator checks that the id is a `uint64`.
  function _encodeWordsRequest(
    bytes32 keyHash,
    uint256 vrfSubId,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) internal pure override returns (bytes memory) {
    return
      abi.encodeWithSelector(
        VRFCoordinatorV2Interface.requestRandomWords.selector,
        keyHash,
        vrfSubId,
        confirmations,
        callbackGasLimit,
        numWords
      );
  }
}
