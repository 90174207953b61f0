/** How the pages and the command name a verification's verdicts, and name and draw the outcomes of its steps. */

import { countOf } from "../lib/countOf.ts";
import { nameFailure } from "./failure.ts";

const VERDICT_TEXT = {
  valid: "valid",
  conditional: "valid, if these contracts are the operator's",
  unconfirmed: "not confirmed",
  incomplete: "no result yet",
  invalid: "not valid",
} as const;

/** How each verdict is shown: as a success, a failure or neither. */
const VERDICT_OUTCOMES = {
  valid: "ok",
  conditional: "notApplicable",
  unconfirmed: "notApplicable",
  incomplete: "notApplicable",
  invalid: "failed",
} as const;

/** The steps that decide these verdicts when they can't be checked. */
export const DECIDING_STEPS: Readonly<
  Record<"conditional" | "incomplete" | "unconfirmed", readonly string[]>
> = {
  // What would have brought the result.
  incomplete: ["proof", "delivery"],
  conditional: ["contracts"],
  // While one of these is open, a node could have made up the result.
  unconfirmed: ["transactions", "key", "proof", "beacon", "signatures", "delivery", "execution"],
};

/** Says what to do about a verdict; a valid result needs nothing. */
export function describeAdvice({ verdict, requests }: Judged): string | undefined {
  if (verdict === "conditional")
    return "Everything holds that can be checked without the operator's addresses. Enter them, as the operator publishes them, and verify again.";
  if (verdict === "incomplete") return "Verify again once there is a result.";
  if (verdict === "invalid") return "Don't rely on this result.";
  if (verdict === "valid") return undefined;
  return lacksOnlyRun(requests)
    ? "Nothing was found to be wrong: read the source, and decide whether the nodes' signatures are enough for you."
    : "Nothing was found to be wrong, but a check that decides can't be made here: verify again with another node, best one that keeps old state and traces.";
}

/** Says in a few words what is known of one result or error that is not confirmed; `short` stands beside the number of signatures. */
export function describeUnconfirmed({ requests }: Judged): {
  readonly headline: string;
  readonly short: string;
} {
  const what = failureOf(requests) === undefined ? "Signed" : "Error signed";
  const [headline, short] = lacksOnlyRun(requests)
    ? [`${what} by the oracle's nodes`, "signed"]
    : ["Nothing found wrong; not all checked here", VERDICT_TEXT.unconfirmed];
  return { headline, short: [short, ...caveatsOf(requests)].join(": ") };
}

/** Whether all that is open is that the source gives the result again. */
function lacksOnlyRun(requests: Judged["requests"]): boolean {
  return findDeciding("unconfirmed", requests).every(({ name }) => name === "execution");
}

/** Whoever runs a local chain could have made another one: a result on it is called no more than that. */
const GENUINE = {
  preset: { public: "This draw is genuine", local: "This draw matches the operator's own chain" },
  function: { public: "This result is genuine", local: "This result matches the operator's own chain" },
  random: { public: "These numbers are genuine", local: "These numbers match the operator's own chain" },
} as const;

/** Says in plain words what the verdict on one valid result means; `isLocal`: whether the operator runs the chain. */
export function describeGenuine(kind: keyof typeof GENUINE, isLocal: boolean): string {
  return GENUINE[kind][isLocal ? "local" : "public"];
}

/**
 * Says in plain words what the verdict on one request proves, and what it doesn't: that no other draw was made. `undefined` unless all holds.
 *
 * @param isLocal whether the operator runs the chain
 */
export function describeProven({ verdict, requests }: Judged, isLocal: boolean): string | undefined {
  const [request] = requests;
  if (request === undefined || verdict !== "valid") return undefined;
  const { kind, label } = request;
  const proven =
    failureOf(requests) !== undefined
      ? "the program ends with this error"
      : kind === "random"
        ? "these numbers belong to this request and to no other"
        : `the result follows from the inputs${kind === "preset" ? " and the random number" : ""} on chain`;
  const noun = kind === "function" ? "request" : "draw";
  const unseen = label === null ? "it has no label to find others by" : "one under another label isn't seen";
  const keeper = isLocal
    ? "the same people run this service, the oracle and the chain"
    : "whoever runs the oracle can leave one unanswered";
  return `This proves that ${proven}, and that nothing was changed afterwards. It doesn't prove that there was no other ${noun}: ${unseen}, and ${keeper}.`;
}

/**
 * Answers in plain words whether the organiser of a draw could have cheated; `undefined` unless it is valid and has a result.
 *
 * @param isLocal whether the operator runs the chain
 */
export function describeCheating({ verdict, requests }: Judged, isLocal: boolean): string | undefined {
  const [request] = requests;
  if (request === undefined || verdict !== "valid" || request.kind === "function") return undefined;
  if (failureOf(requests) !== undefined) return undefined;
  const more =
    request.label === null ? "several draws" : "more draws, under other labels or for other dapps,";
  const chosen = request.kind === "preset" ? "by choosing the inputs, which are listed below, " : "";
  const again = `${chosen}by making ${more} and showing one`;
  return `Could the organiser have cheated? ${
    isLocal
      ? `Only ${again}, or with help from whoever runs this service, its oracle and its chain.`
      : `Not by choosing or changing this result: only ${again}, or with help from whoever runs the oracle and can leave a draw unanswered.`
  }`;
}

