import type { Static } from "typebox";
import type { Transaction } from "../routes/explorerViews.ts";
import {
  WORDS_REQUEST_TX,
  WORDS_PROOF_TX,
  WORDS_REQUEST_ID,
  KEY_HASH,
  PROOF_BLOCK_HASH,
  VRF_COORDINATOR,
  PRESET_CONSUMER,
  BATCH_VRF_COORDINATOR,
  VRF_NODE,
  WORDS,
} from "./values.ts";

/** A transaction with a VRF proof. */
export const transactionAnswer: Static<typeof Transaction> = {
  network: "sepolia",
  hash: WORDS_PROOF_TX,
  status: "succeeded",
  block: { number: "38", hash: PROOF_BLOCK_HASH, at: "2026-11-24T23:37:57.000Z", confirmations: "1" },
  index: 0,
  from: { address: VRF_NODE, name: "VRF node" },
  to: { address: BATCH_VRF_COORDINATOR, name: "BatchVRFCoordinatorV2" },
  created: null,
  nonce: 3,
  valueWei: "0",
  gasLimit: "433625",
  gasUsed: "104705",
  gasPriceWei: "1000000000",
  input:
    "0x08b2da0a0000000000000000000000000000000000000000000000000000000000000040000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000016ed6badd789d0b0d8bab8120d1b49dc7c9af54b796d551cb51b18889581b5ad2c7d92236c7c68fe696b1b9ac760782621ce7ffbd1f1063af19c57493aaf1b5485ec39ebc8b93624e9d9d8582b0b172b449d3d1ef12153ba3cd917a152ecd3f9f0a324a5b0bd661bf51ca51961b0ceaf20cff9451e2b96ca3a674cfad81fe5f1d143ceb69266ea46727b525498e95768786bf8c68847c3d95b1280edd6b7943ce164133a6568c534ee6566c27c2a7209b6405c25a1aaa55871de08d1659e2a2763507e8af3dfb910f2fdc3c4a23ad2cf776015627ddd252373d60f5dcf6ba4f2800000000000000000000000051e97e7fa407df6999a5ecbf61bf1e4253a8ccf04503b7afc8f6fa07ece362cedad471615a44eb73a2ad1ccf39d8728feb4e43e22a3133b5fdf190031e33036b5a2328117e5cc59f75f3046ce6018c9b342836f9e2094036e1adf2fb25c27567c14f9afb6997379a27a6a299701b8af91445a1d47d2e452ba897e1d8b82c690b63ade9a5347f0dabdfd857b649ff9ed3c18d074788000ed8d2b7e841b1d5bf26876cbc95a2c41bc6ff516fac0ba25bc6d7bb4aa50000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000002500000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000004e20000000000000000000000000000000000000000000000000000000000000000300000000000000000000000011aecda44c2b3322ca1d2312f919440b725dbc7b",
  call: {
    function: "fulfillRandomWords",
    arguments: [
      {
        name: "proofs",
        type: "tuple[]",
        value: [
          {
            name: "",
            type: "VRFTypes.Proof[]",
            value: [
              {
                name: "pk",
                type: "uint256[2]",
                value: [
                  {
                    name: "",
                    type: "uint256",
                    value: "50133808311692672268199566863478986048406287247070149218670306821235627743954",
                  },
                  {
                    name: "",
                    type: "uint256",
                    value: "90393898817378661348313425154513539114763119361092680814797556080584336454984",
                  },
                ],
              },
              {
                name: "gamma",
                type: "uint256[2]",
                value: [
                  {
                    name: "",
                    type: "uint256",
                    value: "42863038503550630592577902536976999704070221738061968148505259971762140823455",
                  },
                  {
                    name: "",
                    type: "uint256",
                    value: "4611984022903019088733928623659593290628221708746022989254872042864621018909",
                  },
                ],
              },
              {
                name: "c",
                type: "uint256",
                value: "9153892540785309304634577665579489576050849921522209684701974111233460749262",
              },
              {
                name: "s",
                type: "uint256",
                value: "10066084201571872205517041292481960428995684719051609351458487641243801264758",
              },
              {
                name: "seed",
                type: "uint256",
                value: "23986554834037227740354281172219197979136936819232583638886522707416213770024",
              },
              { name: "uWitness", type: "address", value: "0x51E97e7fA407df6999a5EcBf61bF1E4253A8cCF0" },
              {
                name: "cGammaWitness",
                type: "uint256[2]",
                value: [
                  {
                    name: "",
                    type: "uint256",
                    value: "31216154852175904023529132390394708720087163445417512430346595940716419892194",
                  },
                  {
                    name: "",
                    type: "uint256",
                    value: "19084072042228745077221891680656450522758618943188245941689410808567371937529",
                  },
                ],
              },
              {
                name: "sHashWitness",
                type: "uint256[2]",
                value: [
                  {
                    name: "",
                    type: "uint256",
                    value: "102239048594771348006569072838102217435953203056946224681339305339305414992340",
                  },
                  {
                    name: "",
                    type: "uint256",
                    value: "56620858435418685180991532424176489209595082462880721841554433200708163274567",
                  },
                ],
              },
              {
                name: "zInv",
                type: "uint256",
                value: "61514649877312800297096141025906566965122738734475248639770793421560983800485",
              },
            ],
          },
        ],
      },
      {
        name: "rcs",
        type: "tuple[]",
        value: [
          {
            name: "",
            type: "VRFTypes.RequestCommitment[]",
            value: [
              { name: "blockNum", type: "uint64", value: "37" },
              { name: "subId", type: "uint64", value: "1" },
              { name: "callbackGasLimit", type: "uint32", value: "20000" },
              { name: "numWords", type: "uint32", value: "3" },
              { name: "sender", type: "address", value: PRESET_CONSUMER },
            ],
          },
        ],
      },
    ],
  },
  randomRequests: [],
  randomness: [
    {
      requestId: WORDS_REQUEST_ID,
      keyHash: KEY_HASH,
      proof: {
        pk: [
          "0x6ed6badd789d0b0d8bab8120d1b49dc7c9af54b796d551cb51b18889581b5ad2",
          "0xc7d92236c7c68fe696b1b9ac760782621ce7ffbd1f1063af19c57493aaf1b548",
        ],
        gamma: [
          "0x5ec39ebc8b93624e9d9d8582b0b172b449d3d1ef12153ba3cd917a152ecd3f9f",
          "0x0a324a5b0bd661bf51ca51961b0ceaf20cff9451e2b96ca3a674cfad81fe5f1d",
        ],
        c: "0x143ceb69266ea46727b525498e95768786bf8c68847c3d95b1280edd6b7943ce",
        s: "0x164133a6568c534ee6566c27c2a7209b6405c25a1aaa55871de08d1659e2a276",
        seed: "0x3507e8af3dfb910f2fdc3c4a23ad2cf776015627ddd252373d60f5dcf6ba4f28",
        uWitness: "0x51E97e7fA407df6999a5EcBf61bF1E4253A8cCF0",
        cGammaWitness: [
          "0x4503b7afc8f6fa07ece362cedad471615a44eb73a2ad1ccf39d8728feb4e43e2",
          "0x2a3133b5fdf190031e33036b5a2328117e5cc59f75f3046ce6018c9b342836f9",
        ],
        sHashWitness: [
          "0xe2094036e1adf2fb25c27567c14f9afb6997379a27a6a299701b8af91445a1d4",
          "0x7d2e452ba897e1d8b82c690b63ade9a5347f0dabdfd857b649ff9ed3c18d0747",
        ],
        zInv: "0x88000ed8d2b7e841b1d5bf26876cbc95a2c41bc6ff516fac0ba25bc6d7bb4aa5",
      },
      commitment: {
        blockNum: "37",
        subId: "1",
        callbackGasLimit: 20000,
        numWords: 3,
        sender: { address: PRESET_CONSUMER, name: "PresetConsumer" },
      },
      output: "0x0ca41f3b24765104db44e14e12b14e569f82d97779e77de7948dbb8ae7fe26bd",
      words: WORDS,
      outcome: "fulfilled",
      paymentJuels: "269813800000000000",
      requestedBy: WORDS_REQUEST_TX,
    },
  ],
  joins: [],
  functionRequests: [],
  functionResults: [],
  report: null,
  events: [
    {
      logIndex: 0,
      contract: { address: VRF_COORDINATOR, name: "VRFCoordinatorV2" },
      event: "RandomWordsFulfilled",
      fields: [
        {
          name: "requestId",
          type: "uint256",
          value: "48802832958581465755921981601391775198544441142305297775692609900385518478666",
        },
        {
          name: "outputSeed",
          type: "uint256",
          value: "5717732650236370636872197072158276030098957384674067600931608820485149566653",
        },
        { name: "payment", type: "uint96", value: "269813800000000000" },
        { name: "success", type: "bool", value: "true" },
      ],
      topics: ["0x7dffc5ae5ee4e2e4df1651cf6ad329a73cebdb728f37ea0187b9b17e036756e4", WORDS_REQUEST_ID],
      data: "0x0ca41f3b24765104db44e14e12b14e569f82d97779e77de7948dbb8ae7fe26bd00000000000000000000000000000000000000000000000003be9238b87f90000000000000000000000000000000000000000000000000000000000000000001",
    },
  ],
};
