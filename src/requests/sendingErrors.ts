import { TycheError } from "../lib/errors.ts";
import type { Receipt } from "../evm/client.ts";
import { TransactionError } from "../evm/refusal.ts";
import { DatabaseAwayError } from "../store/databaseAway.ts";
import { StoreWriteError } from "../store/store.ts";

/** Whether another try may go better: the chain is to blame, not the request. */
export function isTransient(error: unknown): error is TycheError {
  return error instanceof TycheError && (error.retryable || error.blame === "upstream");
}

/** What a request is told of an error: of the database's, or of one that nobody foresaw, only that there was one. */
export function sendingError(error: unknown): TycheError {
  const isStores = error instanceof StoreWriteError || error instanceof DatabaseAwayError;
  return isTransient(error) && !isStores ? error : new UnsentError(error);
}

/** How a request ends by an error, `undefined` when it may be tried again. */
export function endOf(
  error: unknown,
  isLast: boolean,
): { readonly code: string; readonly message: string } | undefined {
  if (error instanceof TransactionError && error.meaning === "too_large")
    return { code: "request_failed", message: error.message };
  if (isTransient(error))
    return isLast
      ? { code: "chain_unavailable", message: `the request could not be sent: ${error.message}` }
      : undefined;
  // What other errors say is for whoever reads the log.
  const reason = error instanceof TycheError ? `: ${error.message}` : "";
  return { code: "request_failed", message: `the request can't be encoded for the chain${reason}` };
}

/** A transaction failed in a way that nobody foresaw: whether it was sent is open. */
export class UnsentError extends TycheError {
  constructor(cause: unknown) {
    super("the service failed to send it", {
      code: "chain_unavailable",
      blame: "us",
      retryable: true,
      cause,
    });
  }
}

/** The contract tells of each entry, accepted or refused: it wasn't there, or had another's code. */
export class UnheardError extends TycheError {
  constructor({ transactionHash }: Receipt) {
    super(
      `transaction ${transactionHash} was mined and did nothing: the contract that takes requests has lost its code`,
      { code: "chain_unavailable", blame: "upstream", retryable: true },
    );
  }
}
