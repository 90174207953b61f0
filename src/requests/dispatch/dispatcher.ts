import { messageOf } from "../../lib/errors.ts";
import type { Pipelining } from "../../evm/pipelining.ts";
import { batchDelayMs } from "../../lib/batchDelay.ts";
import { retry } from "../../lib/retry.ts";
import { isShortage } from "../../dapps/shortage.ts";
import { type BatchSenderOptions, createBatchSender } from "./batchSender.ts";
import type { Carriers } from "./carriers.ts";
import { createFairQueue } from "./fairQueue.ts";
import type { Change } from "../change.ts";
import type { SubmittedRequest } from "../openRequest.ts";
import { endOf, isTransient, sendingError } from "./sendingErrors.ts";
import { splitByLimits, type Submission } from "./submission.ts";
import { createTurns } from "./turns.ts";

/** Maximum requests per transaction where each transaction gets its own block: beyond this, larger batches gain nothing. */
const MAX_BATCH = 60;
/** Requests that make a transaction full enough to send there. */
const ENOUGH = 40;
/** Maximum requests per transaction where several share a block. */
const MAX_PIPELINED_BATCH = 240;
/** Pause before a request that could not be sent is retried; it doubles each time, up to eightfold. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_RETRY_FACTOR = 8;
/**
 * Pauses of 1 + 2 + 4 + 4 × 8 seconds: about as long as an interactive caller waits. While LINK or coin is short, a request
 * waits as long as it takes.
 */
const MAX_ATTEMPTS = 8;
/** How long a batch waits for requests that first need something created on chain; slower ones go with a later batch. */
const PREPARE_MS = 250;

/**
 * Sends requests to the chain. Each transaction carries the requests that gathered while the previous one was in flight and,
 * under load, shortly after that. Where blocks are slow, several transactions are in flight at once. Dapps take turns. A
 * request that fails either ends or is retried behind the others, without affecting them.
 */
export interface Dispatcher {
  enqueue(request: SubmittedRequest): void;
  /** Number of requests that no transaction carries yet. */
  queued(): number;
  /** Whether a request is held here: queued, in a transaction in flight, or waiting for a retry. */
  holds(id: string): boolean;
  /** Closes once the transactions in flight have ended. */
  close(): Promise<void>;
}

export interface DispatcherOptions extends Pick<
  BatchSenderOptions,
  "book" | "sender" | "presetConsumer" | "explainRevert" | "signal"
> {
  /** Number of requests on the network that are making progress, queued here or not: each one elsewhere may be about to join the queue. */
  readonly active: () => number;
  /**
   * Provides what a request needs on chain, subscriptions and the stored source, and may send transactions for it. An error
   * that isn't transient (see {@link isTransient}) ends the request.
   */
  readonly prepare: (request: SubmittedRequest) => Promise<Submission>;
  /** Keeps a request that an earlier transaction did bring on chain from being sent again. */
  readonly carriers: Pick<Carriers, "isCarried">;
  /** How transactions share blocks. Default: one at a time carries everything that has gathered. */
  readonly pipelining?: Pipelining | undefined;
  readonly onError: (error: unknown) => void;
  /** First pause before a request that could not be sent is retried, in milliseconds. Default 1,000. */
  readonly retryMs?: number;
}

/** One attempt to send a request; it ends when a transaction carries the request, or with an error. */
interface Attempt {
  readonly request: SubmittedRequest;
  readonly sent: () => void;
  readonly failed: (error: unknown) => void;
}

