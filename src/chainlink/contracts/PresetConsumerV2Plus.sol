// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {PresetConsumerBase} from "./PresetConsumerBase.sol";
import {IVRFCoordinatorV2Plus} from "@chainlink/contracts/src/v0.8/vrf/dev/interfaces/IVRFCoordinatorV2Plus.sol";
import {VRFV2PlusClient} from "@chainlink/contracts/src/v0.8/vrf/dev/libraries/VRFV2PlusClient.sol";

/// Takes its words from VRFCoordinatorV2_5, and pays for them in LINK or in the chain's coin.
contract PresetConsumerV2Plus is PresetConsumerBase {
  bool public immutable NATIVE_PAYMENT;

  constructor(
    address operator,
    address vrfCoordinator,
    address batchVrfCoordinator,
    address functionsRouter,
    bytes32 donId,
    bool nativePayment
  ) PresetConsumerBase(operator, vrfCoordinator, batchVrfCoordinator, functionsRouter, donId) {
    NATIVE_PAYMENT = nativePayment;
  }

  function _encodeWordsRequest(
    bytes32 keyHash,
    uint256 vrfSubId,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) internal view override returns (bytes memory) {
    bytes memory extraArgs;
    // Without extra arguments the coordinator takes LINK.
    if (NATIVE_PAYMENT) extraArgs = VRFV2PlusClient._argsToBytes(VRFV2PlusClient.ExtraArgsV1({nativePayment: true}));
    return
      abi.encodeCall(
        IVRFCoordinatorV2Plus.requestRandomWords,
        VRFV2PlusClient.RandomWordsRequest({
          keyHash: keyHash,
          subId: vrfSubId,
          requestConfirmations: confirmations,
          callbackGasLimit: callbackGasLimit,
          numWords: numWords,
          extraArgs: extraArgs
        })
      );
  }
}
