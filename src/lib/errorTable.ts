import { TycheError } from "./errors.ts";

/** What a code means over HTTP, to programs and to people. */
export interface ErrorEntry {
  readonly status: number;
  /** What happened, in one sentence; the answer's `err` where the error's own message may not leave the server. */
  readonly meaning: string;
  /** What the caller can do. */
  readonly remedy: string;
}

/**
 * Every error code of the API: the one place that gives it a status. `docs/errors.md` lists the same codes, and a test compares them.
 *
 * An error whose code is not here is `internal`: its answer holds nothing but a correlation id.
 */
export const ERROR_TABLE = {
  invalid_parameter: {
    status: 400,
    meaning: "One or more parameters can't be used.",
    remedy: "Correct what `details` lists: every violation is named at once. Nothing was sent to a chain.",
  },
  malformed_json: {
    status: 400,
    meaning: "The body is not JSON in UTF-8, or has a member twice.",
    remedy: "Correct the body at the line and column that the message names.",
  },
  malformed_http: {
    status: 400,
    meaning: "The request is not valid HTTP.",
    remedy: "Send a valid HTTP/1.1 request; look for a wrong Content-Length or header.",
  },
  unauthenticated: {
    status: 401,
    meaning: "The API key is missing, unknown or revoked.",
    remedy: "Send `Authorization: <API key>`, with the key from the dapp's Config Vars.",
  },
  forbidden: {
    status: 403,
    meaning: "The dapp of this key lacks the facility, or what is asked for takes the operator token.",
    remedy: "Use the key of a dapp that has the facility, or the operator token.",
  },
  sign_in_refused: {
    status: 403,
    meaning: "What was given to sign in to the application is not right.",
    remedy: "Give the operator token: the content of `operator-token` in the data directory.",
  },
  form_refused: {
    status: 403,
    meaning: "A call of the application's sign-in did not come from one of its own pages.",
    remedy: "Sign in at the service's own address.",
  },
  origin_not_allowed: {
    status: 403,
    meaning: "The server listens on a loopback address, and a page of another site called it without a key.",
    remedy: "Call from a page of this machine, or have the operator list the page's host in `TYCHE_HOSTS`.",
  },
  not_found: {
    status: 404,
    meaning: "There is nothing at this path, or nothing that this key may see.",
    remedy: "Check the path and the identifier, and that the key is of the dapp that made the request.",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path exists, but not with this method.",
    remedy: "Use a method that the `Allow` header lists.",
  },
  request_timeout: {
    status: 408,
    meaning: "The request did not arrive in time.",
    remedy: "Send headers within 10 seconds and the whole request within 30.",
  },
  idempotency_conflict: {
    status: 409,
    meaning: "The Idempotency-Key was used before with other parameters.",
    remedy: "Use a new key for a new request, and the same parameters with the same key.",
  },
  too_many_consumers: {
    status: 409,
    meaning: "The subscription has as many consumers as the network allows.",
    remedy: "Remove a consumer, or use another dapp.",
  },
  body_too_large: {
    status: 413,
    meaning: "The body is larger than the limit.",
    remedy: "Send less; the message names the limit.",
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The body is not plain application/json in UTF-8.",
    remedy: "Send `Content-Type: application/json` and no Content-Encoding.",
  },
  expectation_failed: {
    status: 417,
    meaning: "The Expect header asks for something else than 100-continue.",
    remedy: "Leave the header out.",
  },
  function_failed: {
    status: 422,
    meaning: "The source failed in the dry run; no transaction was sent.",
    remedy:
      "Correct the source: `err`, `details`, `console`, `line` and `column` say what and where. Try it with `simulate`.",
  },
  rate_limited: {
    status: 429,
    meaning: "The key made more requests than its limit, or has too many under way.",
    remedy: "Wait for the seconds in `Retry-After`; the `RateLimit` headers tell what is left.",
  },
  host_not_allowed: {
    status: 421,
    meaning: "The server listens on a loopback address and does not answer to the name in the Host header.",
    remedy: "Use the loopback address, or have the operator list the name in `TYCHE_HOSTS`.",
  },
  headers_too_large: {
    status: 431,
    meaning: "The request line and headers are larger than 16 KiB.",
    remedy: "Send parameters in the body.",
  },
  internal: {
    status: 500,
    meaning: "Something failed on our side.",
    remedy: "Tell the operator the `correlationId`: the log has the rest.",
  },
  chain_unavailable: {
    status: 502,
    meaning: "The network can't be reached or doesn't answer properly.",
    remedy: "Try again later; `GET /readyz` says which networks serve.",
  },
  request_failed: {
    status: 502,
    meaning:
      "The request ended on chain without a result: a transaction or callback reverted, or the chain was replaced.",
    remedy: "Read the reason in `err` and the request's timeline; a new request may succeed.",
  },
  oracle_timeout: {
    status: 504,
    meaning:
      "The oracle network gave no result within the time that its contracts allow (300 seconds), or no random words within 300 seconds after the request had its confirmations.",
    remedy:
      "Send the request again later: this one has ended, and what a function had reserved is back on the subscription.",
  },
  word_withheld: {
    status: 504,
    meaning:
      "Words of several VRF operators were to be joined, and one of them brought none within 300 seconds after the request had its confirmations, although others had.",
    remedy:
      "Ask whom the message names. Where it recurs, name other key hashes: who sees the others' words can refuse a draw, not choose one.",
  },
  overloaded: {
    status: 503,
    meaning:
      "The service has as much work as it can hold, can't run sources or reach its database at the moment, or is closing.",
    remedy: "Try again after the seconds in `Retry-After`.",
  },
  still_pending: {
    status: 504,
    meaning: "The result did not come within the wait limit; the request goes on.",
    remedy: "Read the result at `statusUrl`; it is kept.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Whether a code is one of the table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

/** Errors of layers below that callers are told under a code of the table: what is full or closed for us is overloaded for them. */
const TOLD_AS: Readonly<Record<string, ErrorCode>> = {
  sandbox_overloaded: "overloaded",
  sandbox_closed: "overloaded",
  transaction_refused: "chain_unavailable",
};

/** What somebody outside may know of an error. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly status: number;
  /** The error's own message where it may leave the server, else the table's sentence. */
  readonly message: string;
  readonly error: TycheError;
}

/**
 * Returns what may be told of anything thrown; `undefined` for a defect of ours. The message is the error's own only where the error says
 * that it may leave the server, and was thrown under the code that is told: words of another code may speak of what callers know nothing of.
 */
export function findToldError(thrown: unknown): ToldError | undefined {
  if (!(thrown instanceof TycheError)) return undefined;
  const told = Object.hasOwn(TOLD_AS, thrown.code) ? TOLD_AS[thrown.code] : thrown.code;
  if (told === undefined || !isErrorCode(told) || told === "internal") return undefined;
  const { status, meaning } = ERROR_TABLE[told];
  const isOwn = thrown.expose && told === thrown.code;
  return { code: told, status, message: isOwn ? thrown.message : meaning, error: thrown };
}