/** Creates the dispatcher of one network. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { book, carriers, pipelining, onError, retryMs = DEFAULT_RETRY_MS } = options;
  const maxBatch = pipelining === undefined ? MAX_BATCH : MAX_PIPELINED_BATCH;
  const enough = pipelining === undefined ? ENOUGH : MAX_PIPELINED_BATCH;
  const closing = new AbortController();
  const stopped = AbortSignal.any([options.signal, closing.signal]);
  const queue = createFairQueue<Attempt>();
  /** Requests held here, each with its latest attempt: queued, in a transaction, or paused after a failure. */
  const held = new Map<string, Attempt>();
  /** How many of them are in transactions in flight. */
  let sending = 0;
  let running: Promise<void> | undefined;
  let onEnough: (() => void) | undefined;
  const turns = createTurns({ ...pipelining, isFull: () => queue.size >= enough, signal: stopped });

  const batches = createBatchSender({
    ...options,
    onSent(ids) {
      for (const id of ids) held.get(id)?.sent();
    },
    onFailed(ids, error) {
      onError(error);
      for (const id of ids) held.get(id)?.failed(error);
    },
  });

  /** Drives a request until a transaction carries it or it ends. Never rejects. */
  const carry = async (request: SubmittedRequest): Promise<void> => {
    // The request may have ended in the meantime.
    const record = (change: Omit<Change, "request">): Promise<void> =>
      book.change(() => (book.get(request.id) === undefined ? [] : [{ request, ...change }])).catch(onError);
    try {
      await retry(() => attempt(request), {
        attempts: MAX_ATTEMPTS,
        pauseMs: (failures) => retryMs * Math.min(MAX_RETRY_FACTOR, 2 ** (failures - 1)),
        isFinal: (error) => book.get(request.id) === undefined || endOf(error, false) !== undefined,
        isWait: isShortage,
        onRetry: (error) => record({ why: `not sent yet: ${messageOf(error)}` }),
        signal: stopped,
      });
    } catch (error) {
      if (!stopped.aborted) await record({ state: "failed", error: endOf(error, true)! });
    }
  };

  const attempt = (request: SubmittedRequest): Promise<void> =>
    new Promise((sent, failed) => {
      const one = { request, sent, failed };
      held.set(request.id, one);
      push(one);
    });

  const push = (one: Attempt): void => {
    if (stopped.aborted) return;
    queue.add(one.request.dappId, one);
    if (queue.size >= enough) {
      onEnough?.();
      turns.look();
    }
    running ??= run().catch(onError);
  };

  /** Batches requests of the same event-loop turn; the more requests are on their way, the longer it waits for them. */
  const gather = async (): Promise<void> => {
    const waitMs = batchDelayMs(options.active() - queue.size);
    if (waitMs === 0 || queue.size >= enough) return await Promise.resolve();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      onEnough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    onEnough = undefined;
  };

  const run = async (): Promise<void> => {
    try {
      while (queue.size > 0 && !stopped.aborted) {
        await turns.next();
        await gather();
        const ready = await prepareAll(queue.take(maxBatch));
        for (const part of splitByLimits(ready, pipelining?.maxTransactionGas)) {
          await turns.place();
          turns.run(() => send(part));
        }
      }
    } finally {
      // In the same turn as the last check of the queue, so that a later push starts a new run.
      running = undefined;
    }
  };

  const send = async (part: readonly Submission[]): Promise<void> => {
    sending += part.length;
    await batches.submit(part);
    sending -= part.length;
  };

  /** Returns what can be sent now. Never rejects, and waits at most {@link PREPARE_MS} for slow requests. */
  const prepareAll = async (batch: readonly Attempt[]): Promise<Submission[]> => {
    const ready: Submission[] = [];
    let isOver = false;
    const work = batch.map(async (one) => {
      try {
        const submission = await prepare(one.request);
        if (submission === undefined) one.sent();
        else if (isOver) push(one);
        else ready.push(submission);
      } catch (error) {
        if (!stopped.aborted) onError(error);
        one.failed(isTransient(error) ? sendingError(error) : error);
      }
    });
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PREPARE_MS);
    });
    await Promise.race([Promise.all(work), deadline]);
    clearTimeout(timer);
    isOver = true;
    return ready;
  };

  const prepare = async (request: SubmittedRequest): Promise<Submission | undefined> => {
    if (request.progress.transactionHashes !== undefined && (await carriers.isCarried(request)))
      return undefined;
    return await options.prepare(request);
  };

  return {
    enqueue(request) {
      if (stopped.aborted || held.has(request.id)) return;
      void carry(request).finally(() => held.delete(request.id));
    },
    queued: () => held.size - sending,
    holds: (id) => held.has(id),
    async close() {
      closing.abort();
      onEnough?.();
      await running;
      await turns.idle();
    },
  };
}
