import type { RequestView } from "../../client/index.ts";

/** Whether nothing about a request changes any more. */
export function hasEnded({ state }: Pick<RequestView, "state">): boolean {
  return state === "fulfilled" || state === "failed";
}
