import type { RequestKind, RequestState, RequestView } from "../../../../client/index.ts";
import { isEnded } from "../../../../domain/vocabulary.ts";

/** The states that each kind of request passes through when all goes well. */
const STEPS: Readonly<Record<RequestKind, readonly RequestState[]>> = {
  preset: ["received", "submitted", "randomness", "fulfilled"],
  function: ["received", "submitted", "executing", "fulfilled"],
  random: ["received", "submitted", "fulfilled"],
  consumer: ["received", "submitted", "fulfilled"],
  unlink: ["received", "submitted", "fulfilled"],
};

/** Returns the states still ahead of a request when all goes well. */
export function stepsAhead(
  request: Pick<RequestView, "kind" | "state" | "timeline">,
): readonly RequestState[] {
  if (isEnded(request.state)) return [];
  const steps = STEPS[request.kind];
  // Not every state is a step of each request of its kind: the run before `received`, or words that are
  // joined.
  const reached = Math.max(...request.timeline.map(({ state }) => steps.indexOf(state)));
  return steps.slice(reached + 1);
}
