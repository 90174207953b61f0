import { TycheError } from "../lib/errors.ts";
import type { NetworkConfigVars } from "./configVars.ts";

/**
 * Generates a consumer contract in Solidity with a dapp's values of one network filled in: `Dice` rolls a die with a random word. The file
 * compiles alone: Chainlink's npm package of contracts needs a git host to install.
 *
 * @throws {NoSubscriptionError} while the service has not created the dapp's subscriptions there.
 */
export function formatSampleConsumer(dappId: string, vars: NetworkConfigVars): string {
  const { network, contracts, keyHash, vrfSubscriptionId } = vars;
  const { vrfCoordinator, vrfVersion = "v2" } = contracts;
  if (vrfCoordinator === undefined || keyHash === undefined || vrfSubscriptionId === undefined)
    throw new NoSubscriptionError(network);
  const values = { ...vars, dappId, vrfCoordinator, keyHash, vrfSubscriptionId };
  return vrfVersion === "v2" ? formatV2(values) : formatV2Plus(values);
}

/**
 * Generates `Sum`, a consumer contract whose function adds numbers, in the same way.
 *
 * @throws {NoSubscriptionError} while the service has not created the dapp's subscriptions there.
 */
export function formatSampleFunctionsConsumer(dappId: string, vars: NetworkConfigVars): string {
  const { network, contracts, donIdBytes32, functionsSubscriptionId } = vars;
  const { functionsRouter } = contracts;
  if (functionsRouter === undefined || functionsSubscriptionId === undefined)
    throw new NoSubscriptionError(network);
  return `${intro({ ...vars, dappId })}

${BASE_FUNCTIONS}

contract Sum is FunctionsClient {
  uint64 private constant SUBSCRIPTION_ID = ${functionsSubscriptionId};
  bytes32 private constant DON_ID = ${donIdBytes32}; // ${vars.donId}
  uint32 private constant CALLBACK_GAS = 100_000;
  string private constant SOURCE = "return Functions.encodeUint256(args.reduce((sum, arg) => sum + BigInt(arg), 0n))";

  event Asked(bytes32 indexed requestId, address indexed asker);
  event Answered(bytes32 indexed requestId, uint256 result, bytes err);

  /// 0 until the result has come.
  mapping(bytes32 requestId => uint256 result) public resultOf;

  constructor() FunctionsClient(${functionsRouter}) {}

  function ask(string[] calldata args) external returns (bytes32 requestId) {
    requestId = _sendRequest(FunctionsRequest.encode(SOURCE, args), SUBSCRIPTION_ID, CALLBACK_GAS, DON_ID);
    emit Asked(requestId, msg.sender);
  }

  function fulfillRequest(bytes32 requestId, bytes memory response, bytes memory err) internal override {
    uint256 result = err.length == 0 ? abi.decode(response, (uint256)) : 0;
    resultOf[requestId] = result;
    emit Answered(requestId, result, err);
  }
}
`;
}

type Introduced = Pick<NetworkConfigVars, "title" | "network"> & { readonly dappId: string };

interface Values {
  readonly dappId: string;
  readonly network: string;
  readonly title: string;
  readonly vrfCoordinator: string;
  readonly keyHash: string;
  readonly vrfSubscriptionId: string;
}

const intro = ({ title, network, dappId }: Introduced): string => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

// For ${title}. Deploy it, then link its address:
// npx tyche consumer add ADDRESS --network ${network} --dapp ${dappId}
// The declarations before the contract are what it needs of Chainlink's contracts (MIT, npm package @chainlink/contracts).`;

