import { Type, type TSchema } from "typebox";

// Schemas of a transaction's members in the explorer's responses. Their types are in `src/explorer/views.ts`.

export const hex = (description: string) => Type.String({ pattern: "^0x[0-9a-fA-F]*$", description });
export const decimal = (description: string) => Type.String({ pattern: "^[0-9]+$", description });
const optional = (schema: TSchema) => Type.Optional(schema);

export const Party = Type.Object({
  address: hex("Checksummed address."),
  name: Type.Optional(Type.String({ description: "Its role here, if known." })),
});

export const DecodedValue = Type.Object({
  name: Type.String({ description: "Empty where the declaration names none." }),
  type: Type.String({ description: "Solidity's type." }),
  value: Type.Union([Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))], {
    description: "For arrays and structs, a list of such values.",
  }),
});

export const DecodedCall = Type.Object({ function: Type.String(), arguments: Type.Array(DecodedValue) });

export const Event = Type.Object({
  logIndex: Type.Integer({ description: "Index among the logs of the block." }),
  contract: Party,
  event: optional(Type.String({ description: "Absent where no known interface declares it." })),
  fields: Type.Array(DecodedValue),
  topics: Type.Array(hex("Topic.")),
  data: hex("Data."),
});

const answeredBy = (what: string) => optional(hex(`The transaction with the ${what}, once there is one.`));
const requestedBy = optional(hex("The transaction with the request, if still known."));
const waitsFor = optional(Type.String({ description: "What it is waiting for, while there is no answer." }));
const words = Type.Array(decimal("A random word."));

export const RandomRequest = Type.Object({
  requestId: hex("VRF request id."),
  keyHash: hex("Key hash."),
  preSeed: hex("Pre-seed, 32 bytes."),
  subId: decimal("Subscription."),
  confirmations: Type.Integer(),
  callbackGasLimit: Type.Integer(),
  numWords: Type.Integer(),
  sender: Party,
  nativePayment: optional(Type.Boolean({ description: "VRF v2.5 only: paid in coin, not LINK." })),
  answeredBy: answeredBy("proof"),
  words: optional(words),
  waitsFor,
});

const point = Type.Array(hex("Coordinate, 32 bytes."), {
  minItems: 2,
  maxItems: 2,
  description: "A point of the curve: x and y.",
});
const number = hex("Integer, 32 bytes.");

export const Randomness = Type.Object({
  requestId: hex("VRF request id."),
  keyHash: hex("Key hash."),
  proof: Type.Object(
    {
      pk: point,
      gamma: point,
      c: number,
      s: number,
      seed: number,
      uWitness: hex("Address, 20 bytes."),
      cGammaWitness: point,
      sHashWitness: point,
      zInv: number,
    },
    { description: "The coordinator's struct Proof." },
  ),
  commitment: Type.Object(
    {
      blockNum: decimal("Block of the request."),
      subId: decimal("Subscription."),
      callbackGasLimit: Type.Integer(),
      numWords: Type.Integer(),
      sender: Party,
      nativePayment: optional(Type.Boolean({ description: "VRF v2.5 only." })),
    },
    { description: "The coordinator's struct RequestCommitment." },
  ),
  output: hex("keccak256(3 ‖ gamma)."),
  words,
  outcome: Type.Enum(["fulfilled", "callback failed", "refused"]),
  reason: optional(Type.String({ description: "Why it was refused, or why the callback failed." })),
  paymentJuels: optional(decimal("Payment, in juels (1e-18 LINK).")),
  paymentWei: optional(decimal("Payment in wei, if it was made in coin.")),
  onlyPremium: optional(Type.Boolean({ description: "VRF v2.5 only: the gas was not charged." })),
  requestedBy,
});

export const Join = Type.Object({
  requestId: hex("VRF request of the first part, and the id of the whole."),
  requestedBy: hex("The transaction with the request."),
  parts: Type.Array(
    Type.Object({
      requestId: hex("VRF request id."),
      keyHash: hex("Key hash."),
      answeredBy: Type.Union([hex("The transaction with the proof."), Type.Null()]),
    }),
    { description: "In the order in which they are joined." },
  ),
  seed: Type.Union([hex("Word i is keccak256(seed ‖ i)."), Type.Null()], {
    description: "`null` until every part has arrived.",
  }),
  joinedBy: Type.Union([hex("The transaction with the last part."), Type.Null()]),
});

const Program = Type.Object({
  source: Type.String(),
  preset: optional(
    Type.Object(
      { name: Type.String(), title: Type.String(), source: Type.String() },
      { description: "The installed preset whose source this is, as its author wrote it." },
    ),
  ),
  args: Type.Array(Type.String()),
  bytesArgs: Type.Array(hex("Bytes.")),
});
const program = (missing: string) => Type.Union([Program, Type.Null()], { description: missing });

const answer = {
  outcome: Type.String({ description: "Name of `FunctionsResponse.FulfillResult`." }),
  response: hex("Result."),
  readings: Type.Object(
    {
      text: optional(
        Type.String({ description: "Present only if the bytes are UTF-8 without control characters." }),
      ),
      uint256: optional(Type.String({ description: "Present only for 1 to 32 bytes." })),
      int256: optional(Type.String()),
    },
    { description: "What the bytes of `response` may mean; the chain doesn't say." },
  ),
  err: Type.String({ description: "The error's text; empty when there was none." }),
  callbackReason: optional(Type.String({ description: "Why the consumer's callback failed." })),
};

export const FunctionRequest = Type.Object({
  requestId: hex("Function request id."),
  subscriptionId: decimal("Subscription."),
  consumer: Party,
  callbackGasLimit: Type.Integer(),
  program: program("`null` if its data is not a request that a node can run."),
  word: optional(
    Type.Object(
      { vrfRequestId: hex("VRF request."), item: Type.Integer({ description: "Which of its words." }) },
      { description: "For presets: the random word in the request." },
    ),
  ),
  answeredBy: answeredBy("answer"),
  answer: optional(Type.Object(answer)),
  waitsFor,
});

export const FunctionResult = Type.Object({
  ...answer,
  requestId: hex("Function request id."),
  transmitter: Party,
  totalCostJuels: optional(decimal("What it cost, in juels (1e-18 LINK).")),
  program: program("`null` if the request is no longer available."),
  requestedBy,
});

export const Report = Type.Object({
  configDigest: hex("Configuration, 32 bytes."),
  epoch: Type.Integer(),
  round: Type.Integer(),
  requestIds: Type.Array(hex("Function request id.")),
  digest: hex("keccak256(keccak256(report) ‖ context): what the nodes signed."),
  signatures: Type.Array(
    Type.Object({
      r: hex("32 bytes."),
      s: hex("32 bytes."),
      recoveryId: Type.Integer(),
      signer: Type.Union([Party, Type.Null()], {
        description: "Recovered from the signature; `null` if it is invalid.",
      }),
    }),
  ),
});

const onNetwork = { network: Type.String() };
const found = (kind: string, members: Record<string, TSchema>) =>
  Type.Object({ ...onNetwork, kind: Type.Literal(kind), ...members });

export const SearchHit = Type.Union(
  [
    found("transaction", { transactionHash: hex("Hash.") }),
    found("block", { number: decimal("Number.") }),
    found("address", { party: Party }),
    Type.Object({
      ...onNetwork,
      kind: Type.Enum(["random", "function"]),
      requestId: hex("Id of a request of VRF or of functions."),
      isAnswered: Type.Boolean(),
      transactionHash: hex("The transaction with the answer or, until there is one, with the request."),
    }),
  ],
  { description: "A search hit." },
);
