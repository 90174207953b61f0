import type { TycheError } from "../lib/errors.ts";
import { ERROR_TABLE, findToldError, type ErrorCode } from "./errorTable.ts";

/** Status, headers and body of a response. Every body under `/api` is `{ data }`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `Retry-After` in seconds for errors that name no delay. */
const DEFAULT_RETRY_SECONDS = 1;

/**
 * Maps anything thrown to a response, by the error table. Anything that must not be disclosed becomes `internal`: 500 with the correlation
 * id and nothing else.
 */
export function answerError(thrown: unknown, { correlationId }: { readonly correlationId: string }): Answer {
  const told = findToldError(thrown);
  if (told === undefined) return errorAnswer("internal", ERROR_TABLE.internal.meaning, { correlationId });
  const { code, message, error, status } = told;
  return errorAnswer(code, message, membersOf(error), headersOf(error, status));
}

/** Builds the response for a code of the table. */
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

/** Members of an error's body besides `success`, `err` and `code`. */
function membersOf(error: TycheError): Record<string, unknown> {
  switch (error.code) {
    case "invalid_parameter":
      return { details: error.details };
    // The request without a result; the request that has the label; the function-run result with what the dry run captured; it brings its own `success` and `err`.
    case "not_found":
    case "label_taken":
    case "function_failed":
      return { ...(error.details as Record<string, unknown> | undefined) };
    default:
      return {};
  }
}

function headersOf(error: TycheError, status: number): Record<string, string> {
  // RFC 9110, section 11.6.1 requires a challenge. A bare key is not a registered scheme; of those we accept, Bearer is.
  if (status === 401) return { "WWW-Authenticate": 'Bearer realm="tyche"' };
  if (status !== 429 && status !== 503 && status !== 504 && status !== 502) return {};
  const ms = (error.details as { retryAfterMs?: unknown } | null | undefined)?.retryAfterMs;
  const seconds = typeof ms === "number" ? Math.max(1, Math.ceil(ms / 1000)) : DEFAULT_RETRY_SECONDS;
  return { "Retry-After": String(seconds) };
}