/** What the verdict on one request means whose source failed. */
const FAILURES: Readonly<Partial<Record<keyof typeof VERDICT_TEXT, FailedVerdict>>> = {
  valid: {
    headline: "Error signed by the oracle's nodes, and repeated here",
    short: "failure proven",
    meaning:
      "This failure is proven: the oracle's nodes signed the error on chain, and the source ends with it here, too.",
  },
  conditional: {
    headline: "Error repeated here",
    short: "failure proven, if these contracts are the operator's",
    meaning:
      "This failure is proven, if these contracts are the operator's: the nodes signed the error on chain, and the source ends with it here, too.",
  },
};

interface FailedVerdict {
  /** For where the failure itself is shown already, as `short`. */
  readonly headline: string;
  readonly short: string;
  readonly meaning: string;
}

/** Says in plain words what the verdict on one request means that has a proven error in place of a result; `undefined` if it has none. */
export function describeFailedVerdict({ verdict, requests }: Judged): FailedVerdict | undefined {
  return failureOf(requests) === undefined ? undefined : FAILURES[verdict];
}

interface Judged {
  readonly verdict: keyof typeof VERDICT_TEXT;
  readonly requests: readonly {
    readonly kind: string;
    readonly verdict: string;
    readonly err: string | null;
    readonly label: { readonly draw: number; readonly draws: readonly unknown[] } | null;
    readonly steps: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
  }[];
}

/**
 * Names a verdict and how it is shown. Where the answer holds and is an error, or not that of the first request with its label, the words
 * say so, and it is shown as no success. Of a request that failed, this comes first.
 */
export function describeVerdict({ verdict, requests }: Judged): {
  readonly words: string;
  readonly outcome: keyof typeof OUTCOME_TEXT;
} {
  const outcome = VERDICT_OUTCOMES[verdict];
  const hasResult = verdict !== "invalid" && verdict !== "incomplete";
  const caveats = hasResult ? caveatsOf(requests) : [];
  const failure = hasResult ? failureOf(requests) : undefined;
  const said =
    failure === undefined
      ? VERDICT_TEXT[verdict]
      : `${failure}, and there is no result (${VERDICT_TEXT[verdict]})`;
  return {
    words: [said, ...(caveats.length === 0 ? [] : [caveats.join("; ")])].join(": "),
    outcome: outcome === "ok" && (caveats.length > 0 || failure !== undefined) ? "notApplicable" : outcome,
  };
}

/** Says what failed, of the only request. */
function failureOf(requests: Judged["requests"]): string | undefined {
  const [request, ...others] = requests;
  if (request === undefined || others.length > 0 || !isError(request.err)) return undefined;
  return nameFailure(request.kind === "preset");
}

function caveatsOf(requests: Judged["requests"]): string[] {
  const redraws = requests.filter(({ label }) => label !== null && label.draw > 1);
  if (requests.length === 1)
    return redraws.map(
      ({ label }) => `only request ${label!.draw} of ${label!.draws.length} with this label`,
    );
  const failed = requests.filter(({ err }) => isError(err));
  const part = (some: readonly unknown[], what: string): string[] =>
    some.length === 0 ? [] : [`${some.length} of ${requests.length} requests ${what}`];
  return [...part(failed, "failed"), ...part(redraws, "are not the first with their label")];
}

/** Whether a report's error says that there is no result. */
export function isError(err: string | null): err is string {
  return err !== null && err !== "0x";
}

/** Says why a verdict is not `valid`: of a request without a result, what it waits for. */
export function verdictReasons({ verdict, requests }: Judged): string[] {
  if (verdict === "valid") return [];
  if (verdict === "invalid") {
    const failed = requests.flatMap(({ steps }) => steps.filter(({ outcome }) => outcome === "failed"));
    return [...new Set(failed.map(({ name, detail }) => `${name}: ${detail}`))];
  }
  return [...new Set(findDeciding(verdict, requests).map(({ detail }) => detail))];
}

/** Returns the steps that couldn't be checked, and so decided the verdict. */
function findDeciding(
  verdict: keyof typeof DECIDING_STEPS,
  requests: Judged["requests"],
): Judged["requests"][number]["steps"] {
  return requests
    .filter((one) => one.verdict === verdict)
    .flatMap(({ steps }) => steps)
    .filter(({ name, outcome }) => outcome === "notApplicable" && DECIDING_STEPS[verdict].includes(name));
}

export const OUTCOME_TEXT = { ok: "holds", failed: "failed", notApplicable: "can't be checked" } as const;

/** Says how many steps there are, and how they ended: "7 steps: 6 hold, 1 can't be checked". */
export function describeSteps(steps: readonly { readonly outcome: keyof typeof OUTCOME_TEXT }[]): string {
  const counts = (["ok", "failed", "notApplicable"] as const)
    .map((outcome) => [steps.filter((step) => step.outcome === outcome).length, outcome] as const)
    .filter(([count]) => count > 0)
    .map(([count, outcome]) =>
      count === steps.length && outcome === "ok"
        ? "all hold"
        : `${count} ${count > 1 && outcome === "ok" ? "hold" : OUTCOME_TEXT[outcome]}`,
    );
  return `${countOf(steps.length, "step")}: ${counts.join(", ")}`;
}

/** Each outcome's mark as an SVG path, 12 by 12, because not every font has such signs. */
export const OUTCOME_MARKS = {
  ok: "M2 7l3 3 5-7",
  failed: "M3 3l6 6m0-6l-6 6",
  notApplicable: "M2 6h8",
} as const;
