import type { FaucetResult } from "../../requests/read/results.ts";
import type { NetworkView, PresetView } from "../../requests/read/views.ts";
import {
  EXPLORER_URL,
  FUNCTIONS_ROUTER,
  KEY_HASH,
  LINK_TOKEN,
  PRESET_CONSUMER,
  VRF_COORDINATOR,
} from "./values.ts";

/** A list of one preset. */
export const presetList: { readonly items: readonly PresetView[] } = {
  items: [
    {
      name: "range",
      title: "Draw a number from a range",
      description:
        "Gives a whole number from min to max, both included, each with the same probability. The result is two's complement.",
      parameters: {
        type: "object",
        properties: {
          min: {
            anyOf: [{ type: "string", pattern: "^-?[0-9]{1,78}$" }, { type: "integer" }],
            title: "From",
            description: "Least number that can be drawn.",
            default: "1",
          },
          max: {
            anyOf: [{ type: "string", pattern: "^-?[0-9]{1,78}$" }, { type: "integer" }],
            title: "To",
            description: "Greatest number that can be drawn.",
            default: "10",
          },
        },
        additionalProperties: false,
      },
      parameterOrder: ["min", "max"],
      returnType: "int256",
      value: { type: "string", pattern: "^[-0-9]+$" },
      examples: [{ params: {}, parsedResult: "5" }],
    },
  ],
};

/** A list of one network. */
export const networkList: { readonly items: readonly NetworkView[] } = {
  items: [
    {
      name: "sepolia",
      title: "Ethereum Sepolia (local chain)",
      chainId: 11155111,
      coin: "ETH",
      embedded: true,
      hasEthereumBlocks: true,
      rpcUrl: "http://127.0.0.1:8546",
      explorerUrl: EXPLORER_URL,
      status: "serving",
      contracts: {
        link: LINK_TOKEN,
        vrfCoordinator: VRF_COORDINATOR,
        functionsRouter: FUNCTIONS_ROUTER,
        functionsCoordinator: "0x30d712E7F5681dCa2DC09E16735c9B814fA4dC84",
        presetConsumer: PRESET_CONSUMER,
        subscriptionOwner: "0x28A50115ad5F205feDC324Fcd10709a696f8c1C1",
      },
      vrf: {
        version: "v2",
        nativePayment: false,
        keyHashes: [KEY_HASH],
        minConfirmations: 1,
        maxConfirmations: 200,
        maxWords: 500,
      },
      functions: {
        donId: "fun-ethereum-sepolia-1",
        maxSourceBytes: 30720,
        maxRequestBytes: 30720,
        maxResponseBytes: 1024,
      },
    },
  ],
};

/** Coin and LINK that were sent. */
export const faucetAnswer: FaucetResult = {
  success: true,
  coinWei: "10000000000000000000",
  linkJuels: "100000000000000000000",
  transactionHashes: [
    "0xeec797e0a230dd4c6e262c4874376be3f4455ac911a8646272051c6406a78e05",
    "0x4a25e29eca39d665c4568baac941ad682d98024b4107ec63a71171c1abf2d39c",
  ],
};
