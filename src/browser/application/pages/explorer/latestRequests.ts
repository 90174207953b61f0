import type { RequestSummary, TycheExplorer } from "../../../../client/index.ts";

/** Pages of requests that are read at most: a large batch takes several. */
const MAX_PAGES = 4;

/** Requests of one transaction. */
export interface RequestBatch {
  readonly requests: readonly [RequestSummary, ...RequestSummary[]];
  /** Whether older requests of it may not have been read. */
  readonly isCut: boolean;
}

/** Reads the newest requests, in the list's order, as at most `count` batches. */
export async function readLatestRequests(
  read: (cursor: string | undefined) => ReturnType<TycheExplorer["requests"]>,
  count: number,
): Promise<readonly RequestBatch[]> {
  const found = new Map<string, [RequestSummary, ...RequestSummary[]]>();
  let cursor: string | null | undefined;
  // The batch after the last one shows that this is complete.
  for (let page = 0; page < MAX_PAGES && cursor !== null && found.size <= count; page++) {
    const { items, nextCursor } = await read(cursor);
    for (const request of items) {
      const batch = found.get(placeOf(request));
      if (batch === undefined) found.set(placeOf(request), [request]);
      else batch.push(request);
    }
    cursor = nextCursor;
  }
  const batches = [...found.values()];
  const last = cursor === null ? undefined : batches.at(-1);
  return batches.slice(0, count).map((requests) => ({ requests, isCut: requests === last }));
}

/** Returns what the requests of a transaction share; one that is in none yet stands alone. */
function placeOf({ network, transactionHash, requestId }: RequestSummary): string {
  return `${network} ${transactionHash ?? requestId}`;
}
