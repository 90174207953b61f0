import { Type } from "typebox";
import { MAX_SOURCE_BYTES } from "../domain/sourceLimit.ts";
import { STEP_NAMES, VERDICTS } from "../domain/verdicts.ts";
import { ChainRound } from "./results.ts";
import { hexBytes, nullable, time } from "./common.ts";

const hash = (description: string) => hexBytes(description, 32);

export const StepName = Type.Enum([...STEP_NAMES]);

export const Verdict = Type.Enum([...VERDICTS], {
  description:
    "`valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the " +
    "same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but " +
    "the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request " +
    "that it follows from. `incomplete`: no check failed, but there is no result " +
    "on chain (yet). `invalid`: a check failed.",
});

/** Two values that must be equal. */
export const Comparison = Type.Object({
  what: Type.String(),
  expected: Type.String({ description: "What follows from the step before, or from the chain's registers." }),
  found: Type.String({ description: "The value that was used." }),
});

/** One check. */
export const VerificationStep = Type.Object({
  name: StepName,
  outcome: Type.Enum(["ok", "failed", "notApplicable"], {
    description:
      "`notApplicable`: can't be checked, for the reason in `detail`. In all steps but `key`, `join`, `source` and `signers`, it decides the verdict.",
  }),
  detail: Type.String({ description: "One sentence: what holds, what doesn't, or why it can't be checked." }),
  compared: Type.Array(Comparison),
});

/** What a request is for, and which other requests say the same. */
export const RequestLabel = Type.Object({
  dapp: Type.String({ description: "Id of the dapp, as the service's operator wrote it." }),
  label: Type.String(),
  draw: Type.Integer({ description: "Place of this request among those in `draws`, from 1." }),
  draws: Type.Array(
    Type.Object({
      transactionHash: hash("The request's transaction."),
      blockNumber: Type.String(),
    }),
    {
      description:
        "All requests of the dapp with the label that were found in the blocks of `searched`, and this one, oldest first.",
    },
  ),
  searched: Type.Object({
    from: Type.String(),
    to: Type.String({ description: "First and last block in which the node was asked for such requests." }),
    codeFrom: Type.Union([Type.String(), Type.Null()], {
      description:
        "The block before which the contract had no code, by the node's word, so that there can be no request; `0` where no `deploymentBlock` is published; `null` where the node has no state of that time.",
    }),
    omits: Type.Boolean({
      description:
        "Whether requests of these blocks may be missing in `draws`: there are too many, or the node lists some that it doesn't show, or leaves out some that it does, or doesn't show all of the blocks up to the request's of which its hash would tell.",
    }),
    isWhole: Type.Boolean({
      description:
        "Whether that is the chain from its first block, or from `codeFrom` on, and all that were found are listed.",
    }),
    provenFrom: Type.Union([Type.String(), Type.Null()], {
      description:
        "The block from which on, up to the request's own, no request with the label can be left out, as the hash that the VRF proof is for fixes these blocks; `null` where that is the node's word, as everywhere after the request.",
    }),
  }),
});

/** The parts of one request. */
export const RequestVerification = Type.Object({
  kind: Type.Enum(["preset", "function", "random"]),
  requestId: hash(
    "Identifier on chain: of a preset, keccak256 of `vrfRequestId` and its place in the batch, 32 bytes each; of the function request; for random numbers of VRF.",
  ),
  vrfRequestId: nullable(hash("Identifier of the request for random words; presets of one batch share it.")),
  verdict: Verdict,
  failed: nullable(StepName, "The first step that failed."),
  transactions: Type.Object(
    {
      request: nullable(hash("The request.")),
      randomness: nullable(hash("The VRF proof.")),
      report: nullable(hash("The signed report with the result.")),
    },
    { description: "The transactions that contain each part." },
  ),
  result: nullable(
    Type.String(),
    "Result that the report delivered, `0x` hex; null for random numbers and without a report.",
  ),
  err: nullable(
    Type.String(),
    "Error that the report delivered instead, `0x` hex of its text; `0x` means no error.",
  ),
  randomNumber: Type.Array(Type.String(), {
    description: "Words that follow from the proof, in decimal: all for random numbers, a preset's own one.",
  }),
  keyHashes: Type.Array(hash("Hash of a VRF key."), {
    description:
      "The VRF keys whose words it takes, as the request named them, in its order; empty for functions, and where the node doesn't show the request.",
  }),
  sourceHash: nullable(
    hash("keccak256 of the source's UTF-8 bytes."),
    "Null for random numbers, and if the node doesn't show the source.",
  ),
  source: nullable(
    Type.String(),
    `The source that was run, in JavaScript; a preset's is minified. Null for random numbers, if the node doesn't show it, and if it is longer than the ${MAX_SOURCE_BYTES} bytes that the oracle takes.`,
  ),
  args: nullable(
    Type.Array(Type.String()),
    "Arguments of the source, as it gets them; null for random numbers, and if they are malformed.",
  ),
  preset: nullable(
    Type.Object({
      sourceId: Type.Integer({ description: "Id of the preset's source on chain." }),
      name: nullable(
        Type.String(),
        "Name of the verifier's own preset with this source; null if it knows none.",
      ),
      parameters: Type.Array(Type.String(), {
        description: "Names of `args`, as that preset has them; empty without it.",
      }),
    }),
    "The preset; null for functions and random numbers.",
  ),
  beacon: nullable(
    ChainRound,
    "The round of drand that the request fixed: the step `beacon` checks it. Null without one.",
  ),
  requestedAt: nullable(time("Time of the request's block."), "Null if the node doesn't show the block."),
  deliveredAt: nullable(
    time("Time of the block with the result or the random numbers."),
    "Null without one, or if the node doesn't show it.",
  ),
  deliveredBy: nullable(
    hexBytes("Who signed that transaction: anyone may deliver.", 20),
    "Null without a result.",
  ),
  label: nullable(RequestLabel, "What the request is for; null without a label: it may be one of many."),
  steps: Type.Array(VerificationStep),
});

/** What a check of a transaction against chain data found. */
export const Verification = Type.Object({
  network: Type.String(),
  chainId: Type.Integer(),
  transactionHash: hash("The transaction that was checked."),
  valid: Type.Boolean({ description: "Whether every request's verdict is `valid`." }),
  verdict: Verdict,
  requests: Type.Array(RequestVerification),
  contracts: Type.Record(Type.String(), Type.String(), {
    description: "The oracle's contracts that the checks relied on.",
  }),
  trust: Type.Array(Type.String(), { description: "What these checks can't show: whose word it remains." }),
});
