import { Type, type TSchema } from "typebox";
import { decimal, givenLabel, hex, nullable, TYPE, time } from "./common.ts";
import { ShownResult } from "./requests.ts";
import { ChainRound } from "./results.ts";

// Members of a transaction in the explorer's answers.

/** An address with the name by which it is known here, if any. */
export const Party = Type.Object({
  address: hex("Checksummed address."),
  name: Type.Optional(Type.String({ description: "Its role here, if known." })),
});

/** A decoded argument or event field; arrays and structs hold more of them. */
export const DecodedValue = Type.Object({
  name: Type.String({ description: "Empty where the declaration names none." }),
  type: Type.String({ description: "Solidity's type." }),
  value: Type.Union(
    [
      Type.String(),
      Type.Array(Type.Record(Type.String(), Type.Unknown()), { [TYPE]: "readonly DecodedValue[]" }),
    ],
    { description: "For arrays and structs, a list of such values." },
  ),
  knownAs: Type.Optional(
    Type.String({ description: "Role here of the address that it is; absent if unknown." }),
  ),
  isJuels: Type.Optional(
    Type.Boolean({ description: "Whether it is an amount of LINK, in juels (1e-18 LINK); absent if not." }),
  ),
  holds: Type.Optional(
    Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      [TYPE]: "readonly DecodedValue[]",
      description:
        "What its bytes hold, such as the presets of a batch; absent if unknown, or above 2,000 entries.",
    }),
  ),
});

/** Decoded calldata. */
export const DecodedCall = Type.Object({ function: Type.String(), arguments: Type.Array(DecodedValue) });

/** A log. */
export const EventView = Type.Object({
  logIndex: Type.Integer({ description: "Index among the logs of the block." }),
  contract: Party,
  event: Type.Optional(Type.String({ description: "Absent where no known interface declares it." })),
  fields: Type.Array(DecodedValue),
  topics: Type.Array(hex("Topic.")),
  data: hex("Data."),
});

const answeredBy = (what: string) =>
  Type.Optional(hex(`The transaction with the ${what}, once there is one.`));
const requestedBy = Type.Optional(hex("The transaction with the request, if still known."));
const waitsFor = Type.Optional(
  Type.String({ description: "What it is waiting for, while there is no answer." }),
);
const words = (description: string) => Type.Array(decimal("A random word."), { description });

/** A request for random words that a transaction made. */
export const RandomRequestView = Type.Object({
  requestId: hex("VRF request id."),
  keyHash: hex("Key hash."),
  preSeed: hex("Pre-seed, 32 bytes."),
  subId: decimal("Subscription."),
  confirmations: Type.Integer(),
  callbackGasLimit: Type.Integer(),
  numWords: Type.Integer(),
  sender: Party,
  nativePayment: Type.Optional(Type.Boolean({ description: "VRF v2.5 only: paid in coin, not LINK." })),
  answeredBy: answeredBy("proof"),
  words: Type.Optional(words("Its words.")),
  callbackReason: Type.Optional(Type.String({ description: "Why the consumer's callback failed." })),
  waitsFor,
});

const point = Type.Array(hex("Coordinate, 32 bytes."), {
  minItems: 2,
  maxItems: 2,
  description: "A point of the curve: x and y.",
});
const number = hex("Integer, 32 bytes.");

/** The coordinator's struct Proof. Numbers are 32-byte hex; points are pairs of x and y. */
export const ProofView = Type.Object(
  {
    pk: point,
    gamma: point,
    c: number,
    s: number,
    seed: hex("The pre-seed; the proof's seed is its hash with the hash of the request's block."),
    uWitness: hex("Address, 20 bytes."),
    cGammaWitness: point,
    sHashWitness: point,
    zInv: number,
  },
  { description: "The coordinator's struct Proof." },
);

/** The coordinator's struct RequestCommitment. */
export const CommitmentView = Type.Object(
  {
    blockNum: decimal("Block of the request."),
    subId: decimal("Subscription."),
    callbackGasLimit: Type.Integer(),
    numWords: Type.Integer(),
    sender: Party,
    nativePayment: Type.Optional(Type.Boolean({ description: "VRF v2.5 only." })),
  },
  { description: "The coordinator's struct RequestCommitment." },
);

