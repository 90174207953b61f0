import type { Hex } from "viem";
import { REREAD_BLOCKS } from "../evm/blockReader.ts";
import { createAlarm, LONGEST_COSTLY_PAUSE_MS, pauseAfter } from "./backoff.ts";
import type { PendingRequest } from "./status.ts";

/**
 * For how many blocks the ids of answered requests are remembered: a receipt may report an answer first, and its block reports it again, more
 * than once where a node omits logs.
 */
const REMEMBERED_BLOCKS = REREAD_BLOCKS;
/** For this many blocks with answers, the block of their oldest request is remembered, for reorgs that remove the answers. */
const REMEMBERED_ANSWER_BLOCKS = 65_536;
/** How far the gas limit of a request that ran out of gas is raised. */
const MAX_GAS_FACTOR = 4n;
/** Funding a subscription retries its requests at once until they have had this many attempts; after that they wait for their pause. */
const MAX_EAGER_ATTEMPTS = 5;

/** Common to all on-chain requests. */
export interface OnChainRequest {
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly subscriptionId: bigint;
  readonly blockNumber: bigint;
}

/** A request on its way to an answer. */
export interface Entry<Request extends OnChainRequest> {
  readonly request: Request;
  /** When it was added, by `performance.now()`. */
  readonly seenAt: number;
  /**
   * `waiting` for what `why` says; `working` from when it is picked up until it is settled or postponed; for a VRF node's proof that is
   * ready, `sending` instead, until then.
   */
  state: "waiting" | "working" | "sending";
  /** What it waits for, in one sentence. */
  why: string;
  attempts: number;
  /** Time before which it is not retried, by `performance.now()`. */
  notBefore: number;
  /** Whether its subscription was short of LINK or coin; nothing is tried until that is funded. */
  underfunded: boolean;
  /** Whether, as far as is known, nobody can answer it any more: it doesn't indicate a slow oracle. */
  unanswerable: boolean;
  /** Whether it was in a transaction that failed as a whole: it then goes alone, so that it can't make others fail. */
  alone: boolean;
  /** Multiplier of the estimated gas. */
  gasFactor: bigint;
}

/** The open requests of one kind on one chain, and where the others were answered. */
export interface RequestSet<Request extends OnChainRequest> {
  /** The newest block; 0 before the first. */
  head(): bigint;
  /** Open requests, oldest first. */
  open(): Iterable<Entry<Request>>;
  /** Counts the open requests added since a time (by `performance.now()`). */
  openSince(since: number): number;
  find(requestId: Hex): Entry<Request> | undefined;
  /** Whether a request was answered in one of the last 256 blocks. */
  isAnswered(this: void, requestId: Hex): boolean;
  /** Adds a request; returns `undefined` if it is already known, open or answered. */
  add(request: Request): Entry<Request> | undefined;
  /** Whether the entry still stands for its request: a reorg or another's answer may have ended it. */
  isOpen(entry: Entry<Request>): boolean;
  finish(request: Request, blockNumber: bigint): void;
  /** Forgets a request that others answered or that is gone; a reorg may bring it back. */
  drop(requestId: Hex): void;
  /** If the entry is open, returns it to waiting after a failed attempt, for longer each time but at most `longestPauseMs`. Default: an hour. */
  postpone(entry: Entry<Request>, why: string, longestPauseMs?: number): void;
  /** Whether the entry still waits after a failed attempt; `onDue` is called once it no longer does. */
  isPaused(entry: Entry<Request>): boolean;
  /** Returns all open entries to waiting, without a pause. */
  restart(why: string): void;
  raiseGas(entry: Entry<Request>): void;
  fund(subscriptionId: bigint): void;
  /** Handles a new block: answers older than 256 blocks are forgotten. */
  onHead(head: bigint): void;
  /**
   * Forgets requests in replaced blocks, and answers in them.
   *
   * @returns the block of the oldest request whose answer is gone, from which to reread; `undefined` if there is none.
   */
  onReorg(firstReplaced: bigint): bigint | undefined;
  pending(kind: PendingRequest["kind"]): PendingRequest[];
}

/**
 * Creates an empty request set.
 *
 * @param options.onDue is called when the pause of an entry has ended
 */
