import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
import { batchDelayMs } from "../lib/batchDelay.ts";
import type { Receipt } from "../evm/client.ts";
import { TransactionError } from "../evm/refusal.ts";
import type { Sender } from "../evm/sender.ts";
import type { Call } from "../evm/signedTransaction.ts";
import type { Payload } from "../store/payload.ts";
import type { Carriers } from "./carriers.ts";
import { createFairQueue } from "./fairQueue.ts";
import type { Change, RequestBook } from "./requestBook.ts";
import type { SubmittedRequest } from "./openRequest.ts";
import { UnheardError, UnsentError, endOf, isTransient } from "./sendingErrors.ts";
import { encodeBatch, splitByLimits } from "./submission.ts";
import type { Batch, Submission } from "./submission.ts";

/** Requests in one transaction: past this a block's gas, and the oracle's own batches, gain nothing more. */
const MAX_BATCH = 60;
/** Requests that are enough for a transaction: four shared proofs full of presets. */
const ENOUGH = 40;
/** Pause before a request that could not be sent is tried again: twice as long each time, up to eight times. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_RETRY_FACTOR = 8;
/** 1 + 2 + 4 + 4 × 8 seconds: about as long as an interactive caller waits. */
const MAX_ATTEMPTS = 8;
/** How long a batch waits for requests that must first have something made on chain; those that take longer go with a later one. */
const PREPARE_MS = 250;

/**
 * Takes requests to the chain, as many in a transaction as have gathered while the one before was under way, and under load in the
 * moment after it. Dapps take turns; a request that fails ends, or is tried again behind the others, and nobody else hears of it.
 */
export interface Dispatcher {
  enqueue(request: SubmittedRequest): void;
  /** Requests that no transaction carries yet. */
  queued(): number;
  /** Whether a request waits here or is on its way in a transaction. */
  holds(id: string): boolean;
  /** Ends after the transaction under way. */
  close(): Promise<void>;
}

export interface DispatcherOptions {
  readonly book: RequestBook;
  readonly sender: Sender<Payload>;
  /** Requests on the network that get on, wherever they are: those that are not queued here may be followed by more. */
  readonly active: () => number;
  /** Address of PresetConsumer. */
  readonly presetConsumer: Hex;
  /**
   * Finds what the chain must have for a request: subscriptions, the stored source. May send transactions for it. An error that is
   * not `retryable` ends the request.
   */
  readonly prepare: (request: SubmittedRequest) => Promise<Submission>;
  /** A request that an earlier transaction has brought on chain after all is not sent again. */
  readonly carriers: Pick<Carriers, "isCarried">;
  /** Told why a transaction reverted: the decoded reason of the call run again. */
  readonly explainRevert: (call: Call, receipt: Receipt) => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  /** First pause before a request that could not be sent is tried again. Default 1,000. */
  readonly retryMs?: number;
}

