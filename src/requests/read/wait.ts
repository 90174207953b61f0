import { NotFoundError } from "../../lib/errors.ts";
import type { OpenRequest } from "../openRequest.ts";
import { isEnded } from "../change.ts";
import { readPatiently } from "./readPatiently.ts";
import type { RequestBook } from "../requestBook.ts";
import type { StateChange } from "../../api/types.ts";
import type { RequestRecord } from "../service.ts";

/**
 * Waits until a request has ended, `timeoutMs` has passed or `signal` aborts; returns the request as it is then. Retries
 * while the database is away.
 *
 * @throws {NotFoundError} for an unknown id.
 */
export async function waitForEnd(
  book: RequestBook,
  id: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<OpenRequest> {
  const { promise: woken, resolve: wake } = Promise.withResolvers<OpenRequest | undefined>();
  const stop = book.listen(id, (request) => {
    if (isEnded(request.state)) wake(request);
  });
  const over = new AbortController();
  const giveUp = (): void => {
    over.abort();
    wake(undefined);
  };
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener("abort", giveUp);
  try {
    if (book.get(id) === undefined) {
      const stored = await readPatiently(() => getRequest(book, id), over.signal);
      if (isEnded(stored.state)) return stored;
    }
    const ended = signal?.aborted ? undefined : await woken;
    return ended ?? (await readPatiently(() => getRequest(book, id), over.signal));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    stop();
  }
}

async function getRequest(book: RequestBook, id: string): Promise<OpenRequest> {
  const request = await book.find(id);
  if (request === undefined) throw new NotFoundError(`request ${id}`);
  return request;
}

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
