import { Type } from "typebox";
import { RETURN_TYPES, VRF_VERSIONS } from "../domain/vocabulary.ts";
import { address, hexBytes } from "./common.ts";

export const ReturnType = Type.Enum([...RETURN_TYPES]);

/** One node of an oracle that several operators run. */
export const OracleNodeView = Type.Object({
  url: Type.String({
    description: "URL at which the other nodes reach it, as its operator published it on chain.",
  }),
  signer: address("Key that signs its reports"),
  transmitter: address("Account that sends them"),
  answers: Type.Boolean({
    description: "Whether it answered recently and counts itself among the coordinator's nodes.",
  }),
  lastSeen: Type.Optional(
    Type.String({
      description: "When the others last heard from it (ISO 8601): the median of their reports.",
    }),
  ),
  agreementRate: Type.Optional(
    Type.Number({
      description:
        "Share of the answers on chain that match what it had observed, 0 to 1: the median of the others' reports.",
    }),
  ),
  lastTransmission: Type.Optional(hexBytes("Transaction of the last report that it sent", 32)),
  accusers: Type.Integer({
    description: "How many of the others hold evidence that it contradicted itself.",
  }),
});

/** A chain of rounds, and how presets wait for them. */
const ROUNDS = {
  chainHash: Type.String({ description: "Hash of the chain of rounds." }),
  publicKey: Type.String({ description: "Key that signs the rounds." }),
  genesisTime: Type.Integer({ description: "Unix time of round 1, in seconds." }),
  period: Type.Integer({ description: "Seconds between rounds." }),
  groupHash: Type.String(),
  beaconId: Type.String(),
  marginSeconds: Type.Integer({ description: "How far in the future a request's round is." }),
  isDefault: Type.Boolean({
    description: "Whether presets wait for a round where neither call nor dapp says otherwise.",
  }),
};

/** A network as callers see it. */
export const NetworkView = Type.Object({
  name: Type.String({ description: "The value of `network` parameters." }),
  title: Type.String({ description: "Name for people; that of a chain that Tyche runs says so." }),
  chainId: Type.Integer(),
  coin: Type.String({
    description: "Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown.",
  }),
  embedded: Type.Boolean({ description: "Whether Tyche runs this chain itself." }),
  hasEthereumBlocks: Type.Boolean({
    description:
      "Whether a block's hash is that of an Ethereum header, so that a verification can recompute it.",
  }),
  rpcUrl: Type.Optional(Type.String({ description: "URL at which your own tools reach the chain." })),
  explorerUrl: Type.String({ description: "Transactions are at `{explorerUrl}/tx/{hash}`." }),
  status: Type.Enum(["starting", "serving", "unavailable"]),
  statusDetail: Type.Optional(Type.String({ description: "Why it isn't serving." })),
  contracts: Type.Object({
    link: address("LINK token"),
    vrfCoordinator: address("VRFCoordinatorV2, or VRFCoordinatorV2_5 where `vrf.version` is v2.5"),
    functionsRouter: address("FunctionsRouter"),
    functionsCoordinator: address("FunctionsCoordinator"),
    presetConsumer: address("Consumer through which presets run"),
    subscriptionOwner: address("Owner of the subscriptions"),
  }),
  deploymentBlock: Type.Optional(
    Type.Integer({
      description:
        "Block in which the deployment of these contracts had ended, where a search for requests may begin; absent for embedded chains.",
    }),
  ),
  vrf: Type.Object({
    version: Type.Enum([...VRF_VERSIONS], {
      description: "Version of Chainlink VRF, of the coordinator and of the consumers of its words.",
    }),
    nativePayment: Type.Boolean({
      description: "Whether random words are paid for in the network's own coin instead of LINK.",
    }),
    keyHashes: Type.Array(hexBytes("Key hash", 32), {
      minItems: 1,
      description: "Registered key hashes; the first is the default.",
    }),
    minConfirmations: Type.Integer(),
    maxConfirmations: Type.Integer(),
    maxWords: Type.Integer({ description: "Maximum number of random numbers in one request." }),
  }),
  functions: Type.Object({
    donId: Type.String({ description: "Name of the oracle network that runs the functions." }),
    maxSourceBytes: Type.Integer(),
    maxRequestBytes: Type.Integer({ description: "Maximum size of the whole encoded request." }),
    maxResponseBytes: Type.Integer(),
  }),
  beacon: Type.Optional(
    Type.Object(ROUNDS, {
      description: "The rounds of drand that presets may wait for; absent if they may not.",
    }),
  ),
  localBeacon: Type.Optional(
    Type.Object(ROUNDS, {
      description:
        'The rounds of the service\'s own beacon, for `beacon: "local"`: whoever runs the service knows all of them, so they prove nothing.',
    }),
  ),
  nodes: Type.Optional(
    Type.Array(OracleNodeView, {
      description: "The oracle's nodes, where several operators run them.",
    }),
  ),
});

