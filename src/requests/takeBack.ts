import { departed } from "./joinedParts.ts";
import { isEnded } from "./change.ts";
import type { Change } from "./change.ts";
import type { OpenRequest, Facts } from "./openRequest.ts";

/** What a preset's random word brings. */
const WORD_FACTS = [
  "wordBlock",
  "wordTransactionHash",
  "wordJuels",
  "wordWei",
] as const satisfies readonly (keyof Facts)[];
/** What is known of a request from the chain, beside its transactions. A function is accepted under its functions id at once. */
export const CHAIN_FACTS = [
  ...WORD_FACTS,
  "vrfRequestId",
  "parts",
  "acceptedBlock",
  "functionsRequestId",
  "functionJuels",
] as const satisfies readonly (keyof Facts)[];

/**
 * Finds what changes of a request, in work or ended by a block that was replaced, when the blocks from `firstReplaced` on are gone;
 * `undefined` when nothing does.
 */
export function takeBack(request: OpenRequest, firstReplaced: bigint): Change | undefined {
  const { progress } = request;
  const wasEnded = isEnded(request.state);
  const { acceptedBlock = wasEnded ? Infinity : -1, wordBlock = -1 } = progress;
  const isUnsent = acceptedBlock >= firstReplaced;
  const isWordGone = wordBlock >= firstReplaced;
  const departure = isUnsent ? undefined : departed(request, firstReplaced);
  if (!isUnsent && !isWordGone && !wasEnded)
    return (
      departure && { request, progress: departure, detail: PART_TAKEN_BACK, state: request.state, why: null }
    );
  const forget = isUnsent
    ? forgotten(progress, CHAIN_FACTS)
    : isWordGone
      ? forgottenWord(progress)
      : forgotten(progress, request.kind === "random" ? WORD_FACTS : ["functionJuels"]);
  const isExecuting = progress.functionsRequestId !== undefined && !forget.includes("functionsRequestId");
  const state = isExecuting ? "executing" : "submitted";
  const what = isUnsent ? "request" : isExecuting ? "result" : "random word";
  const detail = `a reorganisation of the chain took the ${what} back`;
  return {
    request,
    forget: forget.filter((name) => departure?.[name] === undefined),
    ...(departure === undefined ? {} : { progress: departure }),
    ...(request.state === state ? {} : { state, detail }),
    why: isUnsent ? "waiting for its transaction to be mined again" : null,
  };
}

const PART_TAKEN_BACK = "a reorganisation of the chain took a random word back";

function forgottenWord(progress: Facts): (keyof Facts)[] {
  return forgotten(progress, [...WORD_FACTS, "functionsRequestId", "functionJuels"]);
}

function forgotten(progress: Facts, names: readonly (keyof Facts)[]): (keyof Facts)[] {
  return names.filter((name) => progress[name] !== undefined);
}
