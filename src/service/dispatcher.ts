import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
import { lingerMs } from "../lib/linger.ts";
import type { Receipt } from "../chain/client.ts";
import { TransactionError } from "../chain/refusal.ts";
import type { Sender } from "../chain/sender.ts";
import type { Call } from "../chain/signedTransaction.ts";
import type { OpenRequest, RequestBook } from "./requestBook.ts";
import { encodeBatch, splitByLimits } from "./submission.ts";
import type { Submission } from "./submission.ts";

/** Requests in one transaction: past this a block's gas, and the oracle's own batches, gain nothing more. */
const MAX_BATCH = 60;
/** Requests that are enough for a transaction: four shared proofs full of presets. */
const ENOUGH = 40;
/** Pause before requests that could not be sent are tried again, and how often. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;

/** What a transaction of ours carries, for the journal. */
export interface Cargo {
  /** `submit`: requests of presets, functions and words; `consumer`: one linking; `upkeep`: nothing of a caller's. */
  readonly kind: "submit" | "consumer" | "upkeep";
  /** Our request ids by entry; a preset entry holds one for each item. */
  readonly entries: readonly (readonly string[])[];
}

/**
 * Takes requests to the chain, as many in a transaction as have gathered while the one before was under way, and under load in the
 * moment after it.
 */
export interface Dispatcher {
  enqueue(request: OpenRequest): void;
  /** Requests that no transaction carries yet. */
  queued(): number;
  /** Whether a request waits here or is on its way in a transaction. */
  holds(id: string): boolean;
  /** Ends after the transaction under way. */
  close(): Promise<void>;
}

/** Options of {@link createDispatcher}. */
export interface DispatcherOptions {
  readonly book: RequestBook;
  readonly sender: Sender<Cargo>;
  /** Requests on the network that get on, wherever they are: those that are not queued here may be followed by more. */
  readonly lively: () => number;
  /** Address of PresetConsumer. */
  readonly presetConsumer: Hex;
  /** Finds what the chain must have for a request: subscriptions, the stored source. May send transactions for it. */
  readonly prepare: (request: OpenRequest) => Promise<Submission>;
  /** Whether a transaction that was signed for the request earlier is on chain after all; it is not sent again then. */
  readonly isCarried: (request: OpenRequest) => Promise<boolean>;
  /** Told why a transaction reverted: the decoded reason of the call run again. */
  readonly explainRevert: (call: Call, receipt: Receipt) => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  /** Pause before requests that could not be sent are tried again; thirty times at most. Default 1,000. */
  readonly retryMs?: number;
}

/** Makes the dispatcher of one network. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { book, sender, prepare, isCarried, signal, onError, retryMs = DEFAULT_RETRY_MS } = options;
  let queue: OpenRequest[] = [];
  const held = new Set<string>();
  const attempts = new Map<string, number>();
  let running: Promise<void> | undefined;
  let closed = false;
  let onEnough: (() => void) | undefined;

  /** Requests of the same turn of the event loop travel together; the more are on their way, the longer it waits for others. */
  const gather = async (): Promise<void> => {
    const waitMs = lingerMs(options.lively() - queue.length);
    if (waitMs === 0 || queue.length >= ENOUGH) return await Promise.resolve();
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
    while (queue.length > 0 && !closed) {
      await gather();
      const batch = queue.slice(0, MAX_BATCH);
      queue = queue.slice(MAX_BATCH);
      const failures = await dispatch(batch);
      if (signal.aborted) return;
      for (const { id } of batch) if (!failures.some(({ request }) => request.id === id)) held.delete(id);
      if (failures.length === 0) continue;
      for (const { error } of failures.slice(0, 1)) onError(error);
      await giveBack(failures);
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  };

  /** Sends the requests that can be sent; gives back the others. Never throws. */
  const dispatch = async (batch: readonly OpenRequest[]): Promise<Failure[]> => {
    const failures: Failure[] = [];
    const submissions: Submission[] = [];
    const prepared = await Promise.all(
      batch.map(async (request) => {
        try {
          if (request.progress.transactionHashes !== undefined && (await isCarried(request)))
            return undefined;
          return { request, submission: await prepare(request) };
        } catch (error) {
          failures.push({ request, error });
          return undefined;
        }
      }),
    );
    for (const one of prepared) if (one !== undefined) submissions.push(one.submission);
    for (const part of splitByLimits(submissions)) failures.push(...(await submit(part)));
    return failures;
  };

  const submit = async (submissions: readonly Submission[]): Promise<Failure[]> => {
    try {
      const { data, gas, entries } = encodeBatch(submissions);
      const call = { to: options.presetConsumer, data, gas };
      const receipt = await sender.send(call, { kind: "submit", entries });
      if (receipt.succeeded) {
        for (const id of entries.flat()) attempts.delete(id);
        return [];
      }
      // The contract undoes everything for lack of gas only, and then one entry may be to blame: try each alone.
      if (submissions.length > 1) return await submitAlone(submissions);
      const reason = await options.explainRevert(call, receipt);
      await end(submissions[0]!, `the request's transaction reverted: ${reason}`, receipt);
      return [];
    } catch (error) {
      if (error instanceof TransactionError && error.meaning === "too_large") {
        if (submissions.length > 1) return await submitAlone(submissions);
        await end(submissions[0]!, error.message);
        return [];
      }
      return submissions.flatMap(({ requestId }) => {
        const request = book.get(requestId);
        return request === undefined ? [] : [{ request, error }];
      });
    }
  };

  const submitAlone = async (submissions: readonly Submission[]): Promise<Failure[]> => {
    const failures: Failure[] = [];
    for (const submission of submissions) failures.push(...(await submit([submission])));
    return failures;
  };

  const end = async ({ requestId }: Submission, message: string, receipt?: Receipt): Promise<void> => {
    const request = book.get(requestId);
    if (request === undefined) return;
    const error = { code: "request_failed", message };
    const where = receipt && {
      transactionHash: receipt.transactionHash,
      endedIn: { number: Number(receipt.blockNumber), hash: receipt.blockHash },
    };
    await book.change([{ request, state: "failed", error, ...where }]);
  };

  /** Puts requests back in line and says why, or ends them when it has been tried often enough. */
  const giveBack = async (failures: readonly Failure[]): Promise<void> => {
    const again: Failure[] = [];
    const given: Failure[] = [];
    for (const failure of failures) {
      const { id } = failure.request;
      const count = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, count);
      (count < MAX_ATTEMPTS ? again : given).push(failure);
    }
    queue.unshift(...again.map(({ request }) => request));
    await book.change([
      ...again.map(({ request, error }) => ({ request, why: `not sent yet: ${messageOf(error)}` })),
      ...given.map(({ request, error }) => ({
        request,
        state: "failed" as const,
        error: { code: "chain_unavailable", message: `the request could not be sent: ${messageOf(error)}` },
      })),
    ]);
    for (const { request } of given) {
      attempts.delete(request.id);
      held.delete(request.id);
    }
  };

  return {
    enqueue(request) {
      if (closed || held.has(request.id)) return;
      held.add(request.id);
      queue.push(request);
      if (queue.length >= ENOUGH) onEnough?.();
      running ??= run()
        .catch(onError)
        .finally(() => {
          running = undefined;
        });
    },
    queued: () => queue.length,
    holds: (id) => held.has(id),
    async close() {
      closed = true;
      onEnough?.();
      await running;
    },
  };
}

interface Failure {
  readonly request: OpenRequest;
  readonly error: unknown;
}
