import type { Hex } from "viem";
import { pauseAfter } from "./backoff.ts";
import type { PendingRequest } from "./status.ts";

/** Answered requests are remembered for this many blocks, to take them up again when a reorganisation undoes the answer. */
const REMEMBERED_BLOCKS = 256n;
/** How far the gas limit of a request is raised that ran out of gas. */
const MAX_GAS_FACTOR = 4n;
/** A subscription that is funded makes its requests be tried at once this many times; later ones wait for their pause. */
const MAX_EAGER_ATTEMPTS = 5;

/** What every request on chain has. */
export interface OnChainRequest {
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly subscriptionId: bigint;
  readonly blockNumber: bigint;
}

/** A request on its way to an answer. */
export interface Entry<Request extends OnChainRequest> {
  readonly request: Request;
  /** When it was taken in (Unix time in milliseconds). */
  readonly seenAt: number;
  /** `waiting` for whatever `why` says; `working` from the moment it is taken up until it is settled or postponed. */
  state: "waiting" | "working";
  /** What it waits for, in one sentence. */
  why: string;
  attempts: number;
  /** Moment before which it is not tried again, by `performance.now()`. */
  notBefore: number;
  /** Its subscription was short of LINK; nothing is tried until that is funded. */
  underfunded: boolean;
  /** Was in a transaction that failed as a whole: goes alone, so that it can't be the one that fails others. */
  alone: boolean;
  /** Multiple of the estimated gas. */
  gasFactor: bigint;
}

/** The requests of one kind on one chain: those that are open, and for a while those that are answered. */
export interface Ledger<Request extends OnChainRequest> {
  /** Open requests, oldest first. */
  open(): Iterable<Entry<Request>>;
  /** Open requests that were taken in since then (Unix time in milliseconds). */
  openSince(since: number): number;
  find(requestId: Hex): Entry<Request> | undefined;
  /** Takes a request in; gives undefined when it is known already, open or answered. */
  add(request: Request): Entry<Request> | undefined;
  /** Whether the entry still stands for its request: a reorganisation or somebody else's answer may have ended it. */
  isOpen(entry: Entry<Request>): boolean;
  finish(request: Request, blockNumber: bigint): void;
  /** Forgets a request for good. */
  drop(requestId: Hex): void;
  /** Puts an entry back to wait after a failed attempt, for longer each time but at most `longestPauseMs`. Returns the pause. */
  postpone(entry: Entry<Request>, why: string, longestPauseMs: number): number;
  raiseGas(entry: Entry<Request>): void;
  fund(subscriptionId: bigint): void;
  /** Notes a new block: answers older than 256 blocks are forgotten. */
  onHead(head: bigint): void;
  /** Forgets requests of replaced blocks, and reopens those whose answers were in replaced blocks. */
  onReorg(firstReplaced: bigint): void;
  pending(kind: PendingRequest["kind"]): PendingRequest[];
}

/** Creates an empty ledger. */
export function createLedger<Request extends OnChainRequest>(): Ledger<Request> {
  const entries = new Map<Hex, Entry<Request>>();
  const answered = new Map<Hex, { readonly request: Request; readonly blockNumber: bigint }>();

  const ledger: Ledger<Request> = {
    open: () => entries.values(),
    openSince(since) {
      let count = 0;
      for (const { seenAt } of entries.values()) if (seenAt > since) count += 1;
      return count;
    },
    find: (requestId) => entries.get(requestId),
    add(request) {
      if (entries.has(request.requestId) || answered.has(request.requestId)) return undefined;
      const entry: Entry<Request> = {
        request,
        seenAt: Date.now(),
        state: "waiting",
        why: "just seen",
        attempts: 0,
        notBefore: 0,
        underfunded: false,
        alone: false,
        gasFactor: 1n,
      };
      entries.set(request.requestId, entry);
      return entry;
    },
    isOpen: (entry) => entries.get(entry.request.requestId) === entry,
    finish(request, blockNumber) {
      entries.delete(request.requestId);
      answered.set(request.requestId, { request, blockNumber });
    },
    drop: (requestId) => void entries.delete(requestId),
    postpone(entry, why, longestPauseMs) {
      entry.attempts += 1;
      const pause = pauseAfter(entry.attempts, longestPauseMs);
      entry.state = "waiting";
      entry.why = why;
      entry.notBefore = performance.now() + pause;
      return pause;
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
      for (const [requestId, { blockNumber }] of answered) {
        if (blockNumber + REMEMBERED_BLOCKS > head) break;
        answered.delete(requestId);
      }
    },
    onReorg(firstReplaced) {
      for (const [requestId, { request }] of entries) {
        if (request.blockNumber >= firstReplaced) entries.delete(requestId);
      }
      for (const [requestId, { request, blockNumber }] of answered) {
        if (blockNumber < firstReplaced) continue;
        answered.delete(requestId);
        if (request.blockNumber < firstReplaced) ledger.add(request);
      }
    },
    pending: (kind) =>
      [...entries.values()].map(({ request, seenAt, why }) => ({
        kind,
        seenAt,
        requestId: request.requestId,
        subscriptionId: request.subscriptionId,
        blockNumber: request.blockNumber,
        why,
      })),
  };
  return ledger;
}
