import type { Static } from "typebox";
import type * as views from "../routes/explorerViews.ts";
import { presetAnswer } from "./requestAnswers.ts";
import {
  FLIP_ID,
  WORDS_REQUEST_TX,
  WORDS_PROOF_TX,
  PROOF_BLOCK_HASH,
  REQUEST_BLOCK_HASH,
  LINK_TOKEN,
  VRF_COORDINATOR,
  FUNCTIONS_ROUTER,
  PRESET_CONSUMER,
  BATCH_VRF_COORDINATOR,
  VRF_NODE,
} from "./values.ts";

/** A list of one network. */
export const explorerNetworks: Static<typeof views.ExplorerNetworks> = {
  items: [
    {
      name: "sepolia",
      title: "Ethereum Sepolia (local chain)",
      chainId: 11155111,
      coin: "ETH",
      nativePayment: false,
      embedded: true,
      hasEthereumBlocks: true,
      status: "serving",
      rpcUrl: "http://127.0.0.1:8546",
      contracts: {
        vrfCoordinator: "0x9bd53617968c7c436ae0b4024817bf39fd2d169a",
        functionsRouter: "0xf3259a34f4858efc779cfc6ed2ffbaae839ba696",
        functionsCoordinator: "0x30d712e7f5681dca2dc09e16735c9b814fa4dc84",
        presetConsumer: "0x11aecda44c2b3322ca1d2312f919440b725dbc7b",
      },
    },
  ],
};

/** The blocks of the request for `WORDS` and of their proof. */
export const blockSummaries: Static<typeof views.BlockList>["blocks"] = [
  {
    number: "38",
    hash: PROOF_BLOCK_HASH,
    at: "2026-11-24T23:37:57.000Z",
    transactionCount: 1,
    gasUsed: "104705",
  },
  {
    number: "37",
    hash: REQUEST_BLOCK_HASH,
    at: "2026-11-24T23:37:57.000Z",
    transactionCount: 1,
    gasUsed: "66434",
  },
];

/** Their transactions. */
export const transactionSummaries: Static<typeof views.Overview>["transactions"] = [
  {
    hash: WORDS_PROOF_TX,
    status: "succeeded",
    blockNumber: "38",
    at: "2026-11-24T23:37:57.000Z",
    from: { address: VRF_NODE, name: "VRF node" },
    to: { address: BATCH_VRF_COORDINATOR, name: "BatchVRFCoordinatorV2" },
    method: "fulfillRandomWords",
    valueWei: "0",
  },
  {
    hash: WORDS_REQUEST_TX,
    status: "succeeded",
    blockNumber: "37",
    at: "2026-11-24T23:37:57.000Z",
    from: { address: "0xd7fc151B51a214Ab9F87246E034788BEb46D930E", name: "Operator" },
    to: { address: PRESET_CONSUMER, name: "PresetConsumer" },
    method: "submit",
    valueWei: "0",
  },
];

/** The head of a chain. */
export const overviewAnswer: Static<typeof views.Overview> = {
  network: "sepolia",
  title: "Ethereum Sepolia (local chain)",
  chainId: 11155111,
  headNumber: "38",
  contracts: [
    { address: LINK_TOKEN, name: "LINK token" },
    { address: VRF_COORDINATOR, name: "VRFCoordinatorV2" },
    { address: FUNCTIONS_ROUTER, name: "FunctionsRouter" },
    { address: PRESET_CONSUMER, name: "PresetConsumer" },
  ],
  blocks: blockSummaries,
  transactions: transactionSummaries,
};

/** A page of blocks. */
export const blockPage: Static<typeof views.BlockList> = {
  network: "sepolia",
  headNumber: "38",
  blocks: blockSummaries,
  older: "37",
};

/** A block with its transaction. */
export const blockAnswer: Static<typeof views.Block> = {
  number: "38",
  hash: PROOF_BLOCK_HASH,
  at: "2026-11-24T23:37:57.000Z",
  transactionCount: 1,
  gasUsed: "104705",
  network: "sepolia",
  parentHash: REQUEST_BLOCK_HASH,
  gasLimit: "120000000",
  headNumber: "38",
  transactions: transactionSummaries.slice(0, 1),
};

/** A contract and its transactions. */
export const addressAnswer: Static<typeof views.Address> = {
  address: PRESET_CONSUMER,
  name: "PresetConsumer",
  network: "sepolia",
  balanceWei: "0",
  nonce: 6,
  codeBytes: 5793,
  delegatesTo: null,
  hasSource: true,
  searched: { from: "0", to: "38" },
  older: null,
  isForgotten: false,
  isIndexed: true,
  transactions: transactionSummaries,
};

