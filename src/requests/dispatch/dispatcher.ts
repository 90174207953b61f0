import type { Hex } from "viem";
import { messageOf, TycheError } from "../../lib/errors.ts";
import type { Pipelining } from "../../evm/pipelining.ts";
import { gatherDelayMs } from "../../evm/gatherDelay.ts";
import { retry } from "../../lib/retry.ts";
import { isShortage } from "../../dapps/shortage.ts";
import type { RequestTransactions } from "./requestTransactions.ts";
import { changeOpen, type Change, type RequestBook } from "../requestBook.ts";
import type { OpenRequest, SubmittedRequest } from "../openRequest.ts";
import { endOf, isTransient, sendingError } from "./sendingErrors.ts";
import { encodeSubmissions, splitByLimits, type EncodedSubmissions, type Submission } from "./submission.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import { TransactionError } from "../../evm/refusal.ts";
import type { Sender } from "../../evm/sender.ts";
import type { Call } from "../../evm/signedTransaction.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { BeaconMissedError } from "./beaconAhead.ts";

/** Maximum requests per transaction where each transaction gets its own block: beyond this, larger ones gain nothing. */
const MAX_PER_TRANSACTION = 60;
/** Requests that make a transaction full enough to send there. */
const ENOUGH = 40;
/** Maximum requests per transaction where several share a block. */
const MAX_PER_PIPELINED_TRANSACTION = 240;
/** Pause before a request that could not be sent is retried; it doubles each time, up to eightfold. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_RETRY_FACTOR = 8;
/**
 * Pauses of 1 + 2 + 4 + 4 × 8 seconds: about as long as an interactive caller waits. While LINK or coin is short, a request
 * waits as long as it takes.
 */
const MAX_ATTEMPTS = 8;
/** How long a transaction waits for requests that first need something created on chain; slower ones go with a later one. */
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
  SubmissionSenderOptions,
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
  readonly requestTransactions: Pick<RequestTransactions, "isCarried">;
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
  const { book, requestTransactions, onError, retryMs = DEFAULT_RETRY_MS } = options;
  const closing = new AbortController();
  const stopped = AbortSignal.any([options.signal, closing.signal]);
  /** Requests held here, each with its latest attempt: queued, in a transaction, or paused after a failure. */
  const held = new Map<string, Attempt>();
  const submit = createSubmissionSender({
    ...options,
    onSent(ids) {
      for (const id of ids) held.get(id)?.sent();
    },
    onFailed(ids, error) {
      onError(error);
      for (const id of ids) held.get(id)?.failed(error);
    },
  });
  const gathering = createGathering({
    ...options,
    signal: stopped,
    submit,
    async prepare(request) {
      if (request.progress.transactionHashes !== undefined && (await requestTransactions.isCarried(request)))
        return undefined;
      return await options.prepare(request);
    },
  });

  /** Drives a request until a transaction carries it or it ends. Never rejects. */
  const carry = async (request: SubmittedRequest): Promise<void> => {
    const record = (change: Omit<Change, "request">): Promise<void> =>
      changeOpen(book, { request, ...change }).catch(onError);
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
      gathering.push(one);
    });

  return {
    enqueue(request) {
      if (stopped.aborted || held.has(request.id)) return;
      void carry(request).finally(() => held.delete(request.id));
    },
    queued: () => held.size - gathering.sending(),
    holds: (id) => held.has(id),
    async close() {
      closing.abort();
      await gathering.close();
    },
  };
}

interface GatheringOptions extends Pick<DispatcherOptions, "active" | "pipelining" | "onError" | "signal"> {
  /** Returns what goes on chain for a request; `undefined` if a transaction has brought it there. */
  readonly prepare: (request: SubmittedRequest) => Promise<Submission | undefined>;
  /** Sends some submissions in one transaction, or in several if it must. Never rejects. */
  readonly submit: (submissions: readonly Submission[]) => Promise<void>;
}

