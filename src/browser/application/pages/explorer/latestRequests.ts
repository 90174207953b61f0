import type { RequestSummary, TycheExplorer } from "../../../../client/index.ts";

/** Pages of requests that are read at most: a large batch takes several. */
const MAX_PAGES = 4;

/** Consecutive requests for the same that an organiser made, of one transaction. */
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
  const batches: [RequestSummary, ...RequestSummary[]][] = [];
  let cursor: string | null | undefined;
  // The batch after the last one shows that this is complete.
  for (let page = 0; page < MAX_PAGES && cursor !== null && batches.length <= count; page++) {
    const { items, nextCursor } = await read(cursor);
    for (const request of items) {
      const batch = batches.at(-1);
      if (batch !== undefined && batchOf(batch[0]) === batchOf(request)) batch.push(request);
      else batches.push([request]);
    }
    cursor = nextCursor;
  }
  const last = cursor === null ? undefined : batches.at(-1);
  return batches.slice(0, count).map((requests) => ({ requests, isCut: requests === last }));
}

function batchOf({ network, transactionHash, requestId, kind, title, dappId }: RequestSummary): string {
  return JSON.stringify([network, transactionHash ?? requestId, kind, title, dappId]);
}