/** Creates the dispatcher of one network. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { book, sender, carriers, signal, onError, retryMs = DEFAULT_RETRY_MS } = options;
  const queue = createFairQueue<SubmittedRequest>();
  /** Requests in hand: queued, in a transaction, or in a pause. */
  const held = new Map<string, SubmittedRequest>();
  const attempts = new Map<string, number>();
  const pauses = new Set<NodeJS.Timeout>();
  let preparing = 0;
  let running: Promise<void> | undefined;
  let closed = false;
  let onEnough: (() => void) | undefined;

  const push = (request: SubmittedRequest): void => {
    if (closed || signal.aborted) return;
    queue.add(request.dappId, request);
    if (queue.size >= ENOUGH) onEnough?.();
    running ??= run()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };

  /** Requests of the same turn of the event loop travel together; the more are on their way, the longer it waits for others. */
  const gather = async (): Promise<void> => {
    const waitMs = batchDelayMs(options.active() - queue.size);
    if (waitMs === 0 || queue.size >= ENOUGH) return await Promise.resolve();
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
    while (queue.size > 0 && !closed) {
      await gather();
      const batch = queue.take(MAX_BATCH);
      const ready = await prepareAll(batch);
      for (const part of splitByLimits(ready)) await submit(part);
      if (signal.aborted) return;
    }
  };

  /** Gives what can be sent now. Never throws, and never waits long for one of the batch. */
  const prepareAll = async (batch: readonly SubmittedRequest[]): Promise<Submission[]> => {
    const ready: Submission[] = [];
    let isOver = false;
    const work = batch.map(async (request) => {
      preparing += 1;
      try {
        const submission = await prepare(request);
        if (submission === undefined) release([request.id]);
        else if (isOver) push(request);
        else ready.push(submission);
      } catch (error) {
        if (!signal.aborted) onError(error);
        await fail(request, error);
      } finally {
        preparing -= 1;
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

  /** Sends requests in one transaction, or in several where one of them spoils it for the others. Never throws. */
  const submit = async (submissions: readonly Submission[]): Promise<void> => {
    let batch: Batch;
    try {
      batch = encodeBatch(submissions);
    } catch (error) {
      if (submissions.length > 1) return await submitHalves(submissions);
      return await failAll(submissions, error);
    }
    try {
      if (await send(submissions, batch)) release(submissions.map(({ requestId }) => requestId));
      else if (submissions.length > 1) await submitHalves(submissions);
    } catch (error) {
      if (signal.aborted) return;
      // Whether the transaction was sent is open, except where the node refused it. Fewer requests help where it was for what is in it.
      const isItsContent =
        error instanceof TransactionError && (error.meaning === "refused" || error.meaning === "too_large");
      if (isItsContent && submissions.length > 1) await submitHalves(submissions);
      else await failAll(submissions, isTransient(error) ? error : new UnsentError(error));
    }
  };

  /** Whoever spoils a transaction ends up alone in one: of sixty requests, after six more transactions that fail. */
  const submitHalves = async (submissions: readonly Submission[]): Promise<void> => {
    const middle = Math.ceil(submissions.length / 2);
    await submit(submissions.slice(0, middle));
    await submit(submissions.slice(middle));
  };

  /** Whether it went through, or has ended its only request; false when several have to be sent apart. */
  const send = async (
    submissions: readonly Submission[],
    { data, gas, entries }: Batch,
  ): Promise<boolean> => {
    const call = { to: options.presetConsumer, data, gas };
    const receipt = await sender.send(call, { kind: "submit", entries });
    if (receipt.succeeded && receipt.logs.length === 0) throw new UnheardError(receipt);
    if (receipt.succeeded) return true;
    // The contract undoes everything for lack of gas only, and then one entry may be to blame.
    if (submissions.length > 1) return false;
    const reason = await options.explainRevert(call, receipt);
    const request = book.get(submissions[0]!.requestId);
    if (request === undefined) return true;
    await book.change([
      {
        request,
        state: "failed",
        error: { code: "request_failed", message: `the request's transaction reverted: ${reason}` },
        transactionHash: receipt.transactionHash,
        endedIn: { number: Number(receipt.blockNumber), hash: receipt.blockHash },
      },
    ]);
    return true;
  };

  const failAll = async (submissions: readonly Submission[], error: unknown): Promise<void> => {
    onError(error);
    for (const { requestId } of submissions) {
      const request = held.get(requestId);
      if (request === undefined || book.get(requestId) === undefined) release([requestId]);
      else await fail(request, error);
    }
  };

  const release = (ids: readonly string[]): void => {
    for (const id of ids) {
      held.delete(id);
      attempts.delete(id);
    }
  };

  /** Ends a request that can't be sent, at once or when it has been tried often enough; else it is tried again after a pause. */
  const fail = async (request: SubmittedRequest, error: unknown): Promise<void> => {
    if (signal.aborted) return;
    const { id } = request;
    const count = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, count);
    const end = endOf(error, count >= MAX_ATTEMPTS);
    const change: Change =
      end === undefined
        ? { request, why: `not sent yet: ${messageOf(error)}` }
        : { request, state: "failed", error: end };
    try {
      await book.change([change]);
    } catch (failure) {
      onError(failure);
    }
    if (end !== undefined) return release([id]);
    const timer = setTimeout(
      () => {
        pauses.delete(timer);
        push(request);
      },
      retryMs * Math.min(MAX_RETRY_FACTOR, 2 ** (count - 1)),
    );
    pauses.add(timer);
  };

  return {
    enqueue(request) {
      if (closed || held.has(request.id)) return;
      held.set(request.id, request);
      push(request);
    },
    queued: () => queue.size + pauses.size + preparing,
    holds: (id) => held.has(id),
    async close() {
      closed = true;
      for (const timer of pauses) clearTimeout(timer);
      pauses.clear();
      onEnough?.();
      await running;
    },
  };
}
