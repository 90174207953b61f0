import { TycheError } from "../../lib/errors.ts";
import { BeaconMissedError } from "./beaconAhead.ts";
import { TransactionError } from "../../evm/refusal.ts";
import { DatabaseAwayError } from "../../store/databaseAway.ts";
import { StoreWriteError } from "../../store/store.ts";

/** Whether a retry may succeed: the chain is to blame, not the request. */
export function isTransient(error: unknown): error is TycheError {
  return error instanceof TycheError && (error.retryable || error.blame === "upstream");
}

/** Returns the error that a request may report. For errors of the database and unexpected ones, it says only that sending failed. */
export function sendingError(error: unknown): TycheError {
  const isStores = error instanceof StoreWriteError || error instanceof DatabaseAwayError;
  const isTold = error instanceof BeaconMissedError || (isTransient(error) && !isStores);
  return isTold
    ? error
    : new TycheError("the service failed to send the transaction", {
        code: "chain_unavailable",
        blame: "us",
        retryable: true,
        cause: error,
      });
}

/** Returns the error that a request ends with; `undefined` if it may be retried. */
export function endOf(
  error: unknown,
  isLast: boolean,
): { readonly code: string; readonly message: string } | undefined {
  if (error instanceof TransactionError && error.meaning === "too_large")
    return { code: "request_failed", message: error.message };
  if (error instanceof BeaconMissedError) return { code: error.code, message: error.message };
  if (isTransient(error))
    return isLast
      ? { code: "chain_unavailable", message: `the request could not be sent: ${error.message}` }
      : undefined;
  // The text of other errors is only for the log.
  const reason = error instanceof TycheError ? `: ${error.message}` : "";
  return { code: "request_failed", message: `the request can't be encoded for the chain${reason}` };
}
