import { repeat } from "../lib/repeat.ts";
import type { OpenRequest } from "./openRequest.ts";

/** Between looks at why old requests wait, and of how many of them. */
const INTERVAL_MS = 15_000;
const AT_ONCE = 50;

/** What old requests wait for, for lists; nothing of it is stored. */
export interface OldExplanations {
  find(id: string): string | undefined;
  /** Starts to look now and then; gives back a stop. */
  start(onError: (error: unknown) => void): () => void;
}

/** Creates the explanations of one network's requests in work. */
export function createOldExplanations(options: {
  readonly open: () => readonly OpenRequest[];
  readonly explain: (request: OpenRequest) => Promise<string | null>;
}): OldExplanations {
  const explained = new Map<string, string>();
  const explainOld = async (): Promise<void> => {
    const since = Date.now() - INTERVAL_MS;
    const old = options.open().filter(({ updatedAt }) => updatedAt < since);
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
