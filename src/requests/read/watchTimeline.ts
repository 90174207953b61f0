import type { StateChange } from "../../api/types.ts";
import { isEnded } from "../change.ts";
import { readPatiently } from "./readPatiently.ts";
import type { RequestBook } from "../requestBook.ts";
import type { RequestRecord } from "../service.ts";

/**
 * Yields every entry of a request's timeline after `afterSeq` as it is stored; returns after the one that ends the request,
 * or when `signal` aborts.
 *
 * @param read reads the stored request; what it throws ends the watch, except while the database is away.
 */
export async function* watchTimeline(
  book: RequestBook,
  id: string,
  options: {
    readonly read: () => Promise<RequestRecord>;
    readonly afterSeq: number;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<StateChange, void> {
  const { read, signal } = options;
  let changed = Promise.withResolvers<void>();
  const stop = book.listen(id, () => changed.resolve());
  const end = (): void => changed.resolve();
  signal.addEventListener("abort", end);
  try {
    let seen = options.afterSeq;
    while (!signal.aborted) {
      const next = Promise.withResolvers<void>();
      const request = await readPatiently(read, signal);
      for (const entry of request.timeline) {
        if (entry.seq <= seen) continue;
        seen = entry.seq;
        yield entry;
      }
      if (isEnded(request.state)) return;
      await changed.promise;
      changed = next;
    }
  } finally {
    signal.removeEventListener("abort", end);
    stop();
  }
}