/** A proof in a transaction, and the coordinator's verdict on it. */
export const RandomnessView = Type.Object({
  requestId: hex("VRF request id."),
  keyHash: hex("Key hash."),
  proof: ProofView,
  commitment: CommitmentView,
  output: hex("keccak256(3 ‖ gamma)."),
  words: words("Word i is keccak256(output ‖ i)."),
  outcome: Type.Enum(["fulfilled", "callback failed", "refused"]),
  reason: Type.Optional(Type.String({ description: "Why it was refused, or why the callback failed." })),
  paymentJuels: Type.Optional(decimal("Payment, in juels (1e-18 LINK).")),
  paymentWei: Type.Optional(decimal("Payment in wei, if it was made in coin.")),
  onlyPremium: Type.Optional(Type.Boolean({ description: "VRF v2.5 only: the gas was not charged." })),
  requestedBy,
});

/** One request's words, joined from those of several proving keys. */
export const JoinView = Type.Object({
  requestId: hex("VRF request of the first part, and the id of the whole."),
  requestedBy: hex("The transaction with the request."),
  parts: Type.Array(
    Type.Object({
      requestId: hex("VRF request id."),
      keyHash: hex("Key hash."),
      answeredBy: nullable(hex("The transaction with the proof.")),
    }),
    { description: "In the order in which they are joined." },
  ),
  seed: nullable(hex("Word i is keccak256(seed ‖ i)."), "`null` until every part has arrived."),
  joinedBy: nullable(hex("The transaction with the last part.")),
});

/** A preset as its author wrote it. */
export const PresetSourceView = Type.Object(
  {
    name: Type.String(),
    title: Type.String(),
    source: Type.String({
      description: "The source before it was minified, preceded by the modules that it imports.",
    }),
    argumentTitles: Type.Array(Type.String(), {
      description: "What it calls the arguments that it takes, in their order.",
    }),
  },
  { description: "The installed preset whose source this is, as its author wrote it." },
);

/** What the oracle nodes are asked to run. */
export const ProgramView = Type.Object({
  source: Type.String(),
  preset: Type.Optional(PresetSourceView),
  args: Type.Array(Type.String()),
  bytesArgs: Type.Array(hex("Bytes.")),
});
const program = (missing: string) => Type.Union([ProgramView, Type.Null()], { description: missing });

/** Ways to read a response. */
export const ReadingsView = Type.Object(
  {
    text: Type.Optional(
      Type.String({ description: "Present only if the bytes are UTF-8 without control characters." }),
    ),
    uint256: Type.Optional(Type.String({ description: "Present only for 1 to 32 bytes." })),
    int256: Type.Optional(Type.String()),
  },
  { description: "What the bytes of `response` may mean; the chain doesn't say." },
);

/** The response to a function request. */
export const FunctionAnswer = Type.Object({
  outcome: Type.String({ description: "Name of `FunctionsResponse.FulfillResult`." }),
  response: hex("Result."),
  readings: ReadingsView,
  err: Type.String({ description: "The error's text; empty when there was none." }),
  callbackReason: Type.Optional(Type.String({ description: "Why the consumer's callback failed." })),
});

const functionBeacon = nullable(
  ChainRound,
  "The round of drand that the request fixed and that the last of its byte arguments follows from; `null` without one.",
);

/** A request to run a function that a transaction made. */
export const FunctionRequestView = Type.Object({
  requestId: hex("Function request id."),
  subscriptionId: decimal("Subscription."),
  consumer: Party,
  callbackGasLimit: Type.Integer(),
  program: program("`null` if its data is not a request that a node can run."),
  beacon: functionBeacon,
  answeredBy: answeredBy("answer"),
  answer: Type.Optional(FunctionAnswer),
  waitsFor,
  isTimedOut: Type.Optional(
    Type.Literal(true, {
      description: "The router took it off the chain without a result, so that none can follow.",
    }),
  ),
});

