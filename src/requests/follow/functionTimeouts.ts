import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { encodeTimeouts, timeoutGas, timeoutOf } from "../../chainlink/functionsTimeout.ts";
import type { Sender } from "../../evm/sender.ts";
import { chainSeconds, type ChainWatcher } from "../../evm/watcher.ts";
import type { Payload } from "../../store/transactionContents.ts";
import type { OpenRequest } from "../openRequest.ts";
import { findCommitment } from "./omittedAnswers.ts";
import type { BeaconWait } from "./beaconWait.ts";

/** How long a request must have been known to wait: at first, it is likely to be answered at any moment. */
const MIN_WAIT_MS = 2_000;
/**
 * How long the chain must have been watched since it could not be: the oracle may have been cut off, too, and the coordinator accepts a
 * result that is late.
 */
const MIN_WATCHED_MS = 30_000;
/** How much longer a request waits for its round of drand: the coordinator takes a result until the request is timed out, if ever. */
const ROUND_SECONDS = 86_400;
/** Time for the oracle from when its round is known, as the router gives it from the request on. */
const ANSWER_SECONDS = 300;
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
  /** When it was first looked at, by `performance.now()`. */
  readonly knownAtMs: number;
}

export interface FunctionTimeoutsOptions {
  readonly client: ChainClient;
  readonly watcher: Pick<ChainWatcher, "head" | "watched">;
  readonly sender: Pick<Sender<Payload>, "send">;
  readonly functionsRouter: Hex;
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
  readonly beaconWait: BeaconWait;
}

/**
 * Creates the job that times out unanswered function requests, so that the subscription gets back the LINK reserved for them.
 * They end with the router's event, no matter who caused it. A request has timed out when the chain's clock says so.
 *
 * @returns a function that checks all requests once.
 */
export function createFunctionTimeouts(options: FunctionTimeoutsOptions): () => Promise<void> {
  const { client, watcher, sender, functionsRouter } = options;
  const known = new Map<OpenRequest, Pending & { readonly requestId: Hex }>();
  const pausedUntil = new Map<OpenRequest, number>();
  /** When a request was last seen to wait for its round, in seconds of the chain's clock. */
  const beaconMissingAt = new Map<OpenRequest, number>();

  /** Looked up once per request: what it waits for stays the same unless a reorg moves it. */
  const findPending = async (request: OpenRequest): Promise<Pending | undefined> => {
    const { functionsRequestId: requestId } = request.progress;
    const found = known.get(request);
    if (requestId === undefined || found?.requestId === requestId) return found;
    const commitment = await findCommitment(client, request);
    if (commitment === undefined) return undefined;
    const pending = { requestId, commitment, timeoutAt: timeoutOf(commitment), knownAtMs: performance.now() };
    known.set(request, pending);
    return pending;
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
      pausedUntil.set(request, performance.now() + PAUSE_AFTER_REVERT_MS);
      known.delete(request);
    }
  };

  return async () => {
    const requests = new Set(options.requests());
    for (const map of [known, pausedUntil, beaconMissingAt])
      for (const request of map.keys()) if (!requests.has(request)) map.delete(request);
    const head = watcher.head();
    if (head === undefined || watcher.watched().sinceGapMs < MIN_WATCHED_MS) return;
    const [now, seconds] = [performance.now(), chainSeconds(head)];
    const expired: (readonly [OpenRequest, Hex])[] = [];
    for (const request of requests) {
      const { functionsRequestId, acceptedBlock } = request.progress;
      const isWaiting = functionsRequestId !== undefined && acceptedBlock !== undefined;
      if (!isWaiting || (pausedUntil.get(request) ?? 0) > now) continue;
      const pending = await findPending(request);
      if (pending === undefined || pending.knownAtMs > now - MIN_WAIT_MS) continue;
      const isMissing = options.beaconWait(request) !== undefined;
      if (isMissing) beaconMissingAt.set(request, seconds);
      const until = isMissing
        ? pending.timeoutAt + ROUND_SECONDS
        : Math.max(pending.timeoutAt, (beaconMissingAt.get(request) ?? 0) + ANSWER_SECONDS);
      if (until > seconds) continue;
      expired.push([request, pending.commitment]);
    }
    for (let i = 0; i < expired.length; i += MAX_REQUESTS) await timeOut(expired.slice(i, i + MAX_REQUESTS));
  };
}
