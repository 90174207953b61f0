// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {CodeChunk} from "./CodeChunk.sol";
import {JoinedWords} from "./JoinedWords.sol";
import {PresetBatch} from "./PresetBatch.sol";
import {PresetConsumerBase} from "./PresetConsumerBase.sol";

/**
 * Requests with the joined words of several proving keys. PresetConsumer runs this code in its own place, see
 * JoiningConsumer: storage and address are PresetConsumer's, and so is the trust. Nobody can choose a joined word while
 * one of the keys' holders is honest: each part is fixed by its proof before any other is known. Who is last knows the
 * others' words, and can only be silent: then there is no word.
 */
abstract contract JoinedPresetsBase is PresetConsumerBase {
  /**
   * Presets or random numbers with the joined words of 2 to 4 different proving keys: one of them that is honest is
   * enough. Each key is asked for one word, of which JoinedWords.sol makes as many as it takes.
   */
  struct JoinedCall {
    uint256 vrfSubId;
    bytes32[] keyHashes;
    uint16 confirmations;
    /// Of each part: any may be the last, which goes on with the presets.
    uint32 callbackGasLimit;
    /// Random numbers, for whoever reads the chain; 0 with a batch.
    uint32 numWords;
    /// Empty for random numbers.
    bytes batch;
  }

  /// The words of `requestId` are joined of those of these keys' VRF requests, in this order; it is the first of them.
  event Joining(uint256 indexed requestId, bytes32[] keyHashes, uint256[] parts);

  /// The last part's word has come.
  event WordsJoined(uint256 indexed requestId, uint256 seed);

  /// Not 2 to 4 different ones.
  error BadKeyHashes();

  /// Sends all the requests. Each entry ends in Accepted or Refused, as in `submit`.
  function submitJoined(JoinedCall[] calldata calls) external {
    _onlyOperator();
    for (uint256 i = 0; i < calls.length; ++i) _submitJoined(i, calls[i]);
  }

  /// Takes the word of a part; the last one sends the batch of the join, if there is one, with the joined words.
  function takePart(uint256 record, uint256 randomWord) external {
    if (msg.sender != VRF_COORDINATOR) revert OnlyCoordinatorCanFulfill(msg.sender, VRF_COORDINATOR);
    (uint160 key, uint256 index, uint256 parts, uint256 items) = JoinedWords.readPart(record);
    (uint256 requestId, uint256 seed) = JoinedWords.add(key, index, parts, randomWord);
    if (requestId == 0) return;
    emit WordsJoined(requestId, seed);
    if (items == 0) return;
    bytes memory batch = PresetBatch.take(JoinedWords.batchSlotOf(key));
    (uint256 functionsSubId, uint256 firstItem) = PresetBatch.open(batch);
    Callback memory callback = Callback(functionsSubId, firstItem, requestId, 0, 0);
    unchecked {
      for (uint256 item = 0; item < items; ++item) {
        _sendPreset(callback, item, JoinedWords.wordOf(seed, item), GAS_TO_REFUSE * (items - item));
      }
    }
  }

  function _takePart(uint256, uint256) internal pure override returns (bool) {
    return false;
  }

  function _submitJoined(uint256 index, JoinedCall calldata joined) private {
    bytes calldata batch = joined.batch;
    uint256 items = batch.length == 0 ? 0 : PresetBatch.count(batch);
    if (batch.length != 0 && items == 0) {
      emit Refused(index, abi.encodeWithSelector(MalformedBatch.selector));
      return;
    }
    if (batch.length > CodeChunk.MAX_BYTES) {
      emit Refused(index, abi.encodeWithSelector(BadLength.selector, batch.length, CodeChunk.MAX_BYTES));
      return;
    }
    if (!JoinedWords.areDistinct(joined.keyHashes)) {
      emit Refused(index, abi.encodeWithSelector(BadKeyHashes.selector));
      return;
    }
    uint256[] memory parts = new uint256[](joined.keyHashes.length);
    for (uint256 i = 0; i < parts.length; ++i) {
      bool ok;
      (ok, parts[i]) = _requestRandomWords(
        joined.keyHashes[i],
        joined.vrfSubId,
        joined.confirmations,
        joined.callbackGasLimit,
        1
      );
      // What the coordinator refuses, it refuses of the first part. A later one is the lack of gas, which undoes all.
      if (!ok && i > 0) revert InsufficientGas();
      if (!ok) return _conclude(index, false, 0);
    }
    uint256 requestId = parts[0];
    JoinedWords.open(requestId);
    for (uint256 i = 0; i < parts.length; ++i) {
      JoinedWords.keepPart(parts[i], requestId, i, parts.length, items);
    }
    if (items > 0) PresetBatch.keep(JoinedWords.batchSlotOf(uint160(requestId)), batch);
    emit Accepted(index, requestId);
    emit Joining(requestId, joined.keyHashes, parts);
  }
}
