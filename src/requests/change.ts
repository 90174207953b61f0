import type { Hex } from "viem";
import { isEnded, type RequestState } from "../lib/vocabulary.ts";
import type { RequestFacts, OpenRequest } from "./openRequest.ts";
import type { BlockId, TimelineEntry } from "../store/requestRows.ts";

/**
 * One step in a request's progress; absent members stay unchanged. A state before the end clears what an end has set:
 * outcome, error and the block of the end.
 */
export interface Change {
  readonly request: OpenRequest;
  readonly state?: RequestState;
  readonly transactionHash?: Hex;
  readonly detail?: string;
  readonly why?: string | null;
  readonly progress?: RequestFacts;
  /** Facts that no longer hold; removed before `progress` is merged in. */
  readonly forget?: readonly (keyof RequestFacts)[];
  readonly outcome?: NonNullable<OpenRequest["outcome"]>;
  readonly error?: { readonly code: string; readonly message: string };
  /** Set if a block ended the request. */
  readonly endedIn?: BlockId;
}

/** Applies a change to a draft of its request. @param at Unix time in milliseconds. */
export function applyChange(request: OpenRequest, change: Omit<Change, "request">, at: number): void {
  if (change.forget !== undefined || change.progress !== undefined) {
    const progress = { ...request.progress };
    for (const name of change.forget ?? []) delete progress[name];
    // Facts are common to all kinds and never overlap with a kind's own members.
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
