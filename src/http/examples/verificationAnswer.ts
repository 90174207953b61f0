import type { Verification } from "../../verify/verification.ts";
import {
  KEY_HASH,
  PROOF_BLOCK_HASH,
  REQUEST_BLOCK_HASH,
  WORDS,
  WORDS_PROOF_TX,
  WORDS_REQUEST_ID,
  WORDS_REQUEST_TX,
} from "./values.ts";

/** The random numbers of `randomAnswer`, checked. */
export const verificationAnswer: Verification = {
  network: "sepolia",
  chainId: 11155111,
  transactionHash: WORDS_PROOF_TX,
  valid: true,
  verdict: "valid",
  requests: [
    {
      kind: "random",
      requestId: WORDS_REQUEST_ID,
      vrfRequestId: WORDS_REQUEST_ID,
      verdict: "valid",
      failed: null,
      transactions: { request: WORDS_REQUEST_TX, randomness: WORDS_PROOF_TX, report: null },
      result: null,
      err: null,
      randomNumber: WORDS,
      steps: [
        {
          name: "transactions",
          outcome: "ok",
          detail: "each transaction matches its hash, and its block contains it and its logs",
          compared: [
            { what: "transaction hash", expected: WORDS_REQUEST_TX, found: WORDS_REQUEST_TX },
            { what: "block hash", expected: REQUEST_BLOCK_HASH, found: REQUEST_BLOCK_HASH },
            {
              what: "transactions root",
              expected: "0x01b058858a3b52ab41499aea2885d7e1628d80ea011da8d0a0edbd8708085243",
              found: "0x01b058858a3b52ab41499aea2885d7e1628d80ea011da8d0a0edbd8708085243",
            },
            {
              what: "receipts root",
              expected: "0x066bf27d53551d4bfa897bd58871fe0ba05ad7913d47d03d6980f81e2e54d756",
              found: "0x066bf27d53551d4bfa897bd58871fe0ba05ad7913d47d03d6980f81e2e54d756",
            },
            { what: "receipts in the block", expected: "1", found: "1" },
            { what: "transaction in the block", expected: WORDS_REQUEST_TX, found: WORDS_REQUEST_TX },
            { what: "transaction hash", expected: WORDS_PROOF_TX, found: WORDS_PROOF_TX },
            { what: "block hash", expected: PROOF_BLOCK_HASH, found: PROOF_BLOCK_HASH },
            {
              what: "transactions root",
              expected: "0xfc9b7fd7045ee40fe89b92aa5cc3e31c3208e025ae6da748292916edde73db63",
              found: "0xfc9b7fd7045ee40fe89b92aa5cc3e31c3208e025ae6da748292916edde73db63",
            },
            {
              what: "receipts root",
              expected: "0x794a7205adaa19076042b5fd61d38f70ef20991ddff21e801b311ccf5a8098a4",
              found: "0x794a7205adaa19076042b5fd61d38f70ef20991ddff21e801b311ccf5a8098a4",
            },
            { what: "receipts in the block", expected: "1", found: "1" },
            { what: "transaction in the block", expected: WORDS_PROOF_TX, found: WORDS_PROOF_TX },
          ],
        },
        {
          name: "contracts",
          outcome: "ok",
          detail: "all logs come from the oracle's contracts, and these refer to each other",
          compared: [],
        },
        {
          name: "request",
          outcome: "ok",
          detail: "the proof is for what was requested",
          compared: [
            { what: "VRF request id", expected: WORDS_REQUEST_ID, found: WORDS_REQUEST_ID },
            {
              what: "pre-seed",
              expected: "0x3507e8af3dfb910f2fdc3c4a23ad2cf776015627ddd252373d60f5dcf6ba4f28",
              found: "0x3507e8af3dfb910f2fdc3c4a23ad2cf776015627ddd252373d60f5dcf6ba4f28",
            },
            { what: "block of the request", expected: "37", found: "37" },
            { what: "number of words", expected: "3", found: "3" },
            {
              what: "consumer",
              expected: "0x11aecda44c2b3322ca1d2312f919440b725dbc7b",
              found: "0x11aecda44c2b3322ca1d2312f919440b725dbc7b",
            },
          ],
        },
        {
          name: "key",
          outcome: "ok",
          detail:
            "the proof was made with the key that the request names; that the coordinator has registered it is the node's word",
          compared: [
            { what: "key hash", expected: KEY_HASH, found: KEY_HASH },
            { what: "registered keys", expected: KEY_HASH, found: KEY_HASH },
          ],
        },
        {
          name: "proof",
          outcome: "ok",
          detail:
            "the VRF proof is valid for seed 0x2cc8bd5c036477ed057668aa8af012aa445f010c632480a22548b70923997b85, the hash of its pre-seed and the hash of block 37, 0x19c7f9677b500f182106de9dee104bc74a99289f28aec1c90e5361663d4ab12d",
          compared: [],
        },
        {
          name: "words",
          outcome: "ok",
          detail: "the coordinator drew the words from the proof's output",
          compared: [
            {
              what: "output",
              expected: "0x0ca41f3b24765104db44e14e12b14e569f82d97779e77de7948dbb8ae7fe26bd",
              found: "0x0ca41f3b24765104db44e14e12b14e569f82d97779e77de7948dbb8ae7fe26bd",
            },
          ],
        },
      ],
    },
  ],
  contracts: {
    vrfCoordinator: "0x9bd53617968c7c436ae0b4024817bf39fd2d169a",
    functionsRouter: "0xf3259a34f4858efc779cfc6ed2ffbaae839ba696",
    functionsCoordinator: "0x30d712e7f5681dca2dc09e16735c9b814fa4dc84",
    presetConsumer: "0x11aecda44c2b3322ca1d2312f919440b725dbc7b",
  },
  trust: [
    "The operator of this oracle holds the VRF key and makes this chain's blocks, and could have tried blocks until a word suited: on an embedded chain the proof shows that the word was not changed after its block, not that the block was not chosen.",
    "That the contracts' code is the published one, and what they hold (registered keys, stored sources, settings), is the word of the node that was asked.",
    "That the blocks belong to the chain that everybody else sees is the word of the node that was asked: ask another node, too.",
  ],
};