/** A response that a transaction delivered. */
export const FunctionResultView = Type.Object({
  ...FunctionAnswer.properties,
  requestId: hex("Function request id."),
  transmitter: Party,
  totalCostJuels: Type.Optional(decimal("What it cost, in juels (1e-18 LINK).")),
  consumer: Type.Optional({ ...Party, description: "Who requested it; absent if that isn't known." }),
  program: program("`null` if the request is no longer available."),
  beacon: functionBeacon,
  requestedBy,
});

/** A preset that a transaction requested or answered, or whose random words it delivered. */
export const PresetRunView = Type.Object({
  requestId: hex("Its id: keccak256(VRF request id ‖ item)."),
  vrfRequestId: hex("VRF request of its batch."),
  item: Type.Integer({ description: "Its place in the batch." }),
  word: nullable(hex("32 bytes: keccak256(seed ‖ item)."), "Its random word; `null` until it is on chain."),
  beacon: nullable(
    ChainRound,
    "The round of drand that its batch fixed and that the word also follows from; `null` without one.",
  ),
  program: program("`null` if its source or its arguments can't be read."),
  requestedBy: hex("The transaction with the request."),
  answer: nullable(
    Type.Object({
      response: FunctionAnswer.properties.response,
      readings: ReadingsView,
      result: Type.Optional(
        Type.String({
          description:
            "The result in one line as the installed preset reads it, such as `Heads`; absent after an error, and if none has this source.",
        }),
      ),
      shown: Type.Optional(ShownResult),
      err: FunctionAnswer.properties.err,
    }),
  ),
  answeredBy: nullable(hex("The transaction with the result.")),
  waitsFor,
});

/** A report that the oracle network's nodes signed and a transaction delivered. */
export const ReportView = Type.Object({
  configDigest: hex("Configuration, 32 bytes. For presets: the one that PresetConsumer has adopted now."),
  epoch: Type.Optional(Type.Integer({ description: "Absent in a report on presets." })),
  round: Type.Optional(Type.Integer({ description: "Absent in a report on presets." })),
  requestIds: Type.Array(hex("Function request id, or VRF request id of a batch of presets.")),
  digest: hex("What the nodes signed."),
  signatures: Type.Array(
    Type.Object({
      r: hex("32 bytes."),
      s: hex("32 bytes."),
      recoveryId: Type.Integer(),
      signer: nullable(
        Party,
        "Recovered from the signature; `null` if it is invalid or, in a report on presets, not of a node that is adopted now.",
      ),
    }),
  ),
});

const onNetwork = { network: Type.String() };
const found = (kind: string, members: Record<string, TSchema>) =>
  Type.Object({ ...onNetwork, kind: Type.Literal(kind), ...members });

/** A search hit. */
export const SearchHit = Type.Union(
  [
    found("transaction", { transactionHash: hex("Hash.") }),
    found("block", { number: decimal("Number.") }),
    found("address", { party: Party }),
    found("label", {
      label: Type.String(),
      givenLabel,
      dapp: Type.String({ description: "Id of the dapp that gave it." }),
      transactionHash: hex("The transaction with the request."),
      requestId: Type.Optional(hex("Its id on the chain; absent if the node no longer has the logs.")),
      title: Type.Optional(Type.String({ description: "Title of its preset, if this service made it." })),
      result: Type.Optional(
        Type.String({ description: "Its result in one line, if this service made it and has one." }),
      ),
      at: Type.Optional(time("When it was made, if this service made it.")),
    }),
    Type.Object({
      ...onNetwork,
      kind: Type.Enum(["random", "function", "preset"]),
      requestId: hex("Id of a request of VRF or of functions, or of a preset."),
      isAnswered: Type.Boolean(),
      transactionHash: hex("The transaction with the answer or, until there is one, with the request."),
      label: Type.Optional(Type.String({ description: "Its label, if this service made it with one." })),
      givenLabel,
      title: Type.Optional(Type.String({ description: "Title of what it runs, if this service made it." })),
      result: Type.Optional(
        Type.String({ description: "Its result in one line, if this service made it and has one." }),
      ),
      at: Type.Optional(time("When it was made, if this service made it.")),
    }),
  ],
  { description: "A search hit." },
);
