import type { RequestKind, RequestState, RequestView } from "../../../../client/index.ts";
import { hasEnded } from "../../hasEnded.ts";

/** The states that a request of a kind comes through when all goes well. */
const STEPS: Readonly<Record<RequestKind, readonly RequestState[]>> = {
  preset: ["received", "submitted", "randomness", "executing", "fulfilled"],
  function: ["received", "submitted", "executing", "fulfilled"],
  random: ["received", "submitted", "fulfilled"],
  consumer: ["received", "submitted", "fulfilled"],
  unlink: ["received", "submitted", "fulfilled"],
};

/** States that are still ahead of a request when all goes well. */
export function stepsAhead(
  request: Pick<RequestView, "kind" | "state" | "timeline">,
): readonly RequestState[] {
  if (hasEnded(request)) return [];
  const steps = STEPS[request.kind];
  // Some states are no step of each request of the kind: the run before `received`, words that are joined.
  const reached = Math.max(...request.timeline.map(({ state }) => steps.indexOf(state)));
  return steps.slice(reached + 1);
}
