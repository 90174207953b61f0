// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {JoinedPresetsV2Plus} from "./JoinedPresetsV2Plus.sol";
import {JoiningConsumer} from "./JoiningConsumer.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {WordsRequestV2Plus} from "./WordsRequestV2Plus.sol";

/// Takes its words from VRFCoordinatorV2_5, and pays for them in LINK or in the chain's coin.
contract PresetConsumerV2Plus is WordsRequestV2Plus, JoiningConsumer {
  constructor(
    address operator,
    address vrfCoordinator,
    address functionsRouter,
    bytes32 donId,
    bool nativePayment
  ) PresetConsumerBase(operator, vrfCoordinator, functionsRouter, donId) WordsRequestV2Plus(nativePayment) {
    new JoinedPresetsV2Plus(operator, vrfCoordinator, functionsRouter, donId, nativePayment);
  }

  /// See PresetConsumerBase._submit.
  function submit(
    PresetCall[] calldata presets,
    FunctionCall[] calldata functions,
    RandomCall[] calldata randoms
  ) external {
    _submit(presets, functions, randoms);
  }
}