/** Creates what gathers attempts, dapps in turn, and sends them together. */
function createGathering(options: GatheringOptions) {
  const { pipelining, submit, onError, signal } = options;
  const maxPerTransaction = pipelining === undefined ? MAX_PER_TRANSACTION : MAX_PER_PIPELINED_TRANSACTION;
  const enough = pipelining === undefined ? ENOUGH : MAX_PER_PIPELINED_TRANSACTION;
  const queue = createFairQueue<Attempt>();
  /** How many requests are in transactions in flight. */
  let sending = 0;
  let running: Promise<void> | undefined;
  let onEnough: (() => void) | undefined;
  const turns = createTurns({ ...pipelining, isFull: () => queue.size >= enough, signal });

  const push = (one: Attempt): void => {
    if (signal.aborted) return;
    queue.add(one.request.dappId, one);
    if (queue.size >= enough) {
      onEnough?.();
      turns.look();
    }
    running ??= run().catch(onError);
  };

  /** Gathers requests of the same event-loop turn; the more requests are on their way, the longer it waits for them. */
  const gather = async (): Promise<void> => {
    const waitMs = gatherDelayMs(options.active() - queue.size);
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
      while (queue.size > 0 && !signal.aborted) {
        await turns.next();
        await gather();
        const ready = await prepareAll(queue.take(maxPerTransaction), { ...options, onLate: push });
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
    await submit(part);
    sending -= part.length;
  };

  return {
    push,
    /** Returns how many requests are in transactions in flight. */
    sending: () => sending,
    async close(): Promise<void> {
      onEnough?.();
      await running;
      await turns.idle();
    },
  };
}

/**
 * Returns what can be sent now. Never rejects, and waits at most {@link PREPARE_MS} for slow requests.
 *
 * @param options.onLate called with an attempt that could be sent after that.
 */
async function prepareAll(
  attempts: readonly Attempt[],
  options: Pick<GatheringOptions, "prepare" | "onError" | "signal"> & {
    readonly onLate: (one: Attempt) => void;
  },
): Promise<Submission[]> {
  const { prepare, onLate, onError, signal } = options;
  const ready: Submission[] = [];
  let isOver = false;
  const work = attempts.map(async (one) => {
    try {
      const submission = await prepare(one.request);
      if (submission === undefined) one.sent();
      else if (isOver) onLate(one);
      else ready.push(submission);
    } catch (error) {
      if (!signal.aborted) onError(error);
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
}

/** Creates an empty queue that serves its callers in turn, so that a caller with many items doesn't hold up the others. */
export function createFairQueue<T>() {
  /** In the order in which callers are served next. */
  const byCaller = new Map<string, T[]>();
  let size = 0;

  return {
    get size(): number {
      return size;
    },
    /** Appends an item to those of its caller. */
    add(caller: string, item: T): void {
      const items = byCaller.get(caller);
      if (items === undefined) byCaller.set(caller, [item]);
      else items.push(item);
      size += 1;
    },
    /** Takes up to `count` items, one per caller in turn, each caller's in their order. */
    take(count: number): T[] {
      const taken: T[] = [];
      while (taken.length < count && size > 0) {
        const [caller, items] = byCaller.entries().next().value!;
        taken.push(items.shift()!);
        size -= 1;
        byCaller.delete(caller);
        if (items.length > 0) byCaller.set(caller, items);
      }
      return taken;
    },
  };
}

/** Creates what decides when one account's next transaction begins. Once `signal` aborts, nothing waits any more. */
export function createTurns(
  options: Partial<Pick<Pipelining, "maxInFlight" | "paceMs">> & {
    readonly isFull: () => boolean;
    readonly signal: AbortSignal;
  },
) {
  const { maxInFlight = 1, paceMs = 0, isFull, signal } = options;
  const underWay = new Set<Promise<void>>();
  let lastBegin = -Infinity;
  let wake = (): void => {};
  signal.addEventListener("abort", () => wake(), { once: true });

  /** @param withinMs longest time until the condition is checked again. */
  const change = async (withinMs?: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (withinMs !== undefined) timer = setTimeout(resolve, Math.ceil(withinMs));
    });
    clearTimeout(timer);
  };

  const until = async (isSo: () => boolean, pauseMs?: () => number): Promise<void> => {
    while (!signal.aborted && !isSo()) await change(pauseMs?.());
  };

  const hasPlace = (): boolean => underWay.size < maxInFlight;
  const paceLeftMs = (): number => lastBegin + paceMs - performance.now();

  return {
    /**
     * Resolves when the next transaction may begin: at once if none is in flight; beside others, when there is enough for a
     * full one or the pace allows it.
     */
    async next(): Promise<void> {
      await until(hasPlace);
      await until(() => underWay.size === 0 || isFull() || paceLeftMs() <= 0, paceLeftMs);
      if (!isFull()) lastBegin = performance.now();
    },
    /** Resolves when one more transaction may be in flight. */
    place: (): Promise<void> => until(hasPlace),
    /** Runs work, which never rejects, as a transaction in flight. */
    run(work: () => Promise<void>): void {
      const done = work().finally(() => {
        underWay.delete(done);
        wake();
      });
      underWay.add(done);
    },
    /** Resolves when none is in flight. */
    async idle(): Promise<void> {
      await Promise.all(underWay);
    },
    /** Checks again whether there is enough for a full transaction. */
    look: (): void => wake(),
  };
}

interface SubmissionSenderOptions {
  readonly book: RequestBook;
  readonly sender: Sender<Payload>;
  /** Address of PresetConsumer. */
  readonly presetConsumer: Hex;
  /** Re-executes a reverted transaction's call and decodes the reason. */
  readonly explainRevert: (call: Call, receipt: Receipt) => Promise<string>;
  /** Called with the requests that a mined transaction carried, or that ended with it. */
  readonly onSent: (requestIds: readonly string[]) => void;
  /** Called with the requests that no transaction carries. */
  readonly onFailed: (requestIds: readonly string[], error: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * Creates what sends requests of one network in one transaction, and splits them up when one of them makes it fail. It resolves when each
 * submission has been reported to `onSent` or `onFailed`, or the service stops, and never rejects.
 */
function createSubmissionSender(
  options: SubmissionSenderOptions,
): (submissions: readonly Submission[]) => Promise<void> {
  const { book, sender, signal, onSent, onFailed } = options;

  const submit = async (submissions: readonly Submission[]): Promise<void> => {
    let transaction: EncodedSubmissions;
    try {
      transaction = encodeSubmissions(submissions);
    } catch (error) {
      if (submissions.length > 1) return await submitHalves(submissions);
      return onFailed(idsOf(submissions), error);
    }
    try {
      if (await send(submissions, transaction)) onSent(idsOf(submissions));
      else await submitHalves(submissions);
    } catch (error) {
      if (signal.aborted) return;
      // Unless the node refused the transaction, it may have been sent. Fewer requests help only if its content was the reason.
      const isItsContent =
        error instanceof BeaconMissedError ||
        (error instanceof TransactionError && (error.meaning === "refused" || error.meaning === "too_large"));
      if (isItsContent && submissions.length > 1) await submitHalves(submissions);
      else onFailed(idsOf(submissions), sendingError(error));
    }
  };

  /** Bisects until the request that makes the transaction fail is alone: among 60 requests, after six more failed transactions. */
  const submitHalves = async (submissions: readonly Submission[]): Promise<void> => {
    const middle = Math.ceil(submissions.length / 2);
    await submit(submissions.slice(0, middle));
    await submit(submissions.slice(middle));
  };

  /** Returns whether the transaction succeeded or ended its only request; `false` when its requests must be split. */
  const send = async (
    submissions: readonly Submission[],
    { data, gas, entries }: EncodedSubmissions,
  ): Promise<boolean> => {
    const call = { to: options.presetConsumer, data, gas };
    const receipt = await sender.send(call, { kind: "submit", entries });
    // The contract logs each entry, accepted or refused: without a log, it wasn't there or had different code.
    if (receipt.succeeded && receipt.logs.length === 0)
      throw new TycheError(
        `transaction ${receipt.transactionHash} was mined but did nothing: the contract that takes requests no longer has code`,
        { code: "chain_unavailable", blame: "upstream", retryable: true },
      );
    if (receipt.succeeded) return true;
    // Logs are read apart from receipts: one of them shows that the transaction didn't revert.
    if (submissions.some((one) => findUnheard(one) === undefined)) return true;
    // The contract reverts as a whole only when it runs out of gas, and then a single entry may be to blame.
    if (submissions.length > 1) return false;
    const reason = await options.explainRevert(call, receipt);
    const { transactionHash, blockNumber, blockHash: hash } = receipt;
    const end = {
      state: "failed",
      error: { code: "request_failed", message: `the request's transaction reverted: ${reason}` },
      transactionHash,
      endedIn: { number: Number(blockNumber), hash },
    } as const;
    await book.change(() => {
      // Its log may have been read in the meantime.
      const request = findUnheard(submissions[0]!);
      return request === undefined ? [] : [{ request, ...end }];
    });
    return true;
  };

  /** Returns a request that has neither ended nor been shown by the chain's logs. */
  const findUnheard = ({ requestId }: Submission): OpenRequest | undefined => {
    const request = book.get(requestId);
    return request?.progress.acceptedBlock === undefined ? request : undefined;
  };

  return submit;
}

function idsOf(submissions: readonly Submission[]): string[] {
  return submissions.map(({ requestId }) => requestId);
}
