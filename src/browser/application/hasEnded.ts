import type { RequestView } from "../../client/index.ts";

/** Whether a request has ended, so that it doesn't change any more. */
export function hasEnded({ state }: Pick<RequestView, "state">): boolean {
  return state === "fulfilled" || state === "failed";
}
