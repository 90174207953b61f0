import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { decodeLog } from "../chainlink/events.ts";
import { encodeTimeouts, timeoutGas, timeoutOf } from "../chainlink/functionsTimeout.ts";
import type { Sender } from "../evm/sender.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import type { Payload } from "../store/payload.ts";
import type { OpenRequest } from "./openRequest.ts";

/** Minimum age of a request: younger ones are likely to be answered at any moment. */
const MIN_AGE_MS = 2_000;
/** A block's timestamp may lag behind our clock, and a premature attempt would revert. */
const CLOCK_LEEWAY_SECONDS = 15;
/** Maximum requests per transaction. */
const MAX_REQUESTS = 50;
/** Pause before a request that could not be timed out is retried: most likely, it had just been answered. */
const PAUSE_AFTER_REVERT_MS = 60_000;

/** What an open request waits for on chain. */
interface Pending {
  /** 352 bytes. */
  readonly commitment: Hex;
  /** Unix time in seconds. */
  readonly timeoutAt: number;
}

export interface TimeoutsOptions {
  readonly client: ChainClient;
  readonly watcher: Pick<ChainWatcher, "head">;
  readonly sender: Sender<Payload>;
  readonly functionsRouter: Hex;
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
}

/**
 * Creates the job that times out unanswered function requests, so that the subscription gets back the LINK reserved for them.
 * They end with the router's event, no matter who caused it.
 *
 * @returns a function that checks all requests once.
 */
export function createTimeouts(options: TimeoutsOptions): () => Promise<void> {
  const { client, watcher, sender, functionsRouter } = options;
  const known = new Map<OpenRequest, Pending & { readonly requestId: Hex }>();
  const pausedUntil = new Map<OpenRequest, number>();

  /** Looked up once per request: what it waits for stays the same unless a reorg moves it. */
  const findPending = async (request: OpenRequest): Promise<Pending | undefined> => {
    const { functionsRequestId: requestId, wordTransactionHash, transactionHashes = [] } = request.progress;
    const found = known.get(request);
    if (requestId === undefined || found?.requestId === requestId) return found;
    for (const hash of wordTransactionHash === undefined ? transactionHashes : [wordTransactionHash]) {
      for (const log of (await client.getReceipt(hash))?.logs ?? []) {
        const event = decodeLog(log);
        if (event?.name !== "OracleRequest" || event.requestId !== requestId) continue;
        const { commitment } = event;
        const pending = { requestId, commitment, timeoutAt: timeoutOf(commitment) };
        known.set(request, pending);
        return pending;
      }
    }
    return undefined;
  };

  const timeOut = async (expired: readonly (readonly [OpenRequest, Hex])[]): Promise<void> => {
    const commitments = expired.map(([, commitment]) => commitment);
    const data = encodeTimeouts(commitments);
    const call = { to: functionsRouter, data, gas: timeoutGas(commitments.length) };
    if ((await sender.send(call, { kind: "upkeep", entries: [] })).succeeded) return;
    // A single request that can't be timed out any more reverts the whole transaction.
    if (expired.length > 1) for (const one of expired) await timeOut([one]);
    else {
      const [[request]] = expired as [readonly [OpenRequest, Hex]];
      pausedUntil.set(request, Date.now() + PAUSE_AFTER_REVERT_MS);
      known.delete(request);
    }
  };

  return async () => {
    const requests = new Set(options.requests());
    for (const map of [known, pausedUntil])
      for (const request of map.keys()) if (!requests.has(request)) map.delete(request);
    const now = Date.now();
    const seconds = Math.max(Number(watcher.head()?.timestamp ?? 0n), now / 1000 - CLOCK_LEEWAY_SECONDS);
    const expired: (readonly [OpenRequest, Hex])[] = [];
    for (const request of requests) {
      const { progress, updatedAt } = request;
      const isWaiting = progress.functionsRequestId !== undefined && progress.acceptedBlock !== undefined;
      if (!isWaiting || updatedAt > now - MIN_AGE_MS || (pausedUntil.get(request) ?? 0) > now) continue;
      const pending = await findPending(request);
      if (pending !== undefined && pending.timeoutAt <= seconds) expired.push([request, pending.commitment]);
    }
    for (let i = 0; i < expired.length; i += MAX_REQUESTS) await timeOut(expired.slice(i, i + MAX_REQUESTS));
  };
}
