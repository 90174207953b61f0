import { Type, type Static } from "typebox";
import type { Hex } from "viem";

// The schemas define these types, and the API documents its answers with them.

/** The checks of one request, in the order in which they run; each request has those that concern its kind. */
export const STEP_NAMES = [
  "transactions",
  "contracts",
  "request",
  "key",
  "proof",
  "words",
  "join",
  "word",
  "source",
  "stored",
  "signers",
  "signatures",
  "delivery",
  "execution",
] as const;
export type StepName = (typeof STEP_NAMES)[number];

const hash = (description: string) =>
  Type.Unsafe<Hex>({ type: "string", pattern: "^0x[0-9a-f]{64}$", description });
/** What a verification can find, worst first: the verdict on a transaction is the worst of those on its requests. */
export const VERDICTS = ["invalid", "incomplete", "unconfirmed", "conditional", "valid"] as const;
export type Verdict = (typeof VERDICTS)[number];
const verdict = Type.Enum([...VERDICTS], {
  description:
    "`valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the " +
    "same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but " +
    "the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request " +
    "that it follows from. `incomplete`: no check failed, but there is no result " +
    "on chain (yet). `invalid`: a check failed.",
});

/** Two values that must be equal. */
export type Comparison = Static<typeof Comparison>;
export const Comparison = Type.Object({
  what: Type.String(),
  expected: Type.String({ description: "What follows from the step before, or from the chain's registers." }),
  found: Type.String({ description: "The value that was used." }),
});

/** One check. */
export type VerificationStep = Static<typeof VerificationStep>;
export const VerificationStep = Type.Object({
  name: Type.Enum([...STEP_NAMES]),
  outcome: Type.Enum(["ok", "failed", "notApplicable"], {
    description:
      "`notApplicable`: can't be checked, for the reason in `detail`. In `execution` and `contracts`, it decides the verdict.",
  }),
  detail: Type.String({ description: "One sentence: what holds, what doesn't, or why it can't be checked." }),
  compared: Type.Array(Comparison),
});

/** The parts of one request. */
export type RequestVerification = Static<typeof RequestVerification>;
export const RequestVerification = Type.Object({
  kind: Type.Enum(["preset", "function", "random"]),
  requestId: hash(
    "Identifier that the oracle network assigned: of the function request, for random numbers of VRF.",
  ),
  vrfRequestId: Type.Union([hash("Identifier of the request for random words."), Type.Null()]),
  verdict,
  failed: Type.Union([Type.Enum([...STEP_NAMES]), Type.Null()], {
    description: "The first step that failed.",
  }),
  transactions: Type.Object(
    {
      request: Type.Union([hash("The request."), Type.Null()]),
      randomness: Type.Union([hash("The VRF proof."), Type.Null()]),
      report: Type.Union([hash("The signed report with the result."), Type.Null()]),
    },
    { description: "The transactions that contain each part." },
  ),
  result: Type.Union([Type.String(), Type.Null()], {
    description: "Result that the report delivered, `0x` hex; null for random numbers and without a report.",
  }),
  err: Type.Union([Type.String(), Type.Null()], {
    description: "Error text that the report delivered instead; `0x` means no error.",
  }),
  randomNumber: Type.Array(Type.String(), {
    description: "Words that follow from the proof, in decimal: all for random numbers, a preset's own one.",
  }),
  steps: Type.Array(VerificationStep),
});

/** Result of {@link verifyTransaction}. */
export type Verification = Static<typeof Verification>;
export const Verification = Type.Object({
  network: Type.String(),
  chainId: Type.Integer(),
  transactionHash: hash("The transaction that was checked."),
  valid: Type.Boolean({ description: "Whether every request's verdict is `valid`." }),
  verdict,
  requests: Type.Array(RequestVerification),
  contracts: Type.Record(Type.String(), Type.String(), {
    description: "The oracle's contracts that the checks relied on.",
  }),
  trust: Type.Array(Type.String(), { description: "What these checks can't show: whose word it remains." }),
});

/** Returns the step for values that must be equal; hex may be in any case. */
export function compareStep(
  name: StepName,
  holds: string,
  compared: readonly Comparison[],
): VerificationStep {
  const wrong = compared.filter(({ expected, found }) => expected.toLowerCase() !== found.toLowerCase());
  if (wrong.length === 0) return { name, outcome: "ok", detail: holds, compared: [...compared] };
  const detail = `not as expected: ${wrong.map(({ what }) => what).join(", ")}`;
  return { name, outcome: "failed", detail, compared: [...compared] };
}

/** Returns a step that failed as a whole. */
export function failedStep(
  name: StepName,
  detail: string,
  compared: readonly Comparison[] = [],
): VerificationStep {
  return { name, outcome: "failed", detail, compared: [...compared] };
}

/** Returns a step that can't be performed. */
export function notApplicableStep(
  name: StepName,
  detail: string,
  compared: readonly Comparison[] = [],
): VerificationStep {
  return { name, outcome: "notApplicable", detail, compared: [...compared] };
}
