import type { ChainClient } from "../evm/client.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import { repeat } from "../lib/repeat.ts";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import type { Linker } from "./dispatch/linker.ts";
import { createExplainer, createOldExplanations, type ExplainerOptions } from "./explain/explainer.ts";
import { type AnswerTimeoutsOptions, createAnswerTimeouts } from "./follow/answerTimeouts.ts";
import { createFunctionTimeouts } from "./follow/functionTimeouts.ts";
import { createOmittedAnswers } from "./follow/omittedAnswers.ts";
import type { Tracker } from "./follow/tracker.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { Explanation } from "./serviceNetwork.ts";
import { createRecovery, type Recovery, type RecoveryOptions } from "./takeover/recovery.ts";

/** Interval between checks for mined transactions that the chain has lost again. */
const MEND_INTERVAL_MS = 1_000;
/** Interval between checks for requests that the oracle has not answered in time, and for answers that a node omits. */
const LATE_INTERVAL_MS = 2_000;
/** Interval between checks for requests that nothing carries, and how long such a request must have stood still. */
const SWEEP_INTERVAL_MS = 15_000;
const STANDING_STILL_MS = 60_000;

/** Explains and resumes the requests of one network that no component holds and no log advances. */
export interface Watchkeeping {
  /** Explains why a request isn't making progress, see {@link createExplainer}. */
  explain(request: OpenRequest): Promise<string | null>;
  /** Returns the latest periodic explanation of an old request; `undefined` if there is none. */
  explained(id: string): Explanation | undefined;
  /** Resumes what an earlier process left; to be called once. */
  readonly resumeAll: Recovery["resumeAll"];
  /** Checks linkings and unlinkings: no log reports one whose transaction was mined again. */
  checkLinkings(): Promise<void>;
  /** Starts explaining old requests; returns a function that stops it. */
  startExplaining(): () => void;
  /** Starts the periodic checks, once `resumeAll` has resolved; returns a function that stops them. */
  startChecks(): () => void;
}

export interface WatchkeepingOptions
  // Required: a member that exists on some networks only must be named, too.
  extends
    Required<Omit<ExplainerOptions, "isAnswered" | "queued" | "ageMs">>,
    Omit<RecoveryOptions, "finishLinking">,
    Pick<AnswerTimeoutsOptions, "presetConfirmations"> {
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly tracker: Tracker;
  readonly dispatcher: Pick<Dispatcher, "holds" | "queued">;
  readonly linker: Pick<Linker, "holds" | "finish">;
  /** Resends transactions that the chain has lost. */
  readonly reconcile: () => Promise<void>;
}

/**
 * Creates what moves the requests of one network that stand still. "Held" are those in the dispatcher or the linker, which retry by themselves.
 *
 * | Who | How often | What |
 * |---|---|---|
 * | sender (`evm/sender.ts`) | 1 s, and each head | rebroadcasts and reprices a transaction that isn't mined |
 * | dispatcher | pauses of 1, 2, 4 and 4 × 8 s | sends a held request again; without an end while LINK or coin is short |
 * | linker | 1 s, 30 attempts | likewise, for linkings and unlinkings |
 * | `reconcile` | at the start, after a reorg, in `mend` | rebroadcasts transactions that the chain has lost; if there were any, subscriptions and sources are looked up again |
 * | `resumeAll` | at the start | follows an earlier process' transactions to their end, and resumes what none of them carries |
 * | `mend` | 1 s | requests in a transaction of ours that two runs in a row didn't see on chain: `reconcile`, `check`, `checkLinkings` |
 * | `checkLinkings` | after a reorg, in `mend` | `check` of each linking and unlinking |
 * | `sweep` | 15 s | `check` of each request in its state for over 60 s |
 * | `omittedAnswers` | 2 s; a request after 30 s, then every 30 s; 3 a run | asks the contracts whether a request is answered, and finds the receipt |
 * | `answerTimeouts` | 2 s | ends the wait for words after 300 s, Chainlink's after 24 h; for a preset's result after 300 s, for its round of drand after 24 h; sends words whose block hash is lost again, 3 times at most |
 * | `functionTimeouts` | 2 s | times out functions on chain once the chain's clock allows it (24 h later while their round of drand is missing, 300 s after it came), and 30 s after the last gap in watching the head; at most 50 a transaction; after a revert, in 60 s |
 * | watcher (`evm/blockReader.ts`) | 15 s, on external networks; after a receipt that showed a request is on chain | rereads the newest 256 blocks for logs that a node omitted |
 *
 * `check` (`takeover/recovery.ts`) looks for a receipt, and sends a request again only if no transaction that carries it can still be mined. The
 * times of `answerTimeouts` and `omittedAnswers` are time in which the head was watched; Chainlink's 24 h go by the chain's clock.
 */
