import { Type } from "typebox";
import { hexBytes, nullable, time } from "./common.ts";

const id = Type.String({ description: "Identifier of the request here: the one of `/api/requests/{id}`." });
const network = Type.String({ description: "Network on which the request ran." });
const shareUrl = Type.String({ description: "Public page with the result: `/r/{id}`." });
const label = Type.Optional(
  Type.String({ description: "What the request is for, as it is on chain; absent without a label." }),
);
/** A future round of drand that a preset's word also follows from. */
export const BeaconView = Type.Object(
  {
    round: Type.String({ pattern: "^[0-9]+$", description: "Number of the round." }),
    time: time("When the round is due. The request must be mined before."),
    chainHash: hexBytes("The chain of rounds: `0x52db…` is drand's quicknet.", 32),
    isLocal: Type.Optional(
      Type.Literal(true, {
        description: "The round is one of the service's own beacon, which proves nothing.",
      }),
    ),
  },
  { description: "The round of drand that the request fixed; absent without one." },
);
const beacon = Type.Optional(BeaconView);
/** A round as the chain has it: when it is due follows from its chain of rounds. */
export const ChainRound = Type.Object({
  ...BeaconView.properties,
  time: nullable(time("When the round is due."), "Null for a chain of rounds that is not known."),
});

const failureCode = Type.Optional(
  Type.Literal("function_failed", { description: "Code of the failure; absent after a success." }),
);
const success = Type.Boolean({ description: "Whether the request was successful." });
const requestId = hexBytes("Request identifier assigned by the oracle network, 32 bytes.", 32);
const err = Type.String({ description: "Error message, if any. `0x` means no error." });
const result = hexBytes("The generated output, as the oracle network reported it; `0x` when it failed.");
const explorerUrl = (of: string) => Type.String({ description: `Explorer page of ${of}.` });

/** Outcome of a faucet call. */
export const FaucetResult = Type.Object({
  success,
  coinWei: Type.String({ description: "The network's own coin, in wei." }),
  linkJuels: Type.String({ description: "LINK, in juels." }),
  transactionHashes: Type.Array(hexBytes("Hash of a transaction.", 32), {
    description: "The transfer of coin, then that of LINK.",
  }),
});

/** Values of presets: true or false, text, whole numbers (a decimal string for each beyond 2^53 - 1), or texts. */
export const PresetValue = Type.Union([
  Type.Boolean(),
  Type.String(),
  Type.Array(Type.Union([Type.Integer(), Type.String()])),
]);

/** Outcome of a preset. */
export const PresetResult = Type.Object({
  success,
  id,
  network,
  vrfv2Hash: hexBytes("Hash of the transaction that put the VRF proof on chain.", 32),
  vrfv2EventHash: explorerUrl("that transaction"),
  requestId,
  result,
  parsedResult: Type.String({ description: "The output decoded to text; empty when the function failed." }),
  value: Type.Union([...PresetValue.anyOf, Type.Null()], {
    description:
      "The output for programs, typed by the preset: `GET /api/presets` has each preset's schema. A whole number in an array that JSON " +
      "readers would round is a decimal string. `null` when the function failed, or when entries of a list can't be told apart.",
  }),
  err,
  code: failureCode,
  url: explorerUrl("the transaction that delivered the result"),
  shareUrl,
  label,
  beacon,
});

const warnings = Type.Array(Type.String(), {
  description:
    "What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node.",
});

/** Outcome of a function run. */
export const FunctionResult = Type.Object({
  success,
  id,
  network,
  requestId,
  result,
  parsedResult: Type.String({
    description: "The result decoded according to `returnType`; empty when the function failed.",
  }),
  value: nullable(Type.String(), "The decoded result; `null` when the function failed."),
  err,
  code: failureCode,
  url: explorerUrl("the transaction that delivered the result"),
  warnings: Type.Optional(warnings),
  shareUrl,
  label,
  beacon,
});

/** Outcome of a request for random numbers. */
export const RandomResult = Type.Object({
  success,
  id,
  network,
  requestId,
  transactionHash: hexBytes("Hash of the transaction that put the VRF proof on chain.", 32),
  url: explorerUrl("that transaction"),
  shareUrl,
  label,
  randomNumber: Type.Array(Type.String({ pattern: "^[0-9]+$" }), {
    description: "The random numbers, each a 256-bit unsigned integer in decimal.",
  }),
  value: Type.Array(Type.String({ pattern: "^[0-9]+$" }), { description: "The same numbers." }),
});

/** Outcome of linking or unlinking a contract. */
export const ConsumerResult = Type.Object({
  success: Type.Boolean({ description: "Whether the consumer was linked." }),
  id,
  network,
  transactionHash: hexBytes("Hash of the linking transaction.", 32),
});

/** The result of a request. */
export const Outcome = Type.Union([PresetResult, FunctionResult, RandomResult, ConsumerResult]);

/** Outcome of deleting a dapp. */
export const DappDeletion = Type.Object({
  success: Type.Boolean({ description: "Whether the dapp is deleted." }),
  dappId: Type.String({ description: "Identifier of the dapp." }),
});

const captured = Type.String({ description: "What the source wrote with `console`." });
const line = Type.Integer({ minimum: 1, description: "Line in the caller's source where it threw." });
const column = Type.Integer({ minimum: 1, description: "Column on that line." });

const details = Type.Array(
  Type.Object({
    path: Type.String({ description: "JSON Pointer to the parameter." }),
    message: Type.String({ description: "What is wrong, where, and what to do." }),
  }),
  { description: "The cause of `err`, if its text doesn't state it." },
);

/** Outcome of a dry run. Nothing was sent to a chain. */
export const SimulateResult = Type.Object({
  success,
  result,
  parsedResult: FunctionResult.properties.parsedResult,
  value: FunctionResult.properties.value,
  err: Type.String({ description: "The text that the oracle nodes would report. `0x` means no error." }),
  code: failureCode,
  console: captured,
  consoleTruncated: Type.Boolean(),
  timeMs: Type.Number({ description: "Duration of the run in milliseconds." }),
  memoryBytes: Type.Integer({ description: "Heap in use at the end of the run, in bytes." }),
  httpRequests: Type.Integer({ description: "HTTP requests that the source made." }),
  line: Type.Optional(line),
  column: Type.Optional(column),
  details: Type.Optional(details),
  warnings: Type.Optional(warnings),
});
