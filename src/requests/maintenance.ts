import { repeat } from "../lib/repeat.ts";
import type { OpenRequest } from "./openRequest.ts";

/** Between looks for transactions that were mined and that the chain has lost again. */
const MEND_INTERVAL_MS = 1_000;
/** Between looks for requests that the oracle has not answered in time. */
const TIMEOUT_INTERVAL_MS = 2_000;
/** Between looks for requests that nobody carries, and how long one must have stood still. */
const SWEEP_INTERVAL_MS = 15_000;
const STANDING_STILL_MS = 60_000;

/** Looks after requests that nobody has in hand and no log moves on. */
export interface Maintenance {
  /** Looks at what was linked: no log tells of a linking whose transaction has been mined again. */
  checkLinkings(): Promise<void>;
  /** Starts to look now and then; gives back a stop. */
  start(): () => void;
}

/** Makes the maintenance of one network. */
export function createMaintenance(options: {
  /** Requests in work that nobody has in hand. */
  readonly requests: () => readonly OpenRequest[];
  /** Goes on with one that is in no transaction which could still be mined. */
  readonly check: (request: OpenRequest) => Promise<void>;
  /** Sends again what the chain has lost. */
  readonly reconcile: () => Promise<void>;
  /** End what the oracle has not answered in time. */
  readonly timeOuts: readonly (() => Promise<void>)[];
  readonly onError: (error: unknown) => void;
}): Maintenance {
  const { requests, check, reconcile, timeOuts, onError } = options;

  let missing = new Set<OpenRequest>();

  /**
   * What is sent again after a reorganisation may be lost in the next one before anybody has seen it. A transaction mined just now
   * looks the same until its block is read: it must look so twice.
   */
  const mend = async (): Promise<void> => {
    const before = missing;
    missing = new Set(
      requests().filter(
        ({ progress }) => progress.transactionHashes !== undefined && progress.acceptedBlock === undefined,
      ),
    );
    if (![...missing].some((request) => before.has(request))) return;
    await reconcile();
    await checkLinkings();
  };
  const checkLinkings = async (): Promise<void> => {
    for (const request of requests())
      if (request.kind === "consumer" || request.kind === "unlink") await check(request);
  };
  const sweep = async (): Promise<void> => {
    const since = Date.now() - STANDING_STILL_MS;
    for (const request of requests()) if (request.updatedAt < since) await check(request);
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