/** A live preset as callers see it. */
export const PresetView = Type.Object({
  name: Type.String({ description: "The value of `preset` parameters." }),
  title: Type.String(),
  description: Type.String(),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    description: "JSON Schema (draft 2020-12) of the parameters: an object that refuses unknown members.",
  }),
  parameterOrder: Type.Array(Type.String(), {
    description: "Names of the parameters in the order in which the source gets them as `args`.",
  }),
  source: Type.String({ description: "JavaScript that the oracle runs on the word, with what it imports." }),
  returnType: ReturnType,
  value: Type.Record(Type.String(), Type.Unknown(), {
    description: "JSON Schema (draft 2020-12) of `value` in a successful answer.",
  }),
  examples: Type.Array(
    Type.Object({ params: Type.Record(Type.String(), Type.Unknown()), parsedResult: Type.String() }),
  ),
});

/** Whether one network would serve a request now. */
export const NetworkReadiness = Type.Object({
  ready: Type.Boolean(),
  why: Type.Optional(Type.String({ description: "Why it isn't ready, in one sentence." })),
  blockNumber: Type.Optional(
    Type.Integer({ description: "Newest block seen; while the node doesn't answer, the last one." }),
  ),
  headAgeMs: Type.Optional(
    Type.Integer({
      description:
        "Milliseconds since the newest block was first seen; an embedded chain mines no blocks while nobody uses it.",
    }),
  ),
  operatorBalanceWei: Type.Optional(
    Type.String({ description: "Last balance read; out of date while the node doesn't answer." }),
  ),
  oracleLagMs: Type.Optional(
    Type.Integer({ description: "Milliseconds since the oldest unanswered request; 0 when there is none." }),
  ),
  pendingRequests: Type.Optional(Type.Integer({ description: "Open requests." })),
  queuedRequests: Type.Optional(
    Type.Integer({ description: "Open requests that no transaction carries yet." }),
  ),
  damagedRequests: Type.Optional(
    Type.Integer({ description: "Requests found whose database rows differ from what was written." }),
  ),
  rpcReachable: Type.Optional(Type.Boolean({ description: "Whether the network's node answers." })),
  rpcLatencyMs: Type.Optional(Type.Number({ description: "Latency of its last answer." })),
  subscriptions: Type.Optional(
    Type.Object({
      count: Type.Integer({ description: "Dapps with subscriptions here." }),
      lowestVrfJuels: Type.Optional(
        Type.String({ description: "Lowest balance of a dapp's VRF subscription." }),
      ),
      lowestFunctionsJuels: Type.Optional(
        Type.String({
          description:
            "Lowest balance of a dapp's Functions subscription, less what is reserved for open requests.",
        }),
      ),
      reserveJuels: Type.String({ description: "What is left in the reserve that funds subscriptions." }),
    }),
  ),
  dispatcher: Type.Optional(
    Type.Object(
      {
        replica: Type.Optional(Type.String({ description: "Its id; absent while no dispatcher is known." })),
        isHere: Type.Boolean({ description: "Whether it is the replica that answers this call." }),
      },
      { description: "Which replica dispatches and tracks, where several may serve from one database." },
    ),
  ),
  oracle: Type.Optional(
    Type.Object({
      caughtUp: Type.Boolean({ description: "Whether it has read all blocks from before its start." }),
      blockNumber: Type.Optional(Type.Integer({ description: "Newest block that it has processed." })),
      pendingWords: Type.Integer({ description: "Requests for words that it has not answered." }),
      pendingFunctions: Type.Integer({
        description: "Function requests, and batches of presets with a word, that it has not answered.",
      }),
      waitsFor: Type.Optional(Type.String({ description: "What the oldest of them waits for." })),
      lowestAccounts: Type.Record(
        Type.String(),
        Type.Object({ address: address("The account"), balanceWei: Type.String() }),
        { description: "For each role, the account with the lowest balance." },
      ),
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: "What needs the operator's attention although the network is being served.",
    }),
  ),
});

/** Whether requests would be served now. */
export const Readiness = Type.Object({
  ready: Type.Boolean({ description: "True while every network is served and sources can be run." }),
  sandbox: Type.Object(
    {
      ready: Type.Boolean(),
      layers: Type.Array(Type.String(), { description: "The layers of confinement that are in force." }),
      why: Type.Optional(
        Type.String({
          description: "What is wrong, including when it serves although a process did not start.",
        }),
      ),
    },
    { description: "Whether sources can be run." },
  ),
  networks: Type.Record(Type.String(), NetworkReadiness, { description: "By network name." }),
});
