import { repeat } from "../../lib/repeat.ts";
import type { OpenRequest } from "../openRequest.ts";

/** Interval between checks for mined transactions that the chain has lost again. */
const MEND_INTERVAL_MS = 1_000;
/** Interval between checks for requests that the oracle has not answered in time. */
const TIMEOUT_INTERVAL_MS = 2_000;
/** Interval between checks for requests that nothing carries, and how long such a request must have stood still. */
const SWEEP_INTERVAL_MS = 15_000;
const STANDING_STILL_MS = 60_000;

/** Looks after requests that no component holds and no log advances. */
export interface Maintenance {
  /** Checks linkings and unlinkings: no log reports one whose transaction was mined again. */
  checkLinkings(): Promise<void>;
  /** Starts the periodic checks; returns a function that stops them. */
  start(): () => void;
}

/** Creates the maintenance of one network. */
export function createMaintenance(options: {
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
  /** Returns for how long a request has been in its state, in milliseconds. */
  readonly ageMs: (request: OpenRequest) => number;
  /** Resumes a request unless a transaction that could still be mined carries it. */
  readonly check: (request: OpenRequest) => Promise<void>;
  /** Resends transactions that the chain has lost. */
  readonly reconcile: () => Promise<void>;
  /** End requests that the oracle has not answered in time, and find answers that a node omits. */
  readonly timeOuts: readonly (() => Promise<void>)[];
  readonly onError: (error: unknown) => void;
}): Maintenance {
  const { requests, ageMs, check, reconcile, timeOuts, onError } = options;

  let missing = new Set<OpenRequest>();

  /**
   * Covers transactions that were resent after a reorg and lost in the next one before anybody saw them, and mined ones whose logs a node
   * omitted: their receipts have them. A transaction that was just mined looks lost, too, until its block is read, so a request must look so
   * twice.
   */
  const mend = async (): Promise<void> => {
    const before = missing;
    missing = new Set(requests().filter(isMissing));
    const still = [...missing].filter((request) => before.has(request));
    if (still.length === 0) return;
    await reconcile();
    // The first of a transaction's requests brings its receipt to all of them.
    for (const request of still) if (isMissing(request)) await check(request);
    await checkLinkings();
  };
  const checkLinkings = async (): Promise<void> => {
    for (const request of requests())
      if (request.kind === "consumer" || request.kind === "unlink") await check(request);
  };
  const sweep = async (): Promise<void> => {
    for (const request of requests()) if (ageMs(request) > STANDING_STILL_MS) await check(request);
  };

  return {
    checkLinkings,
    start() {
      const stops = [
        repeat(mend, MEND_INTERVAL_MS, onError),
        ...timeOuts.map((timeOut) => repeat(timeOut, TIMEOUT_INTERVAL_MS, onError)),
        repeat(sweep, SWEEP_INTERVAL_MS, onError),
      ];
      return () => stops.forEach((stop) => stop());
    },
  };
}

/** Whether a request is in a transaction of ours and isn't known to be on chain. */
function isMissing({ progress }: OpenRequest): boolean {
  return progress.transactionHashes !== undefined && progress.acceptedBlock === undefined;
}