/** A contract whose source is known. */
export const contractAnswer: Static<typeof views.Contract> = {
  network: "sepolia",
  address: "0x10Ad1Eb2EBDB3e2014C11045167Ee478B0608412",
  name: "LINK price in coin",
  abi: [
    {
      inputs: [
        { internalType: "int256", name: "answer", type: "int256" },
        { internalType: "uint8", name: "decimals_", type: "uint8" },
      ],
      stateMutability: "nonpayable",
      type: "constructor",
    },
    {
      inputs: [],
      name: "decimals",
      outputs: [{ internalType: "uint8", name: "", type: "uint8" }],
      stateMutability: "view",
      type: "function",
    },
    {
      inputs: [],
      name: "description",
      outputs: [{ internalType: "string", name: "", type: "string" }],
      stateMutability: "pure",
      type: "function",
    },
    {
      inputs: [{ internalType: "uint80", name: "roundId", type: "uint80" }],
      name: "getRoundData",
      outputs: [
        { internalType: "uint80", name: "", type: "uint80" },
        { internalType: "int256", name: "", type: "int256" },
        { internalType: "uint256", name: "", type: "uint256" },
        { internalType: "uint256", name: "", type: "uint256" },
        { internalType: "uint80", name: "", type: "uint80" },
      ],
      stateMutability: "view",
      type: "function",
    },
    {
      inputs: [],
      name: "latestRoundData",
      outputs: [
        { internalType: "uint80", name: "", type: "uint80" },
        { internalType: "int256", name: "", type: "int256" },
        { internalType: "uint256", name: "", type: "uint256" },
        { internalType: "uint256", name: "", type: "uint256" },
        { internalType: "uint80", name: "", type: "uint80" },
      ],
      stateMutability: "view",
      type: "function",
    },
    {
      inputs: [],
      name: "version",
      outputs: [{ internalType: "uint256", name: "", type: "uint256" }],
      stateMutability: "view",
      type: "function",
    },
  ],
  build: {
    compiler: "0.8.19",
    optimizerRuns: 200,
    evmVersion: "paris",
    sources: [
      {
        path: "src/chainlink/contracts/FixedPriceFeed.sol",
        content:
          '// SPDX-License-Identifier: MIT\npragma solidity ^0.8.19;\n\nimport {AggregatorV3Interface} from "@chainlink/contracts/src/v0.8/shared/interfaces/AggregatorV3Interface.sol";\n\n/**\n * A price that never changes and is never stale, for chains that have no market: the oracle contracts ask such a\n * feed for LINK\'s price in the native coin (18 decimals) and in US dollars (8 decimals).\n */\ncontract FixedPriceFeed is AggregatorV3Interface {\n  uint256 public constant version = 1;\n  uint8 public immutable decimals;\n  int256 private immutable ANSWER;\n\n  constructor(int256 answer, uint8 decimals_) {\n    ANSWER = answer;\n    decimals = decimals_;\n  }\n\n  function description() external pure returns (string memory) {\n    return "fixed price of LINK";\n  }\n\n  /// Every round is the same, as of now.\n  function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {\n    return (roundId, ANSWER, block.timestamp, block.timestamp, roundId);\n  }\n\n  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {\n    return getRoundData(1);\n  }\n}\n',
      },
      {
        path: "@chainlink/contracts/src/v0.8/shared/interfaces/AggregatorV3Interface.sol",
        content:
          "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n\n// solhint-disable-next-line interface-starts-with-i\ninterface AggregatorV3Interface {\n  function decimals() external view returns (uint8);\n\n  function description() external view returns (string memory);\n\n  function version() external view returns (uint256);\n\n  function getRoundData(\n    uint80 _roundId\n  ) external view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);\n\n  function latestRoundData()\n    external\n    view\n    returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);\n}\n",
      },
    ],
  },
  constructorArguments: [
    { name: "answer", type: "int256", value: "5000000000000000" },
    { name: "decimals_", type: "uint8", value: "18" },
  ],
};

/** What a search for a contract's name found. */
export const searchAnswer: Static<typeof views.Found> = {
  query: "PresetConsumer",
  takenFor: ["the name of a contract"],
  hits: [
    { network: "sepolia", kind: "address", party: { address: PRESET_CONSUMER, name: "PresetConsumer" } },
  ],
  paths: [`/explorer/sepolia/address/${PRESET_CONSUMER}`],
  silent: [],
};

/** The result of the coin flip. */
export const sharedAnswer: Static<typeof views.Shared> = {
  id: FLIP_ID,
  network: "sepolia",
  updatedAt: "2026-11-24T23:37:53.495Z",
  preset: "coinflip",
  outcome: presetAnswer,
  shown: { as: "coin", side: "Heads", index: 1 },
};