const BASE_V2 = `interface VRFCoordinatorV2Interface {
  function requestRandomWords(
    bytes32 keyHash,
    uint64 subId,
    uint16 minimumRequestConfirmations,
    uint32 callbackGasLimit,
    uint32 numWords
  ) external returns (uint256 requestId);
}

abstract contract VRFConsumerBaseV2 {
  error OnlyCoordinatorCanFulfill(address have, address want);
  /// The coordinator reverts with it if this contract is not linked: declared, so that tools can name it.
  error InvalidConsumer(uint64 subId, address consumer);

  address private immutable vrfCoordinator;

  constructor(address coordinator) {
    vrfCoordinator = coordinator;
  }

  function fulfillRandomWords(uint256 requestId, uint256[] memory randomWords) internal virtual;

  /// The coordinator calls this; anybody else is refused.
  function rawFulfillRandomWords(uint256 requestId, uint256[] memory randomWords) external {
    if (msg.sender != vrfCoordinator) revert OnlyCoordinatorCanFulfill(msg.sender, vrfCoordinator);
    fulfillRandomWords(requestId, randomWords);
  }
}`;

const BASE_V2_PLUS = `library VRFV2PlusClient {
  bytes4 internal constant EXTRA_ARGS_V1_TAG = bytes4(keccak256("VRF ExtraArgsV1"));

  struct ExtraArgsV1 {
    bool nativePayment;
  }

  struct RandomWordsRequest {
    bytes32 keyHash;
    uint256 subId;
    uint16 requestConfirmations;
    uint32 callbackGasLimit;
    uint32 numWords;
    bytes extraArgs;
  }

  function _argsToBytes(ExtraArgsV1 memory extraArgs) internal pure returns (bytes memory) {
    return abi.encodeWithSelector(EXTRA_ARGS_V1_TAG, extraArgs);
  }
}

interface IVRFCoordinatorV2Plus {
  function requestRandomWords(
    VRFV2PlusClient.RandomWordsRequest calldata req
  ) external returns (uint256 requestId);
}

abstract contract VRFConsumerBaseV2Plus {
  error OnlyCoordinatorCanFulfill(address have, address want);
  /// The coordinator reverts with it if this contract is not linked: declared, so that tools can name it.
  error InvalidConsumer(uint256 subId, address consumer);

  IVRFCoordinatorV2Plus internal immutable vrfCoordinator;

  constructor(address coordinator) {
    vrfCoordinator = IVRFCoordinatorV2Plus(coordinator);
  }

  function fulfillRandomWords(uint256 requestId, uint256[] calldata randomWords) internal virtual;

  /// The coordinator calls this; anybody else is refused.
  function rawFulfillRandomWords(uint256 requestId, uint256[] calldata randomWords) external {
    if (msg.sender != address(vrfCoordinator))
      revert OnlyCoordinatorCanFulfill(msg.sender, address(vrfCoordinator));
    fulfillRandomWords(requestId, randomWords);
  }
}`;

const BASE_FUNCTIONS = `interface IFunctionsRouter {
  function sendRequest(
    uint64 subscriptionId,
    bytes calldata data,
    uint16 dataVersion,
    uint32 callbackGasLimit,
    bytes32 donId
  ) external returns (bytes32);
}

/// A source and its arguments in CBOR, as Chainlink's library of that name encodes them.
library FunctionsRequest {
  uint16 internal constant REQUEST_DATA_VERSION = 1;

  function encode(string memory source, string[] memory args) internal pure returns (bytes memory data) {
    data = abi.encodePacked(text("codeLocation"), hex"00", text("language"), hex"00", text("source"), text(source));
    if (args.length == 0) return data;
    data = abi.encodePacked(data, text("args"), hex"9f");
    for (uint256 i = 0; i < args.length; ++i) data = abi.encodePacked(data, text(args[i]));
    return abi.encodePacked(data, hex"ff");
  }

  function text(string memory value) private pure returns (bytes memory) {
    uint256 length = bytes(value).length;
    if (length < 24) return abi.encodePacked(uint8(0x60 + length), value);
    if (length < 256) return abi.encodePacked(hex"78", uint8(length), value);
    return abi.encodePacked(hex"79", uint16(length), value);
  }
}

abstract contract FunctionsClient {
  error OnlyRouterCanFulfill();
  /// The router reverts with it if this contract is not linked: declared, so that tools can name it.
  error InvalidConsumer();

  IFunctionsRouter private immutable router;

  constructor(address router_) {
    router = IFunctionsRouter(router_);
  }

  function fulfillRequest(bytes32 requestId, bytes memory response, bytes memory err) internal virtual;

  /// The router calls this; anybody else is refused.
  function handleOracleFulfillment(bytes32 requestId, bytes memory response, bytes memory err) external {
    if (msg.sender != address(router)) revert OnlyRouterCanFulfill();
    fulfillRequest(requestId, response, err);
  }

  function _sendRequest(
    bytes memory data,
    uint64 subscriptionId,
    uint32 callbackGasLimit,
    bytes32 donId
  ) internal returns (bytes32) {
    return router.sendRequest(subscriptionId, data, FunctionsRequest.REQUEST_DATA_VERSION, callbackGasLimit, donId);
  }
}`;

