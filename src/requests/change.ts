import type { Hex } from "viem";
import type { BlockId, TimelineEntry } from "../store/requests.ts";
import type { RequestState } from "../store/schema.ts";
import type { Facts, OpenRequest } from "./openRequest.ts";

/**
 * What happens to a request in one step; absent members stay as they are. A state before the end takes back what an end has
 * brought: outcome, error, and the block of the end.
 */
export interface Change {
  readonly request: OpenRequest;
  readonly state?: RequestState;
  readonly transactionHash?: Hex;
  readonly detail?: string;
  readonly why?: string | null;
  readonly progress?: Facts;
  /** What is no longer true of the progress; taken away before `progress` is added. */
  readonly forget?: readonly (keyof Facts)[];
  readonly outcome?: NonNullable<OpenRequest["outcome"]>;
  readonly error?: { readonly code: string; readonly message: string };
  /** With an end that a block brings. */
  readonly endedIn?: BlockId;
}

/** Whether nothing more will happen to a request in this state, unless a reorganisation takes back the block of its end. */
export function isEnded(state: RequestState): boolean {
  return state === "fulfilled" || state === "failed";
}

/** Makes a change to a draft of its request. @param at Unix time in milliseconds. */
export function applyChange(request: OpenRequest, change: Omit<Change, "request">, at: number): void {
  if (change.forget !== undefined || change.progress !== undefined) {
    const progress = { ...request.progress };
    for (const name of change.forget ?? []) delete progress[name];
    // Facts are the same for all kinds, and never what a kind has of its own.
    Object.assign(request, { progress: { ...progress, ...change.progress } });
  }
  if (change.state !== undefined && !isEnded(change.state)) {
    request.outcome = null;
    request.error = null;
    request.endedIn = null;
  }
  if (change.outcome !== undefined) Object.assign(request, { outcome: change.outcome });
  if (change.error !== undefined) request.error = change.error;
  if (change.endedIn !== undefined) request.endedIn = change.endedIn;
  if (change.why !== undefined) request.why = change.why;
  if (change.state !== undefined) {
    request.state = change.state;
    request.updatedAt = at;
    if (isEnded(change.state)) request.why = null;
    const entry: TimelineEntry = {
      seq: request.timeline.length + 1,
      state: change.state,
      at,
      ...(change.transactionHash === undefined ? {} : { transactionHash: change.transactionHash }),
      ...(change.detail === undefined ? {} : { detail: change.detail }),
    };
    request.timeline = [...request.timeline, entry];
  }
}
