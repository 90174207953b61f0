// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {VRFCoordinatorV2Interface} from "@chainlink/contracts/src/v0.8/vrf/interfaces/VRFCoordinatorV2Interface.sol";

/// Takes its words from VRFCoordinatorV2.
contract PresetConsumer is PresetConsumerBase {
  constructor(
    address operator,
    address vrfCoordinator,
    address batchVrfCoordinator,
    address functionsRouter,
    bytes32 donId
  ) PresetConsumerBase(operator, vrfCoordinator, batchVrfCoordinator, functionsRouter, donId) {}

  /// The coordinator checks that the subscription's id is a `uint64`.
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
