import type { TycheError } from "../lib/errors.ts";
import { ERROR_TABLE, findToldError, type ErrorCode } from "../lib/errorTable.ts";

/** Status, headers and body of an answer. The body of every answer under `/api` is `{ data }`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Seconds of `Retry-After` where the error names none. */
const DEFAULT_RETRY_SECONDS = 1;

/** Maps anything thrown to its answer, by the error table. What is not told is `internal`: 500 with the correlation id and nothing else. */
export function answerError(thrown: unknown, { correlationId }: { readonly correlationId: string }): Answer {
  const told = findToldError(thrown);
  if (told === undefined) return errorAnswer("internal", ERROR_TABLE.internal.meaning, { correlationId });
  const { code, message, error, status } = told;
  return errorAnswer(code, message, membersOf(error), headersOf(error, status));
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
