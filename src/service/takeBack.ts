import { isEnded } from "./requestBook.ts";
import type { Change, OpenRequest, Progress } from "./requestBook.ts";

/**
 * Takes from a request, in work or ended by a block that was replaced, what it has from replaced blocks: all that is not before
 * `firstReplaced`. Gives what changes by that, if anything does.
 */
export function takeBack(request: OpenRequest, firstReplaced: bigint): Change | undefined {
  const wasEnded = isEnded(request.state);
  const { acceptedBlock = wasEnded ? Infinity : -1, wordBlock = -1 } = request.progress;
  const isUnsent = acceptedBlock >= firstReplaced;
  if (!isUnsent && wordBlock < firstReplaced && !wasEnded) return undefined;
  if (isUnsent) request.progress = withoutChainFacts(request.progress);
  else if (wordBlock >= firstReplaced) request.progress = withoutWord(request.progress);
  const state = request.progress.functionsRequestId === undefined ? "submitted" : "executing";
  const what = isUnsent ? "request" : state === "executing" ? "result" : "random word";
  const detail = `a reorganisation of the chain took the ${what} back`;
  return {
    request,
    ...(request.state === state ? {} : { state, detail }),
    why: isUnsent ? "waiting for its transaction to be mined again" : null,
  };
}

/** What is known of a request from the chain, taken away. */
export function withoutChainFacts(progress: Progress): Progress {
  const rest = withoutWord(progress);
  delete rest.vrfRequestId;
  delete rest.acceptedBlock;
  // A function's request is accepted under its functions id at once.
  delete rest.functionsRequestId;
  return rest;
}

/** What came with a preset's random word, taken away. */
function withoutWord(progress: Progress): Progress {
  const rest = { ...progress };
  if (rest.wordBlock !== undefined) delete rest.functionsRequestId;
  delete rest.wordBlock;
  delete rest.wordTransactionHash;
  return rest;
}
