// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {JoinedPresets} from "./JoinedPresets.sol";
import {JoiningConsumer} from "./JoiningConsumer.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {WordsRequestV2} from "./WordsRequestV2.sol";

/// Takes its words from VRFCoordinatorV2, whose subscription ids are `uint64`.
contract PresetConsumer is WordsRequestV2, JoiningConsumer {
  /// As PresetConsumerBase.PresetCall.
  struct PresetCallV2 {
    uint64 vrfSubId;
    bytes32 keyHash;
    uint16 confirmations;
    uint32 callbackGasLimit;
    bytes batch;
  }

  /// As PresetConsumerBase.RandomCall.
  struct RandomCallV2 {
    uint64 vrfSubId;
    bytes32 keyHash;
    uint16 confirmations;
    uint32 numWords;
  }

  constructor(
    address operator,
    address vrfCoordinator,
    address functionsRouter,
    bytes32 donId
  ) PresetConsumerBase(operator, vrfCoordinator, functionsRouter, donId) {
    new JoinedPresets(operator, vrfCoordinator, functionsRouter, donId);
  }

  /// See PresetConsumerBase._submit.
  function submit(
    PresetCallV2[] calldata presets,
    FunctionCall[] calldata functions,
    RandomCallV2[] calldata randoms
  ) external {
    PresetCall[] calldata widePresets;
    RandomCall[] calldata wideRandoms;
    // An id takes a whole word of calldata, whatever its type.
    assembly {
      widePresets.offset := presets.offset
      widePresets.length := presets.length
      wideRandoms.offset := randoms.offset
      wideRandoms.length := randoms.length
    }
    _submit(widePresets, functions, wideRandoms);
  }
}
