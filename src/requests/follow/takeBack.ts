import { departed } from "./joinedParts.ts";
import type { Change } from "../requestBook.ts";
import type { OpenRequest, RequestFacts } from "../openRequest.ts";
import { isEnded, type RequestState } from "../../domain/vocabulary.ts";

/** Facts that a random word brings. */
const WORD_FACTS = [
  "wordBlock",
  "wordTransactionHash",
  "wordJuels",
  "wordWei",
] as const satisfies readonly (keyof RequestFacts)[];
/** Facts about a request that come from the chain, besides its transactions. */
export const CHAIN_FACTS = [
  ...WORD_FACTS,
  "vrfRequestId",
  "parts",
  "acceptedBlock",
  "functionsRequestId",
  "presetRequestId",
  "functionJuels",
] as const satisfies readonly (keyof RequestFacts)[];

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
  const state = stateBefore(request, { isUnsent, isWordGone });
  const forget = isUnsent
    ? forgotten(progress, CHAIN_FACTS)
    : forgotten(progress, state === "randomness" ? [] : [...WORD_FACTS, "functionJuels"]);
  const what = isUnsent ? "request" : state === "submitted" ? "random word" : "result";
  const detail = `a reorg removed the ${what}`;
  return {
    request,
    forget: forget.filter((name) => departure?.[name] === undefined),
    ...(departure === undefined ? {} : { progress: departure }),
    ...(request.state === state ? {} : { state, detail }),
    why: isUnsent ? "waiting for its transaction to be mined again" : null,
  };
}

/** Returns the state that the remaining blocks have brought a request to. */
function stateBefore(
  { kind, progress }: OpenRequest,
  { isUnsent, isWordGone }: { readonly isUnsent: boolean; readonly isWordGone: boolean },
): RequestState {
  if (isUnsent) return "submitted";
  if (kind === "function") return "executing";
  return progress.wordBlock === undefined || isWordGone ? "submitted" : "randomness";
}

const PART_TAKEN_BACK = "a reorg removed a random word";

function forgotten(progress: RequestFacts, names: readonly (keyof RequestFacts)[]): (keyof RequestFacts)[] {
  return names.filter((name) => progress[name] !== undefined);
}
