import { messageOf } from "../lib/errors.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import { batchDelayMs } from "../lib/batchDelay.ts";
import { retry } from "../lib/retry.ts";
import { isShortage } from "../dapps/shortage.ts";
import { createBatchSender } from "./batchSender.ts";
import type { BatchSenderOptions } from "./batchSender.ts";
import type { Carriers } from "./carriers.ts";
import { createFairQueue } from "./fairQueue.ts";
import { createTurns } from "./turns.ts";
import type { Change } from "./change.ts";
import type { SubmittedRequest } from "./openRequest.ts";
import { endOf, isTransient, sendingError } from "./sendingErrors.ts";
import { splitByLimits } from "./submission.ts";
import type { Submission } from "./submission.ts";

/** Requests in one transaction where a block comes for each: past this the oracle's own batches gain nothing more. */
const MAX_BATCH = 60;
/** Requests that are enough for a transaction there: four shared proofs full of presets. */
const ENOUGH = 40;
/** Requests in one transaction where several share a block: 24 shared proofs full of presets take it more than one block to answer. */
const MAX_PIPELINED_BATCH = 240;
/** Pause before a request that could not be sent is tried again: twice as long each time, up to eight times. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_RETRY_FACTOR = 8;
/** 1 + 2 + 4 + 4 × 8 seconds: about as long as an interactive caller waits. For LINK a request waits as long as it takes. */
const MAX_ATTEMPTS = 8;
/** How long a batch waits for requests that must first have something made on chain; those that take longer go with a later one. */
const PREPARE_MS = 250;

/**
 * Takes requests to the chain, as many in a transaction as have gathered while the one before was under way, and under load in the
 * moment after it; where blocks are slow, several transactions are under way at once. Dapps take turns; a request that fails ends, or is tried again behind the others, and nobody else hears of it.
 */
export interface Dispatcher {
  enqueue(request: SubmittedRequest): void;
  /** Requests that no transaction carries yet. */
  queued(): number;
  /** Whether a request waits here or is on its way in a transaction. */
  holds(id: string): boolean;
  /** Ends after the transactions under way. */
  close(): Promise<void>;
}

export interface DispatcherOptions extends Pick<
  BatchSenderOptions,
  "book" | "sender" | "presetConsumer" | "vrfVersion" | "explainRevert" | "signal"
> {
  /** Requests on the network that get on, wherever they are: those that are not queued here may be followed by more. */
  readonly active: () => number;
  /**
   * Finds what the chain must have for a request: subscriptions, the stored source. May send transactions for it. An error that is
   * not `retryable` ends the request.
   */
  readonly prepare: (request: SubmittedRequest) => Promise<Submission>;
  /** A request that an earlier transaction has brought on chain after all is not sent again. */
  readonly carriers: Pick<Carriers, "isCarried">;
  /** How transactions share blocks. Default: one at a time carries all that has gathered. */
  readonly pipelining?: Pipelining | undefined;
  readonly onError: (error: unknown) => void;
  /** First pause before a request that could not be sent is tried again. Default 1,000. */
  readonly retryMs?: number;
}

/** One attempt to send a request; it ends with the transaction that carries it. */
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
  /** Requests in hand, each with its newest attempt: queued, in a transaction, or in the pause after it failed. */
  const held = new Map<string, Attempt>();
  /** Of those, requests in the transactions under way. */
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

  /** Drives a request until a transaction carries it, or it is ended. Never rejects. */
  const carry = async (request: SubmittedRequest): Promise<void> => {
    // It may have ended while it was in hand.
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

  /** Requests of the same turn of the event loop travel together; the more are on their way, the longer it waits for others. */
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
      // In the same turn as the last look at the queue: whoever is pushed after it begins anew.
      running = undefined;
    }
  };

  const send = async (part: readonly Submission[]): Promise<void> => {
    sending += part.length;
    await batches.submit(part);
    sending -= part.length;
  };

  /** Gives what can be sent now. Never throws, and never waits long for one of the batch. */
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
