import { departed } from "./joinedParts.ts";
import { isEnded } from "../change.ts";
import type { Change } from "../change.ts";
import type { OpenRequest, Facts } from "../openRequest.ts";

/** Facts that a random word brings. */
const WORD_FACTS = [
  "wordBlock",
  "wordTransactionHash",
  "wordJuels",
  "wordWei",
] as const satisfies readonly (keyof Facts)[];
/** Facts about a request that come from the chain, besides its transactions. A function gets its Functions id when it is accepted. */
export const CHAIN_FACTS = [
  ...WORD_FACTS,
  "vrfRequestId",
  "parts",
  "acceptedBlock",
  "functionsRequestId",
  "functionJuels",
] as const satisfies readonly (keyof Facts)[];

/**
 * Returns the change to a request, open or ended by a replaced block, when the blocks from `firstReplaced` on are gone;
 * `undefined` if nothing changes.
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
  const detail = `a reorg removed the ${what}`;
  return {
    request,
    forget: forget.filter((name) => departure?.[name] === undefined),
    ...(departure === undefined ? {} : { progress: departure }),
    ...(request.state === state ? {} : { state, detail }),
    why: isUnsent ? "waiting for its transaction to be mined again" : null,
  };
}

const PART_TAKEN_BACK = "a reorg removed a random word";

function forgottenWord(progress: Facts): (keyof Facts)[] {
  return forgotten(progress, [...WORD_FACTS, "functionsRequestId", "functionJuels"]);
}

function forgotten(progress: Facts, names: readonly (keyof Facts)[]): (keyof Facts)[] {
  return names.filter((name) => progress[name] !== undefined);
}
