// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {CodeChunk} from "./CodeChunk.sol";
import {JoinedWords} from "./JoinedWords.sol";
import {NodeReports} from "./NodeReports.sol";
import {IFunctionsRouter} from "@chainlink/contracts/src/v0.8/functions/v1_0_0/interfaces/IFunctionsRouter.sol";

/**
 * Sends the operator's requests to the oracle contracts, many in one transaction, on subscriptions that have this
 * contract as a consumer, and takes the results of presets.
 *
 * A preset is a stored source with arguments and a random word. A batch of presets is fixed on chain before its seed
 * exists; word i of the batch is keccak256(seed ‖ i); and the nodes sign what the sources give with these words. All that
 * is kept meanwhile is one word of storage, the batch's record:
 *   pending: keccak256(batch), until the coordinator's callback brings the seed
 *   ready:   keccak256(pending ‖ seed), until the report
 * The callback asks nothing of anybody, so nothing can come between the seed and the results but silence.
 *
 * Trust: the operator decides what is asked, never what is answered.
 *
 * What differs between the versions of VRF is left to PresetConsumer and PresetConsumerV2Plus.
 */
abstract contract PresetConsumerBase is NodeReports {
  using JoinedWords for JoinedWords.Join;

  /// Presets that share one VRF request. `batch`: for each, uint16 sourceId ‖ uint8 n ‖ [uint16 n, if the byte was
  /// 255] ‖ n bytes of args, the CBOR array of its arguments, or nothing.
  struct PresetCall {
    uint256 vrfSubId;
    bytes32 keyHash;
    uint16 confirmations;
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

  /// Presets, or random numbers, with the joined words of 2 to 4 different proving keys, see JoinedWords.
  struct JoinedCall {
    uint256 vrfSubId;
    bytes32[] keyHashes;
    uint16 confirmations;
    /// Random numbers, for whoever reads the chain, derived from the seed as a batch's words are; 0 with a batch.
    uint32 numWords;
    /// Empty for random numbers.
    bytes batch;
  }

  /// What a request of a submission is for: entry `index`, and of a batch its preset `item`. The operator vouches for `dapp`.
  struct Label {
    uint256 index;
    uint256 item;
    string dapp;
    string text;
  }

  /**
   * Results with the signatures of enough nodes, see NodeReports. `report`: for each batch, bytes32 vrfRequestId ‖
   * bytes32 ready ‖ uint24 n ‖ n bytes of results. `results`: for each preset of the batch, uint16 n ‖ the n bytes that
   * its source returned, or 0x8000 + n and the text of its error.
   */
  struct SignedReport {
    bytes report;
    bytes signatures;
  }

  /// `source` is stored under this id for good.
  event SourceStored(uint16 indexed sourceId, bytes32 indexed sourceHash);

  /// Entry `index` of a submission is on its way under `requestId`: of VRF for presets and words, else of functions.
  event Accepted(uint256 index, uint256 requestId);

  /// Entry `index` of a submission was refused, with the oracle contract's revert data (its first 256 bytes).
  event Refused(uint256 index, bytes reason);

  /// Request `item` of entry `index` of this submission has a label. `labelHash`: keccak256(abi.encode(dapp, label)).
  event Labelled(bytes32 indexed labelHash, uint256 index, uint256 item, string dapp, string label);

  /// The presets of this batch get their words from this VRF request.
  event BatchRequested(uint256 indexed vrfRequestId, bytes batch);

  /// The seed of `requestId` is joined from the words of these keys' VRF requests, in this order; it is the first of them.
  event Joining(uint256 indexed requestId, bytes32[] keyHashes, uint256[] parts);

  /// The last part's word has come.
  event WordsJoined(uint256 indexed requestId, uint256 seed);

  /// The batch's results, as the nodes signed them.
  event BatchReported(uint256 indexed vrfRequestId, bytes results);

  error OnlyOperator(address have, address want);
  error OnlyCoordinatorCanFulfill(address have, address want);
  error OnlyRouterCanFulfill(address have, address want);
  /// A source or batch is empty, or the source does not fit the code of one contract.
  error BadLength(uint256 have, uint256 max);
  error UnknownSource(uint256 sourceId);
  /// Not 2 to 4 different ones.
  error BadKeyHashes();
  /// A call had too little gas, which undoes a whole submission.
  error InsufficientGas();

  uint256 private constant MAX_REASON_BYTES = 256;
  /// Enough for this contract's handleOracleFulfillment, which takes a few hundred.
  uint32 private constant FUNCTIONS_CALLBACK_GAS = 5_000;
  /// Enough for a callback that finds no record.
  uint32 private constant RANDOM_CALLBACK_GAS = 20_000;
  /// Enough for a callback with a seed, and for the last part of a join.
  uint32 private constant SEED_CALLBACK_GAS = 100_000;
  /// The version of the CBOR data, as FunctionsRequest.REQUEST_DATA_VERSION.
  uint16 private constant DATA_VERSION = 1;

  /// The two lowest bits of a record tell its kind; 0: there is none.
  uint256 private constant KIND = 3;
  uint256 private constant PENDING = 1;
  uint256 private constant READY = 2;
  /// One key's part of a join: the 246 highest bits of the join's request id ‖ uint4 index ‖ uint4 parts ‖ PART.
  uint256 private constant PART = 3;
  uint256 private constant PART_BITS = 10;

  address public immutable OPERATOR;
  address public immutable VRF_COORDINATOR;
  /// BatchVRFCoordinatorV2 or its successor; zero on a chain where others deliver the words.
  address public immutable BATCH_VRF_COORDINATOR;

  uint16 private s_sourceCount;
  /// Id of the source with this hash, 0 if there is none.
  mapping(bytes32 sourceHash => uint16 sourceId) public sourceIdOf;
  mapping(uint256 sourceId => address chunk) private s_sources;
  /// By VRF request.
  mapping(uint256 vrfRequestId => uint256 record) public recordOf;
  /// By the 246 highest bits of the request id.
  mapping(uint256 key => JoinedWords.Join) private s_joins;

  constructor(
    address operator,
    address vrfCoordinator,
    address batchVrfCoordinator,
    address functionsRouter,
    bytes32 donId
  ) NodeReports(functionsRouter, donId) {
    OPERATOR = operator;
    VRF_COORDINATOR = vrfCoordinator;
    BATCH_VRF_COORDINATOR = batchVrfCoordinator;
  }

  modifier onlyOperator() {
    if (msg.sender != OPERATOR) revert OnlyOperator(msg.sender, OPERATOR);
    _;
  }

  /// Stores a preset's source, 1 to 24,575 bytes of UTF-8, for use by id. The same source gets the same id.
  function storeSource(bytes calldata source) external onlyOperator returns (uint16 sourceId) {
    bytes32 sourceHash = keccak256(source);
    sourceId = sourceIdOf[sourceHash];
    if (sourceId != 0) return sourceId;
    if (source.length == 0 || source.length > CodeChunk.MAX_BYTES) {
      revert BadLength(source.length, CodeChunk.MAX_BYTES);
    }
    sourceId = ++s_sourceCount;
    sourceIdOf[sourceHash] = sourceId;
    s_sources[sourceId] = CodeChunk.store(source);
    emit SourceStored(sourceId, sourceHash);
  }

  /// The stored source.
  function sourceOf(uint16 sourceId) external view returns (bytes memory source) {
    address chunk = s_sources[sourceId];
    if (chunk == address(0)) revert UnknownSource(sourceId);
    return CodeChunk.read(chunk);
  }

  /**
   * Sends all the requests. Each entry ends in Accepted or Refused under its index, counted through the lists in this
   * order; a refused one changes nothing for the others. With too little gas everything is undone, so an estimate of gas
   * is right although refusals are caught. `labels` come with the requests, so they are fixed before any word exists.
   */
  function submit(
    PresetCall[] calldata presets,
    FunctionCall[] calldata functions,
    RandomCall[] calldata randoms,
    Label[] calldata labels
  ) external onlyOperator {
    uint256 index;
    for (uint256 i = 0; i < presets.length; ++i) _submitPresets(index++, presets[i]);
    for (uint256 i = 0; i < functions.length; ++i) _submitFunction(index++, functions[i]);
    for (uint256 i = 0; i < randoms.length; ++i) {
      RandomCall calldata one = randoms[i];
      _requestWords(index++, one.vrfSubId, one.keyHash, one.confirmations, RANDOM_CALLBACK_GAS, one.numWords);
    }
    _label(labels);
  }

  /// As `submit`, for requests with joined words.
  function submitJoined(JoinedCall[] calldata calls, Label[] calldata labels) external onlyOperator {
    for (uint256 i = 0; i < calls.length; ++i) _submitJoined(i, calls[i]);
    _label(labels);
  }

  /// The coordinator's callback.
  function rawFulfillRandomWords(uint256 vrfRequestId, uint256[] calldata randomWords) external {
    if (msg.sender != VRF_COORDINATOR) revert OnlyCoordinatorCanFulfill(msg.sender, VRF_COORDINATOR);
    uint256 record = recordOf[vrfRequestId];
    uint256 kind = record & KIND;
    if (kind == PENDING) recordOf[vrfRequestId] = _ready(record, randomWords[0]);
    if (kind == PART) _addPart(vrfRequestId, record, randomWords[0]);
  }

  /**
   * Delivers proofs and reports in one transaction. Anybody may: proofs and signatures speak for themselves. A batch that
   * has no seed yet, or has its results, is passed over.
   *
   * @param fulfilment call of BATCH_VRF_COORDINATOR, which says in its events what became of each proof; empty for none
   */
  function deliver(bytes calldata fulfilment, SignedReport[] calldata reports) external {
    if (fulfilment.length != 0) {
      (bool ok, ) = BATCH_VRF_COORDINATOR.call(fulfilment);
      // It does not revert but for the lack of gas; what it was to deliver can come later.
      ok;
    }
    for (uint256 i = 0; i < reports.length; ++i) _takeReport(reports[i].report, reports[i].signatures);
  }

  /// The router's callback. Results are read from the router's RequestProcessed log, so there is nothing to do.
  function handleOracleFulfillment(bytes32, bytes calldata, bytes calldata) external view {
    if (msg.sender != FUNCTIONS_ROUTER) revert OnlyRouterCanFulfill(msg.sender, FUNCTIONS_ROUTER);
  }

  /// Calldata of the coordinator's requestRandomWords.
  function _encodeWordsRequest(
    bytes32 keyHash,
    uint256 vrfSubId,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) internal view virtual returns (bytes memory);

  function _submitPresets(uint256 index, PresetCall calldata call_) private {
    bytes calldata batch = call_.batch;
    if (batch.length == 0) return _refuse(index, abi.encodeWithSelector(BadLength.selector, 0, type(uint24).max));
    (bool ok, uint256 vrfRequestId) = _requestWords(
      index,
      call_.vrfSubId,
      call_.keyHash,
      call_.confirmations,
      SEED_CALLBACK_GAS,
      1
    );
    if (!ok) return;
    recordOf[vrfRequestId] = _pending(batch);
    emit BatchRequested(vrfRequestId, batch);
  }

  function _submitFunction(uint256 index, FunctionCall calldata call_) private {
    try
      IFunctionsRouter(FUNCTIONS_ROUTER).sendRequest(
        call_.functionsSubId,
        call_.data,
        DATA_VERSION,
        FUNCTIONS_CALLBACK_GAS,
        DON_ID
      )
    returns (bytes32 requestId) {
      emit Accepted(index, uint256(requestId));
    } catch (bytes memory reason) {
      _refuse(index, reason);
    }
  }

  function _submitJoined(uint256 index, JoinedCall calldata call_) private {
    bytes32[] calldata keyHashes = call_.keyHashes;
    if (!JoinedWords.areDistinct(keyHashes)) return _refuse(index, abi.encodeWithSelector(BadKeyHashes.selector));
    uint256[] memory parts = new uint256[](keyHashes.length);
    for (uint256 i = 0; i < parts.length; ++i) {
      (bool ok, bytes memory answer) = VRF_COORDINATOR.call(
        _encodeWordsRequest(keyHashes[i], call_.vrfSubId, call_.confirmations, SEED_CALLBACK_GAS, 1)
      );
      // What the coordinator refuses, it refuses of the first part. A later one is the lack of gas, which undoes all.
      if (i == 0) {
        (ok, parts[0]) = _conclude(index, ok, answer);
        if (!ok) return;
      } else {
        if (!ok || answer.length < 32) revert InsufficientGas();
        parts[i] = abi.decode(answer, (uint256));
      }
    }
    uint256 requestId = parts[0];
    JoinedWords.Join storage join = s_joins[requestId >> PART_BITS];
    join.requestId = requestId;
    for (uint256 i = 0; i < parts.length; ++i) {
      recordOf[parts[i]] = ((requestId >> PART_BITS) << PART_BITS) | (i << 6) | (parts.length << 2) | PART;
    }
    emit Joining(requestId, keyHashes, parts);
    if (call_.batch.length == 0) return;
    join.batch = bytes32(_pending(call_.batch));
    emit BatchRequested(requestId, call_.batch);
  }

  function _label(Label[] calldata labels) private {
    for (uint256 i = 0; i < labels.length; ++i) {
      Label calldata one = labels[i];
      emit Labelled(keccak256(abi.encode(one.dapp, one.text)), one.index, one.item, one.dapp, one.text);
    }
  }

  function _addPart(uint256 vrfRequestId, uint256 record, uint256 word) private {
    delete recordOf[vrfRequestId];
    JoinedWords.Join storage join = s_joins[record >> PART_BITS];
    uint256 seed = join.add((record >> 6) & 15, (record >> 2) & 15, word);
    if (seed == 0) return;
    (uint256 requestId, uint256 pending) = (join.requestId, uint256(join.batch));
    delete s_joins[record >> PART_BITS];
    emit WordsJoined(requestId, seed);
    if (pending != 0) recordOf[requestId] = _ready(pending, seed);
  }

  function _takeReport(bytes calldata report, bytes calldata signatures) private {
    _requireSigned(report, signatures);
    for (uint256 at = 0; at < report.length; ) {
      uint256 vrfRequestId = uint256(bytes32(report[at:at + 32]));
      uint256 ready = uint256(bytes32(report[at + 32:at + 64]));
      uint256 end = at + 67 + uint24(bytes3(report[at + 64:at + 67]));
      if (ready & KIND == READY && recordOf[vrfRequestId] == ready) {
        delete recordOf[vrfRequestId];
        emit BatchReported(vrfRequestId, report[at + 67:end]);
      }
      at = end;
    }
  }

  function _requestWords(
    uint256 index,
    uint256 vrfSubId,
    bytes32 keyHash,
    uint16 confirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) private returns (bool, uint256) {
    (bool ok, bytes memory answer) = VRF_COORDINATOR.call(
      _encodeWordsRequest(keyHash, vrfSubId, confirmations, callbackGasLimit, numWords)
    );
    return _conclude(index, ok, answer);
  }

  /// Says what became of entry `index`, from the answer of the oracle contract.
  function _conclude(uint256 index, bool ok, bytes memory answer) private returns (bool accepted, uint256 requestId) {
    // An address without code answers any call, with nothing.
    accepted = ok && answer.length >= 32;
    if (accepted) {
      requestId = abi.decode(answer, (uint256));
      emit Accepted(index, requestId);
      return (accepted, requestId);
    }
    _refuse(index, answer);
  }

  function _refuse(uint256 index, bytes memory reason) private {
    // The oracle contracts always say why. Silence is the sign of a call that ran out of gas.
    if (reason.length == 0) revert InsufficientGas();
    if (reason.length > MAX_REASON_BYTES) {
      assembly {
        mstore(reason, MAX_REASON_BYTES)
      }
    }
    emit Refused(index, reason);
  }

  function _pending(bytes calldata batch) private pure returns (uint256) {
    return (uint256(keccak256(batch)) & ~KIND) | PENDING;
  }

  function _ready(uint256 pending, uint256 seed) private pure returns (uint256) {
    return (uint256(keccak256(abi.encode(pending, seed))) & ~KIND) | READY;
  }
}
