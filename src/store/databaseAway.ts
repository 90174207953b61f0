import { TycheError } from "../lib/errors.ts";
import { retry } from "../lib/retry.ts";

const RETRY_AFTER_MS = 1_000;

/**
 * SQLSTATE classes and codes with which the server, or a pooler in front of it, ends a connection or temporarily refuses one, or gives up
 * waiting for a lock (55P03).
 */
const AWAY_STATES = /^(?:08...|57P0[1-5]|53300|55P03|25P0[345])$/;
/** Error codes of the operating system for a connection that was lost or can't be made. */
const AWAY_CODES: readonly string[] = [
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
];
/** Messages that `pg` and its pool throw without a code. A test checks these against the driver. */
const AWAY_MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|read ECONNRESET)/;

/**
 * The database server doesn't answer, has ended a connection, or waits for a lock on a table. Reads may be repeated later; whether a write in flight was committed is
 * unknown.
 */
export class DatabaseAwayError extends TycheError {
  constructor(cause: unknown) {
    super("the service's database does not answer at the moment; try again in a moment", {
      code: "overloaded",
      blame: "us",
      retryable: true,
      details: { retryAfterMs: RETRY_AFTER_MS },
      cause,
    });
  }
}

/** Returns a {@link DatabaseAwayError} if the driver threw because a connection was lost or can't be made, and anything else unchanged. */
export function toAwayError(thrown: unknown): unknown {
  return isAway(thrown) ? new DatabaseAwayError(thrown) : thrown;
}

function isAway(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every(isAway);
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code === "string" && (AWAY_STATES.test(code) || AWAY_CODES.includes(code))) return true;
  return AWAY_MESSAGES.test(thrown.message);
}

const PAUSE_MS = 250;

/**
 * Reads from the store, and retries while the database is away.
 *
 * @param until ends the attempts: an `AbortSignal`, or their maximum number.
 * @throws what `read` throws, and {@link DatabaseAwayError} once the attempts are over.
 */
export function readPatiently<T>(read: () => Promise<T>, until: AbortSignal | number): Promise<T> {
  return retry(read, {
    attempts: typeof until === "number" ? until : Infinity,
    pauseMs: () => PAUSE_MS,
    isFinal: (error) => !(error instanceof DatabaseAwayError),
    ...(typeof until === "number" ? {} : { signal: until }),
  });
}