export function createRequestSet<Request extends OnChainRequest>(options: {
  readonly onDue: () => void;
  readonly signal: AbortSignal;
}): RequestSet<Request> {
  const entries = new Map<Hex, Entry<Request>>();
  const answers = createAnswers();
  const alarm = createAlarm(options.onDue, options.signal);
  let newest = 0n;

  const requestSet: RequestSet<Request> = {
    head: () => newest,
    open: () => entries.values(),
    openSince(since) {
      let count = 0;
      for (const { seenAt } of entries.values()) if (seenAt > since) count += 1;
      return count;
    },
    find: (requestId) => entries.get(requestId),
    isAnswered: answers.has,
    add(request) {
      if (entries.has(request.requestId) || answers.has(request.requestId)) return undefined;
      const entry: Entry<Request> = {
        request,
        seenAt: performance.now(),
        state: "waiting",
        why: "just seen",
        attempts: 0,
        notBefore: 0,
        underfunded: false,
        unanswerable: false,
        alone: false,
        gasFactor: 1n,
      };
      entries.set(request.requestId, entry);
      return entry;
    },
    isOpen: (entry) => entries.get(entry.request.requestId) === entry,
    finish(request, blockNumber) {
      entries.delete(request.requestId);
      answers.add(request, blockNumber);
    },
    drop(requestId) {
      const entry = entries.get(requestId);
      // Another's answer may be in any block so far, or in the next one.
      if (entry !== undefined) answers.noteBlock(entry.request, newest + 1n);
      entries.delete(requestId);
    },
    postpone(entry, why, longestPauseMs = LONGEST_COSTLY_PAUSE_MS) {
      if (!requestSet.isOpen(entry)) return;
      entry.attempts += 1;
      const pause = pauseAfter(entry.attempts, longestPauseMs);
      entry.state = "waiting";
      entry.why = why;
      entry.notBefore = performance.now() + pause;
      alarm.within(pause);
    },
    isPaused({ notBefore }) {
      const pause = notBefore - performance.now();
      if (pause > 0) alarm.within(pause);
      return pause > 0;
    },
    restart(why) {
      for (const entry of entries.values()) {
        entry.state = "waiting";
        entry.notBefore = 0;
        entry.why = why;
      }
    },
    raiseGas(entry) {
      if (entry.gasFactor < MAX_GAS_FACTOR) entry.gasFactor *= 2n;
    },
    fund(subscriptionId) {
      for (const entry of entries.values()) {
        if (entry.request.subscriptionId !== subscriptionId || !entry.underfunded) continue;
        entry.underfunded = false;
        if (entry.attempts < MAX_EAGER_ATTEMPTS) entry.notBefore = 0;
      }
    },
    onHead(head) {
      // Logs that a node omitted arrive with an earlier block.
      if (head > newest) newest = head;
      answers.onHead(head);
    },
    onReorg(firstReplaced) {
      if (newest >= firstReplaced) newest = firstReplaced - 1n;
      for (const [requestId, { request }] of entries) {
        if (request.blockNumber >= firstReplaced) entries.delete(requestId);
      }
      return answers.onReorg(firstReplaced);
    },
    pending: (kind) =>
      [...entries.values()].map(({ request, seenAt, why, unanswerable }) => ({
        kind,
        seenAt,
        requestId: request.requestId,
        subscriptionId: request.subscriptionId,
        blockNumber: request.blockNumber,
        why,
        unanswerable,
      })),
  };
  return requestSet;
}

/** Creates the memory of which requests were answered, and where. */
function createAnswers() {
  /** By request id: block of the answer. */
  const answered = new Map<Hex, bigint>();
  /** By block of answers: block of the oldest request answered there. */
  const oldestAnswered = new Map<bigint, bigint>();
  const noteBlock = ({ blockNumber }: OnChainRequest, answerBlock: bigint): void => {
    const oldest = oldestAnswered.get(answerBlock);
    if (oldest === undefined || blockNumber < oldest) oldestAnswered.set(answerBlock, blockNumber);
    if (oldestAnswered.size > REMEMBERED_ANSWER_BLOCKS)
      oldestAnswered.delete(oldestAnswered.keys().next().value!);
  };
  return {
    has: (requestId: Hex): boolean => answered.has(requestId),
    add(request: OnChainRequest, answerBlock: bigint): void {
      answered.set(request.requestId, answerBlock);
      noteBlock(request, answerBlock);
    },
    /** Notes where a request may have been answered, so that a reorg of that block has it read again. */
    noteBlock,
    onHead(head: bigint): void {
      for (const [requestId, answerBlock] of answered) {
        if (answerBlock + REMEMBERED_BLOCKS > head) break;
        answered.delete(requestId);
      }
    },
    /** Forgets answers in replaced blocks; returns the block of the oldest request that had one, if that block still stands. */
    onReorg(firstReplaced: bigint): bigint | undefined {
      for (const [requestId, answerBlock] of answered)
        if (answerBlock >= firstReplaced) answered.delete(requestId);
      let oldest: bigint | undefined;
      for (const [answerBlock, requestBlock] of oldestAnswered) {
        if (answerBlock < firstReplaced) continue;
        oldestAnswered.delete(answerBlock);
        if (requestBlock < firstReplaced && (oldest === undefined || requestBlock < oldest))
          oldest = requestBlock;
      }
      return oldest;
    },
  };
}
