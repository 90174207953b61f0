// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {CodeChunk} from "./CodeChunk.sol";
import {PresetBatch} from "./PresetBatch.sol";
import {IFunctionsRouter} from "@chainlink/contracts/src/v0.8/functions/v1_0_0/interfaces/IFunctionsRouter.sol";

/**
 * Sends the operator's requests to the oracle contracts, many in one transaction, on subscriptions that have this
 * contract as a consumer. A preset is a request for a random word whose callback, right here, sends the request
 * that runs the preset's source with that word: nobody can swap or drop a word in between.
 *
 * Trust: the operator decides what is asked, never what is answered. Words come from the coordinator alone, and
 * which source and arguments a word goes to is fixed, and on chain, before the word exists.
 *
 * What differs between the versions of VRF is left to WordsRequestV2 and WordsRequestV2Plus, and what requests with the
 * words of several proving keys take to JoiningConsumer.
 */
abstract contract PresetConsumerBase {
  /// Presets that share one VRF request, each with a word of its own. `batch` is packed as PresetBatch.sol says.
  struct PresetCall {
    uint256 vrfSubId;
    bytes32 keyHash;
    uint16 confirmations;
    uint32 callbackGasLimit;
    bytes batch;
  }

  /// A request of functions with its whole CBOR-encoded data.
  struct FunctionCall {
    uint64 functionsSubId;
    bytes data;
  }

  /// A request for nothing but random words; they are read from the coordinator's log.
  struct RandomCall {
    uint256 vrfSubId;
    bytes32 keyHash;
    uint16 confirmations;
    uint32 numWords;
  }

  /// `prefix` is stored under this id for good.
  event SourceStored(uint16 indexed sourceId, bytes32 indexed prefixHash);

  /// Entry `index` of a submission is on its way under `requestId`: of VRF for presets and words, else of functions.
  event Accepted(uint256 index, uint256 requestId);

  /// Entry `index` of a submission was refused, with the oracle contract's revert data (its first 256 bytes).
  event Refused(uint256 index, bytes reason);

  /// The word of preset `item` of a batch is with the function request `requestId`.
  event PresetSent(uint256 indexed vrfRequestId, bytes32 indexed requestId, uint256 item);

  /// Preset `item` of a batch ends here: its function request was refused.
  event PresetRefused(uint256 indexed vrfRequestId, uint256 item, bytes reason);

  error OnlyOperator(address have, address want);
  error OnlyCoordinatorCanFulfill(address have, address want);
  error OnlyRouterCanFulfill(address have, address want);
  /// A source or batch is empty, or does not fit the code of one contract.
  error BadLength(uint256 have, uint256 max);
  /// The packed bytes of a batch end within an item.
  error MalformedBatch();
  error UnknownSource(uint256 sourceId);
  /// A call had too little gas. It undoes a whole submission; within a callback it is an item's reason.
  error InsufficientGas();

  /// STOP: a call to the chunk of a source does nothing.
  uint256 private constant SOURCE_FIRST_BYTE = 0x00;
  uint256 private constant MAX_REASON_BYTES = 256;
  /// Enough for this contract's handleOracleFulfillment, which takes a few hundred.
  uint256 private constant FUNCTIONS_CALLBACK_GAS = 5_000;
  /// Enough for a callback that finds no batch.
  uint32 private constant RANDOM_CALLBACK_GAS = 20_000;
  /// The version of the CBOR data, as FunctionsRequest.REQUEST_DATA_VERSION.
  uint256 private constant DATA_VERSION = 1;
  /// Where the data begins in a request that is being built.
  uint256 private constant DATA_OFFSET = 0xe0;
  /// Kept back in a callback for each item that is still to come: an event with its reason.
  uint256 internal constant GAS_TO_REFUSE = 6_000;
  /// Less than this is not tried: no request takes less, and putting the longest together takes two thirds of it.
  uint256 private constant GAS_TO_TRY = 100_000;
  /// Most gas one item's request may take, so that none starves the rest: about twice what the router uses, and what it
  /// takes to load a subscription's 100 consumers, which it does for each request.
  uint256 private constant MAX_GAS_PER_ITEM = 550_000;
  uint256 private constant MAX_GAS_PER_BYTE = 50;

  address public immutable OPERATOR;
  address public immutable VRF_COORDINATOR;
  address public immutable FUNCTIONS_ROUTER;
  bytes32 public immutable DON_ID;

  uint16 public sourceCount;
  /// Id of the source with this hash of its prefix, 0 if there is none.
  mapping(bytes32 prefixHash => uint16 sourceId) public sourceIdOf;
  mapping(uint256 sourceId => address chunk) private s_sources;

  constructor(address operator, address vrfCoordinator, address functionsRouter, bytes32 donId) {
    OPERATOR = operator;
    VRF_COORDINATOR = vrfCoordinator;
    FUNCTIONS_ROUTER = functionsRouter;
    DON_ID = donId;
  }

  /**
   * Stores what the requests of a preset begin with, for later use by id. The same bytes get the same id.
   *
   * @param prefix CBOR pairs codeLocation, language and source, 1 to 24,575 bytes
   */
  function storeSource(bytes calldata prefix) external returns (uint16 sourceId) {
    _onlyOperator();
    bytes32 prefixHash = keccak256(prefix);
    sourceId = sourceIdOf[prefixHash];
    if (sourceId != 0) return sourceId;
    if (prefix.length == 0 || prefix.length > CodeChunk.MAX_BYTES) {
      revert BadLength(prefix.length, CodeChunk.MAX_BYTES);
    }
    sourceId = ++sourceCount;
    sourceIdOf[prefixHash] = sourceId;
    s_sources[sourceId] = CodeChunk.store(prefix, SOURCE_FIRST_BYTE);
    emit SourceStored(sourceId, prefixHash);
  }

  /// The stored prefix.
  function sourceOf(uint16 sourceId) external view returns (bytes memory prefix) {
    address chunk = s_sources[sourceId];
    if (chunk == address(0)) revert UnknownSource(sourceId);
    return CodeChunk.read(chunk);
  }

  /**
   * Sends all the requests. Each entry ends in Accepted or Refused under its index, counted through the three lists
   * in this order; a refused one changes nothing for the others. With too little gas everything is undone, so an
   * estimate of gas is right although refusals are caught.
   */
  function _submit(
    PresetCall[] calldata presets,
    FunctionCall[] calldata functions,
    RandomCall[] calldata randoms
  ) internal {
    _onlyOperator();
    uint256 index;
    for (uint256 i = 0; i < presets.length; ++i) _submitPresets(index++, presets[i]);
    for (uint256 i = 0; i < functions.length; ++i) {
      bytes calldata data = functions[i].data;
      uint256 request = _requestBuffer();
      assembly {
        calldatacopy(add(request, DATA_OFFSET), data.offset, data.length)
      }
      (bool ok, bytes32 requestId) = _sendRequest(request, functions[i].functionsSubId, data.length, gasleft());
      _conclude(index++, ok, uint256(requestId));
    }
    for (uint256 i = 0; i < randoms.length; ++i) {
      RandomCall calldata call_ = randoms[i];
      (bool ok, uint256 requestId) = _requestRandomWords(
        call_.keyHash,
        call_.vrfSubId,
        call_.confirmations,
        RANDOM_CALLBACK_GAS,
        call_.numWords
      );
      _conclude(index++, ok, requestId);
    }
  }

  /// The coordinator's callback: sends every preset of the batch with its word. Items end in an event each.
  function rawFulfillRandomWords(uint256 vrfRequestId, uint256[] calldata randomWords) external {
    if (msg.sender != VRF_COORDINATOR) revert OnlyCoordinatorCanFulfill(msg.sender, VRF_COORDINATOR);
    bytes memory batch = PresetBatch.take(vrfRequestId);
    if (batch.length == 0) return;
    // From here on nothing may revert: the words are spent, and what was sent before would be undone.
    (uint256 functionsSubId, uint256 firstItem) = PresetBatch.open(batch);
    Callback memory callback = Callback(functionsSubId, firstItem, vrfRequestId, 0, 0);
    unchecked {
      for (uint256 item = 0; item < randomWords.length; ++item) {
        _sendPreset(callback, item, randomWords[item], GAS_TO_REFUSE * (randomWords.length - item));
      }
    }
  }

  /// The router's callback. Results are read from the router's RequestProcessed log, so there is nothing to do.
  function handleOracleFulfillment(bytes32, bytes calldata, bytes calldata) external view {
    if (msg.sender != FUNCTIONS_ROUTER) revert OnlyRouterCanFulfill(msg.sender, FUNCTIONS_ROUTER);
  }

  /// What the items of one callback share.
  struct Callback {
    uint256 functionsSubId;
    /// Where in memory the next item of the batch begins.
    uint256 cursor;
    uint256 vrfRequestId;
    /// The source whose prefix lies in the request buffer, 0 for none, and the prefix's length.
    uint256 loadedSource;
    uint256 prefixLength;
  }

  /// Sends the item at the cursor with its word, or says why not. `gasKeptBack` is left for this and later items.
  function _sendPreset(Callback memory callback, uint256 item, uint256 randomWord, uint256 gasKeptBack) internal {
    (uint256 sourceId, uint256 args, uint256 argsLength) = PresetBatch.readItem(callback.cursor);
    // Lengths and amounts of gas: far from any overflow.
    unchecked {
      callback.cursor = args + argsLength;
      if (gasleft() < gasKeptBack + GAS_TO_TRY) {
        return _refusePreset(callback, item, abi.encodeWithSelector(InsufficientGas.selector));
      }
      uint256 request = _requestBuffer();
      if (sourceId != callback.loadedSource) {
        callback.loadedSource = sourceId;
        address chunk = s_sources[sourceId];
        callback.prefixLength = chunk == address(0) ? 0 : CodeChunk.copyTo(chunk, request + DATA_OFFSET);
      }
      uint256 length = callback.prefixLength;
      if (length == 0) {
        if (item == 0 && _takePart(args, randomWord)) return;
        return _refusePreset(callback, item, abi.encodeWithSelector(UnknownSource.selector, sourceId));
      }
      length += _writeArguments(request + DATA_OFFSET + length, args, argsLength, randomWord);
      uint256 gasLimit = MAX_GAS_PER_ITEM + MAX_GAS_PER_BYTE * length;
      uint256 gasAtHand = gasleft();
      gasAtHand = gasAtHand > gasKeptBack ? gasAtHand - gasKeptBack : 0;
      if (gasLimit > gasAtHand) gasLimit = gasAtHand;
      (bool ok, bytes32 requestId) = _sendRequest(request, callback.functionsSubId, length, gasLimit);
      if (!ok) return _refusePreset(callback, item, _reason());
      _emitPresetSent(callback.vrfRequestId, requestId, item);
    }
  }

  function _refusePreset(Callback memory callback, uint256 item, bytes memory reason) private {
    // The buffer lies in free memory, which the reason and the event have overwritten.
    callback.loadedSource = 0;
    callback.prefixLength = 0;
    emit PresetRefused(callback.vrfRequestId, item, reason);
  }

  /// Whether the first item of a batch, with its arguments at `args`, was no preset but a part of a join, and is taken.
  function _takePart(uint256 args, uint256 randomWord) internal virtual returns (bool);

  /// Calldata of the coordinator's requestRandomWords.
  function _encodeWordsRequest(
    bytes32 keyHash,
    uint256 vrfSubId,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) internal view virtual returns (bytes memory);

  function _onlyOperator() internal view {
    if (msg.sender != OPERATOR) revert OnlyOperator(msg.sender, OPERATOR);
  }

  function _submitPresets(uint256 index, PresetCall calldata presets) private {
    bytes calldata batch = presets.batch;
    uint256 count = PresetBatch.count(batch);
    if (count == 0) {
      emit Refused(index, abi.encodeWithSelector(MalformedBatch.selector));
      return;
    }
    if (batch.length > CodeChunk.MAX_BYTES) {
      emit Refused(index, abi.encodeWithSelector(BadLength.selector, batch.length, CodeChunk.MAX_BYTES));
      return;
    }
    (bool ok, uint256 requestId) = _requestRandomWords(
      presets.keyHash,
      presets.vrfSubId,
      presets.confirmations,
      presets.callbackGasLimit,
      uint32(count)
    );
    if (ok) PresetBatch.keep(requestId, batch);
    _conclude(index, ok, requestId);
  }

  function _requestRandomWords(
    bytes32 keyHash,
    uint256 vrfSubId,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) internal returns (bool ok, uint256 requestId) {
    bytes memory call_ = _encodeWordsRequest(keyHash, vrfSubId, confirmations, callbackGasLimit, numWords);
    address coordinator = VRF_COORDINATOR;
    assembly {
      // An address without code answers any call, with nothing.
      ok := call(gas(), coordinator, 0, add(call_, 0x20), mload(call_), 0, 0x20)
      ok := and(ok, gt(returndatasize(), 31))
      requestId := mload(0)
    }
  }

  /// Right after the call of entry `index`, while its revert data is at hand.
  function _conclude(uint256 index, bool ok, uint256 requestId) internal {
    if (ok) {
      emit Accepted(index, requestId);
    } else {
      bytes memory reason = _reason();
      // The oracle contracts always say why. Silence is the sign of a call that ran out of gas.
      if (bytes4(reason) == InsufficientGas.selector) revert InsufficientGas();
      emit Refused(index, reason);
    }
  }

  /// Revert data of the last call, cut at 256 bytes; where there is none, that of InsufficientGas.
  function _reason() private pure returns (bytes memory reason) {
    uint256 length;
    assembly {
      length := returndatasize()
    }
    if (length == 0) return abi.encodeWithSelector(InsufficientGas.selector);
    if (length > MAX_REASON_BYTES) length = MAX_REASON_BYTES;
    reason = new bytes(length);
    assembly {
      returndatacopy(add(reason, 0x20), 0, length)
    }
  }

  // Requests to the router: built in free memory as the call's arguments, the data from DATA_OFFSET on.

  function _requestBuffer() private pure returns (uint256 request) {
    assembly {
      request := mload(0x40)
    }
  }

  /// Calls FunctionsRouter.sendRequest with the `length` bytes of data that lie at `request` + DATA_OFFSET.
  function _sendRequest(
    uint256 request,
    uint256 functionsSubId,
    uint256 length,
    uint256 gasLimit
  ) private returns (bool ok, bytes32 requestId) {
    address router = FUNCTIONS_ROUTER;
    bytes32 donId = DON_ID;
    uint256 selector = uint32(IFunctionsRouter.sendRequest.selector);
    assembly {
      mstore(request, selector)
      mstore(add(request, 0x20), functionsSubId)
      mstore(add(request, 0x40), 0xa0)
      mstore(add(request, 0x60), DATA_VERSION)
      mstore(add(request, 0x80), FUNCTIONS_CALLBACK_GAS)
      mstore(add(request, 0xa0), donId)
      mstore(add(request, 0xc0), length)
      // Zeros up to the next whole word.
      mstore(add(add(request, DATA_OFFSET), length), 0)
      let size := add(0xc4, and(add(length, 31), not(31)))
      ok := call(gasLimit, router, 0, add(request, 28), size, 0, 0x20)
      ok := and(ok, gt(returndatasize(), 31))
      requestId := mload(0)
    }
  }

  /// Writes the rest of a request's CBOR pairs to `at`: "args", if there are any, and "bytesArgs" with the word.
  function _writeArguments(
    uint256 at,
    uint256 args,
    uint256 argsLength,
    uint256 randomWord
  ) private pure returns (uint256 length) {
    assembly {
      let end := at
      if argsLength {
        // Text of 4 bytes.
        mstore(end, shl(216, 0x6461726773))
        end := add(end, 5)
        for { let i := 0 } lt(i, argsLength) { i := add(i, 0x20) } {
          mstore(add(end, i), mload(add(args, i)))
        }
        end := add(end, argsLength)
      }
      // Text of 9 bytes, then an array of one string of 32 bytes.
      mstore(end, shl(152, 0x69627974657341726773815820))
      mstore(add(end, 13), randomWord)
      length := add(sub(end, at), 45)
    }
  }

  /// Not `emit`, which would write to the buffer of the request.
  function _emitPresetSent(uint256 vrfRequestId, bytes32 requestId, uint256 item) private {
    bytes32 topic = PresetSent.selector;
    assembly {
      mstore(0, item)
      log3(0, 0x20, topic, vrfRequestId, requestId)
    }
  }
}
