import { TycheError } from "../lib/errors.ts";
import { ERROR_TABLE, isErrorCode, type ErrorCode } from "./errorTable.ts";

/** Status, headers and body of an answer. The body of every answer under `/api` is `{ data }`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Seconds of `Retry-After` where the error names none. */
const DEFAULT_RETRY_SECONDS = 1;

/** Errors of layers below that callers are told under a code of the API: what is full or closed for us is overloaded for them. */
const TOLD_AS: Readonly<Record<string, ErrorCode>> = {
  sandbox_overloaded: "overloaded",
  sandbox_closed: "overloaded",
  transaction_refused: "chain_unavailable",
};

/**
 * Maps anything thrown to its answer, by the error table. A message leaves the server only when the error is a `TycheError` with a
 * code of the table and blamed on the caller or an upstream; for one blamed on us the table's own sentence stands in. Anything else
 * is `internal`: 500 with the correlation id and nothing else.
 */
export function answerError(thrown: unknown, options: { readonly correlationId: string }): Answer {
  const code = thrown instanceof TycheError ? findCode(thrown) : undefined;
  if (!(thrown instanceof TycheError) || code === undefined) {
    const { correlationId } = options;
    return errorAnswer("internal", ERROR_TABLE.internal.meaning, { correlationId });
  }
  // Words of another code may speak of what callers know nothing of.
  const isTold = thrown.blame !== "us" && code === thrown.code;
  const err = isTold ? thrown.message : ERROR_TABLE[code].meaning;
  return errorAnswer(code, err, membersOf(thrown), headersOf(thrown, ERROR_TABLE[code].status));
}

function findCode({ code }: TycheError): ErrorCode | undefined {
  if (Object.hasOwn(TOLD_AS, code)) return TOLD_AS[code];
  return isErrorCode(code) && code !== "internal" ? code : undefined;
}

/** Builds the answer for a code of the table. */
export function errorAnswer(
  code: ErrorCode,
  err: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status: ERROR_TABLE[code].status,
    headers,
    data: { success: false, err, code, ...members },
  };
}

/** What the body of an error holds besides `success`, `err` and `code`. */
function membersOf(error: TycheError): Record<string, unknown> {
  switch (error.code) {
    case "invalid_parameter":
      return { details: error.details };
    // The Function run result with what the dry run captured: `success` and `err` are its own.
    case "function_failed":
      return { ...(error.details as Record<string, unknown> | undefined) };
    default:
      return {};
  }
}

function headersOf(error: TycheError, status: number): Record<string, string> {
  // RFC 9110, section 11.6.1 wants a challenge. The bare key is no scheme of its own; Bearer is the registered one that we take.
  if (status === 401) return { "WWW-Authenticate": 'Bearer realm="tyche"' };
  if (status !== 429 && status !== 503 && status !== 504 && status !== 502) return {};
  const ms = (error.details as { retryAfterMs?: unknown } | null | undefined)?.retryAfterMs;
  const seconds = typeof ms === "number" ? Math.max(1, Math.ceil(ms / 1000)) : DEFAULT_RETRY_SECONDS;
  return { "Retry-After": String(seconds) };
}
