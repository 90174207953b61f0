import type { Hex } from "viem";
import type { Comparison, StepName, VerificationStep } from "../api/types.ts";

/** Returns the step for values that must be equal; hex may be in any case. */
export function compareStep(
  name: StepName,
  holds: string,
  compared: readonly Comparison[],
): VerificationStep {
  const wrong = compared.filter(({ expected, found }) => expected.toLowerCase() !== found.toLowerCase());
  if (wrong.length === 0) return { name, outcome: "ok", detail: holds, compared: [...compared] };
  const detail = `not as expected: ${[...new Set(wrong.map(({ what }) => what))].join(", ")}`;
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

/** What a reader can do who lacks the operator's addresses and keys. */
export const HOW_TO_PASS =
  "pass what the operator publishes, as GET /api/networks answers it: --contracts of the command, or the page's field for the addresses";

/** Describes an answer whose request the node doesn't show. Withheld logs leave no trace, so this is no evidence of a forgery. */
export function describeMissingRequest(answer: string): string {
  return `the node shows no request that ${answer} answers: there is none, or this node withholds it; ask another node`;
}

/** Names what delivered something to a contract within a transaction to `to`. */
export function describeDeliverer(to: Hex | undefined, contract: Hex): string {
  if (to === contract) return "a contract that the transaction calls back";
  return `the contract ${to ?? "that the transaction creates"}`;
}

/** Says that what was delivered through a contract can't be found. */
export function describeHidden(what: "proof" | "report", through: string | undefined): string {
  return `the ${what} was delivered through ${through}; the transaction's calldata don't show it, but a node that serves debug_traceTransaction can`;
}