/** The part after the request, which both versions share. */
const REST = `    emit Rolling(requestId, msg.sender);
  }

  function fulfillRandomWords(uint256 requestId, uint256[] MEMORY words) internal override {
    uint256 result = words[0] % 6 + 1;
    resultOf[requestId] = result;
    emit Rolled(requestId, result);
  }
}
`;

function formatV2(values: Values): string {
  return `${intro(values)}

${BASE_V2}

contract Dice is VRFConsumerBaseV2 {
  VRFCoordinatorV2Interface private constant COORDINATOR = VRFCoordinatorV2Interface(${values.vrfCoordinator});
  bytes32 private constant KEY_HASH = ${values.keyHash};
  uint64 private constant SUBSCRIPTION_ID = ${values.vrfSubscriptionId};
  uint16 private constant CONFIRMATIONS = 3;
  uint32 private constant CALLBACK_GAS = 100_000;

  event Rolling(uint256 indexed requestId, address indexed player);
  event Rolled(uint256 indexed requestId, uint256 result);

  /// 1 to 6; 0 until the random word has come.
  mapping(uint256 requestId => uint256 result) public resultOf;

  constructor() VRFConsumerBaseV2(address(COORDINATOR)) {}

  function roll() external returns (uint256 requestId) {
    requestId = COORDINATOR.requestRandomWords(KEY_HASH, SUBSCRIPTION_ID, CONFIRMATIONS, CALLBACK_GAS, 1);
${REST.replace("MEMORY", "memory")}`;
}

function formatV2Plus(values: Values): string {
  return `${intro(values)}

${BASE_V2_PLUS}

contract Dice is VRFConsumerBaseV2Plus {
  bytes32 private constant KEY_HASH = ${values.keyHash};
  uint256 private constant SUBSCRIPTION_ID = ${values.vrfSubscriptionId};
  uint16 private constant CONFIRMATIONS = 3;
  uint32 private constant CALLBACK_GAS = 100_000;

  event Rolling(uint256 indexed requestId, address indexed player);
  event Rolled(uint256 indexed requestId, uint256 result);

  /// 1 to 6; 0 until the random word has come.
  mapping(uint256 requestId => uint256 result) public resultOf;

  constructor() VRFConsumerBaseV2Plus(${values.vrfCoordinator}) {}

  function roll() external returns (uint256 requestId) {
    requestId = vrfCoordinator.requestRandomWords(
      VRFV2PlusClient.RandomWordsRequest({
        keyHash: KEY_HASH,
        subId: SUBSCRIPTION_ID,
        requestConfirmations: CONFIRMATIONS,
        callbackGasLimit: CALLBACK_GAS,
        numWords: 1,
        extraArgs: VRFV2PlusClient._argsToBytes(VRFV2PlusClient.ExtraArgsV1({nativePayment: false}))
      })
    );
${REST.replace("MEMORY", "calldata")}`;
}

/** The dapp has no subscriptions on a network yet. */
export class NoSubscriptionError extends TycheError {
  constructor(network: string) {
    super(`the dapp has no subscriptions on ${network} yet; a running service creates them in a moment`, {
      code: "not_found",
      blame: "caller",
    });
  }
}
