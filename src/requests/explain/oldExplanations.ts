import { repeat } from "../../lib/repeat.ts";
import type { OpenRequest } from "../openRequest.ts";

/** Interval between explanations of old requests, and how many are explained each time. */
const INTERVAL_MS = 15_000;
const AT_ONCE = 50;

/** What old requests wait for, for lists; not persisted. */
export interface OldExplanations {
  find(id: string): string | undefined;
  /** Starts explaining periodically; returns a function that stops it. */
  start(onError: (error: unknown) => void): () => void;
}

/** Creates the explanations of one network's open requests. */
export function createOldExplanations(options: {
  /** Returns the open requests that have stayed in their state for longer than `ageMs`, oldest first. */
  readonly old: (ageMs: number) => readonly OpenRequest[];
  readonly explain: (request: OpenRequest) => Promise<string | null>;
}): OldExplanations {
  const explained = new Map<string, string>();
  const explainOld = async (): Promise<void> => {
    const old = options.old(INTERVAL_MS);
    explained.clear();
    for (const request of old.slice(0, AT_ONCE)) {
      const why = await options.explain(request);
      if (why !== null) explained.set(request.id, why);
    }
  };
  return {
    find: (id) => explained.get(id),
    start: (onError) => repeat(explainOld, INTERVAL_MS, onError),
  };
}
