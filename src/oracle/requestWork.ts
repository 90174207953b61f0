import type { ChainClient } from "../evm/client.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import type { Answerer } from "./answerer.ts";
import type { BeaconRounds } from "../beacon/beaconRounds.ts";
import { messageOf } from "../lib/errors.ts";
import { LONGEST_FREE_PAUSE_MS } from "./backoff.ts";
import type { OracleLog } from "./log.ts";
import { createRequestBeacons, type RequestBeacons } from "./requestBeacons.ts";
import type { Entry, OnChainRequest, RequestSet } from "./requestSet.ts";

/** What is run of each kind: how it is named, and what the log says if it fails. */
const RUNS = {
  functions: { name: "the source", failed: "functions: the source could not be run now" },
  presets: { name: "the batch", failed: "presets: a batch could not be run now" },
} as const;

/** A run that can start as soon as its round of drand is known and there is a place for it. */
export interface Run {
  /** What the request waits for meanwhile. */
  readonly why: string;
  /** If it rejects, the run is tried again after a pause. */
  readonly run: () => Promise<void>;
  /** Whether a failure still matters. Default: always. */
  readonly isCurrent?: () => boolean;
}

/** Runs what the open requests of one kind ask for. */
export interface RequestWork {
  readonly beacons: RequestBeacons;
  onBlock: Answerer["onBlock"];
  /** Begins what can begin now. */
  review(this: void): void;
}

/** Creates the work on one set of requests. A run that fails costs no gas, so it is tried again soon. */
export function createRequestWork<Request extends OnChainRequest>(options: {
  readonly kind: keyof typeof RUNS;
  readonly requests: RequestSet<Request>;
  /** Runs at a time: of all subscriptions, and of each. */
  readonly places: { readonly total: number; readonly each: number };
  /** Reads a block's logs into the requests. */
  readonly read: (logs: readonly RawLog[]) => void;
  /** Returns what to run for a request, or what it waits for; `undefined` if it goes on by itself. */
  readonly next: (entry: Entry<Request>) => Run | string | undefined;
  /** Called before the requests are looked through. */
  readonly onReview?: () => void;
  readonly beaconRounds: BeaconRounds;
  readonly client: Pick<ChainClient, "getHead">;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}): RequestWork {
  const { requests, read, next, onReview, log, signal } = options;
  const { name, failed } = RUNS[options.kind];
  const places = createPlaces(options.places);
  const beacons = createRequestBeacons({ ...options, onRound: review });
  let isLive = false;

  function review(): void {
    onReview?.();
    if (!isLive || signal.aborted) return;
    for (const entry of requests.open()) {
      const found = next(entry);
      if (typeof found !== "object") {
        if (found !== undefined) entry.why = found;
        continue;
      }
      const unknown = beacons.findUnknown(entry.request);
      if (unknown !== undefined) entry.why = unknown;
      else if (places.take(entry.request.subscriptionId)) void execute(entry, found);
      else entry.why = "waiting for a place to run";
    }
  }

  async function execute(entry: Entry<Request>, { why, run, isCurrent = () => true }: Run): Promise<void> {
    const { requestId, subscriptionId } = entry.request;
    entry.state = "working";
    entry.why = why;
    try {
      await run();
    } catch (error) {
      if (signal.aborted || !isCurrent()) return;
      log.warn({ err: error, requestId }, failed);
      requests.postpone(entry, `${name} could not be run yet: ${messageOf(error)}`, LONGEST_FREE_PAUSE_MS);
    } finally {
      places.leave(subscriptionId);
      review();
    }
  }

  return {
    beacons,
    review,
    onBlock({ number, logs }, live) {
      isLive = live;
      requests.onHead(number);
      read(logs);
      review();
    },
  };
}

/** Creates `total` places, of which each subscription may take at most `each`. */
function createPlaces({ total, each }: { readonly total: number; readonly each: number }) {
  const taken = new Map<bigint, number>();
  let all = 0;
  return {
    /** Takes a place if one is free; returns whether it did. */
    take(subscriptionId: bigint): boolean {
      const own = taken.get(subscriptionId) ?? 0;
      if (all >= total || own >= each) return false;
      all += 1;
      taken.set(subscriptionId, own + 1);
      return true;
    },
    leave(subscriptionId: bigint): void {
      all -= 1;
      const own = taken.get(subscriptionId)! - 1;
      if (own === 0) taken.delete(subscriptionId);
      else taken.set(subscriptionId, own);
    },
  };
}
