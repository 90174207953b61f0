// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {JoinedPresetsBase} from "./JoinedPresetsBase.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {WordsRequestV2} from "./WordsRequestV2.sol";

/// Code for PresetConsumer, with words of VRFCoordinatorV2.
contract JoinedPresets is WordsRequestV2, JoinedPresetsBase {
  constructor(
    address operator,
    address vrfCoordinator,
    address functionsRouter,
    bytes32 donId
  ) PresetConsumerBase(operator, vrfCoordinator, functionsRouter, donId) {}
}
