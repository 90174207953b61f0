import type { Hex } from "viem";
import type { Receipt } from "../../evm/client.ts";
import { TransactionError } from "../../evm/refusal.ts";
import type { Sender } from "../../evm/sender.ts";
import type { Call } from "../../evm/signedTransaction.ts";
import { TycheError } from "../../lib/errors.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { RoundMissedError } from "../accept/chooseRound.ts";
import type { RequestBook } from "../requestBook.ts";
import { sendingError } from "./sendingErrors.ts";
import { type Batch, encodeBatch, type Submission } from "./submission.ts";

/** Sends requests in one transaction, and splits them up when one of them makes it fail. */
export interface BatchSender {
  /** Resolves when each submission has been reported to `onSent` or `onFailed`, or the service stops. Never rejects. */
  submit(submissions: readonly Submission[]): Promise<void>;
}

export interface BatchSenderOptions {
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

/** Creates the batch sender of one network. */
export function createBatchSender(options: BatchSenderOptions): BatchSender {
  const { book, sender, signal, onSent, onFailed } = options;

  const submit = async (submissions: readonly Submission[]): Promise<void> => {
    let batch: Batch;
    try {
      batch = encodeBatch(submissions);
    } catch (error) {
      if (submissions.length > 1) return await submitHalves(submissions);
      return onFailed(idsOf(submissions), error);
    }
    try {
      if (await send(submissions, batch)) onSent(idsOf(submissions));
      else await submitHalves(submissions);
    } catch (error) {
      if (signal.aborted) return;
      // Unless the node refused the transaction, it may have been sent. Fewer requests help only if its content was the reason.
      const isItsContent =
        error instanceof RoundMissedError ||
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
    { data, gas, entries }: Batch,
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
    if (submissions.some(isHeard)) return true;
    // The contract reverts as a whole only when it runs out of gas, and then a single entry may be to blame.
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

  /** Whether the chain's logs have shown a request; one that has ended meanwhile is no longer among the open ones. */
  const isHeard = ({ requestId }: Submission): boolean => {
    const request = book.get(requestId);
    return request === undefined || request.progress.acceptedBlock !== undefined;
  };

  return { submit };
}

function idsOf(submissions: readonly Submission[]): string[] {
  return submissions.map(({ requestId }) => requestId);
}