export function createWatchkeeping(options: WatchkeepingOptions): Watchkeeping {
  const { network, client, watcher, contracts, book, tracker, sender, dispatcher, linker } = options;
  const { take, beaconWait, vrfOperatorOf, onError } = options;
  const requests = (): OpenRequest[] =>
    book.open(network).filter(({ id }) => !dispatcher.holds(id) && !linker.holds(id));
  const ageMs = (request: OpenRequest): number => book.ageMs(request);
  const omittedAnswers = createOmittedAnswers({ client, watcher, contracts, tracker, requests, onError });
  const explain = createExplainer({
    ...options,
    isAnswered: (request) => omittedAnswers.isAnswered(request),
    queued: () => dispatcher.queued(),
    ageMs,
  });
  const explainWhy = async (request: OpenRequest): Promise<string | null> =>
    (await explain(request))?.why ?? null;
  const recovery = createRecovery({
    ...options,
    finishLinking: (request, receipt) => linker.finish(request, receipt),
  });
  const old = createOldExplanations({
    old: (olderThanMs) => book.open(network).filter((request) => ageMs(request) > olderThanMs),
    explain,
  });
  const functionTimeouts = createFunctionTimeouts({
    client,
    watcher,
    sender,
    functionsRouter: contracts.functionsRouter,
    requests,
    beaconWait,
  });
  const answerTimeouts = createAnswerTimeouts({
    client,
    watcher,
    contracts,
    presetConfirmations: options.presetConfirmations,
    isChainlinks: options.isChainlinks,
    book,
    tracker,
    requests,
    take,
    vrfOperatorOf,
    beaconWait,
    explain: explainWhy,
  });
  const { mend, checkLinkings, sweep } = createChecks({
    requests,
    ageMs,
    check: (request) => recovery.check(request),
    reconcile: options.reconcile,
  });
  return {
    explain: explainWhy,
    explained: (id) => old.find(id),
    resumeAll: (open) => recovery.resumeAll(open),
    checkLinkings,
    startExplaining: () => old.start(onError),
    startChecks() {
      const stops = [
        repeat(mend, MEND_INTERVAL_MS, onError),
        repeat(functionTimeouts, LATE_INTERVAL_MS, onError),
        repeat(answerTimeouts, LATE_INTERVAL_MS, onError),
        repeat(() => omittedAnswers.look(), LATE_INTERVAL_MS, onError),
        repeat(sweep, SWEEP_INTERVAL_MS, onError),
      ];
      return () => stops.forEach((stop) => stop());
    },
  };
}

/** Creates the checks of requests whose transactions may be lost. */
function createChecks(options: {
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
  /** Returns for how long a request has been in its state, in milliseconds. */
  readonly ageMs: (request: OpenRequest) => number;
  /** Resumes a request unless a transaction that could still be mined carries it. */
  readonly check: (request: OpenRequest) => Promise<void>;
  readonly reconcile: () => Promise<void>;
}) {
  const { requests, ageMs, check, reconcile } = options;

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
  return { mend, checkLinkings, sweep };
}

/** Whether a request is in a transaction of ours and isn't known to be on chain. */
function isMissing({ progress }: OpenRequest): boolean {
  return progress.transactionHashes !== undefined && progress.acceptedBlock === undefined;
}
