// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {JoinedPresetsBase} from "./JoinedPresetsBase.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {WordsRequestV2Plus} from "./WordsRequestV2Plus.sol";

/// Code for PresetConsumerV2Plus, with words of VRFCoordinatorV2_5.
contract JoinedPresetsV2Plus is WordsRequestV2Plus, JoinedPresetsBase {
  constructor(
    address operator,
    address vrfCoordinator,
    address functionsRouter,
    bytes32 donId,
    bool nativePayment
  ) PresetConsumerBase(operator, vrfCoordinator, functionsRouter, donId) WordsRequestV2Plus(nativePayment) {}
}
