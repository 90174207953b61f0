import { TycheError } from "../lib/errors.ts";

/** The HTTP status of an error code, and its meaning and remedy for readers. */
export interface ErrorEntry {
  readonly status: number;
  /** What happened, in one sentence; used as the answer's `err` if the error's own message may not leave the server. */
  readonly meaning: string;
  /** What the caller can do. */
  readonly remedy: string;
}

/**
 * Every error code of the API; the only place that assigns a status to it. `docs/errors.md` lists the same codes, and a test compares
 * them.
 *
 * An error whose code is not listed here is `internal`: its answer contains only a correlation id.
 */
export const ERROR_TABLE = {
  invalid_parameter: {
    status: 400,
    meaning: "One or more parameters are invalid.",
    remedy: "Correct what `details` lists; it has every violation. Nothing was sent to a chain.",
  },
  malformed_json: {
    status: 400,
    meaning: "The body is not JSON in UTF-8, or repeats a member.",
    remedy: "Correct the body at the line and column that the message names.",
  },
  malformed_http: {
    status: 400,
    meaning: "The request is not valid HTTP.",
    remedy: "Send a valid HTTP/1.1 request; check Content-Length and the other headers.",
  },
  unauthenticated: {
    status: 401,
    meaning: "No API key was sent, or the key is unknown or revoked; `err` says which.",
    remedy: "Send `Authorization: <API key>`, with a key of the dapp's tab Keys.",
  },
  key_expired: {
    status: 401,
    meaning:
      "The API key has expired, or is the former value of one that was rotated; `err` says since when.",
    remedy: "Send the key's new value, or have an owner of the dapp let the key expire later.",
  },
  forbidden: {
    status: 403,
    meaning:
      "The dapp of this key lacks the facility, the key may only read, the operation needs the operator token, or your role doesn't allow it.",
    remedy:
      "Use a key of a dapp that has the facility, one with full access, or the operator token, or ask an owner of the dapp.",
  },
  sign_in_refused: {
    status: 403,
    meaning: "The credentials for signing in to the application are wrong.",
    remedy:
      "Use your passkey, ask for a new invitation, or enter the operator token: the content of `operator-token` in the data directory.",
  },
  form_refused: {
    status: 403,
    meaning: "A sign-in call did not come from one of the application's own pages.",
    remedy: "Sign in at the service's own address.",
  },
  origin_not_allowed: {
    status: 403,
    meaning: "The server listens on a loopback address, and a page of another site called it without a key.",
    remedy: "Call from a page of this machine, or have the operator list the page's host in `TYCHE_HOSTS`.",
  },
  not_found: {
    status: 404,
    meaning: "Nothing exists at this path, or this key may not see it.",
    remedy: "Check the path and the identifier, and that the key belongs to the dapp that made the request.",
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
  name_taken: {
    status: 409,
    meaning: "Another dapp has this name; upper and lower case are the same.",
    remedy: "Choose another name.",
  },
  label_taken: {
    status: 409,
    meaning: "Another request has the label, and one of the two says `once`. `id` is that request's.",
    remedy: "Look at that request's result, or choose another label.",
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
    meaning: "The Expect header asks for something other than 100-continue.",
    remedy: "Leave the header out.",
  },
  secrets_unreadable: {
    status: 422,
    meaning: "The secrets that the call names can't be opened.",
    remedy: "Set the secret again, with the network's current key if you encrypt it yourself.",
  },
  function_failed: {
    status: 422,
    meaning:
      "The source failed in the dry run; no transaction was sent. With status 200, it failed on the oracle network, and `url` has the transaction.",
    remedy:
      "Correct the source: `err`, `details`, `console`, `line` and `column` say what failed and where, and `dryRunUrl` is the page that shows it. Try it with `simulate`.",
  },
  rate_limited: {
    status: 429,
    meaning: "The key has exceeded its request limit, or has too many calls in progress.",
    remedy: "Wait for the seconds in `Retry-After`; the `RateLimit` headers say how much is left.",
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
    remedy: "Give the operator the `correlationId`, which finds the details in the log.",
  },
  chain_unavailable: {
    status: 502,
    meaning: "The network can't be reached or doesn't answer properly.",
    remedy: "Try again later; `GET /readyz` says which networks are being served.",
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
      "The oracle network gave no result within the time that its contracts allow (300 seconds), no random words within 300 seconds after the request had its confirmations, or no result of a preset within 300 seconds after its word. Only time in which the service sees the network counts.",
    remedy:
      "Send the request again later: this one has ended, and the LINK reserved for a function is back on the subscription.",
  },
  word_withheld: {
    status: 504,
    meaning:
      "The request joins words of several VRF operators, and one of them delivered none within 300 seconds after the request had its confirmations, although others did.",
    remedy:
      "Ask the operator that the message names. If it recurs, use other key hashes: an operator that sees the others' words can refuse a draw, but not choose one.",
  },
  beacon_late: {
    status: 504,
    meaning:
      "No relay had the round of drand that a preset or function waits for within 24 hours, or until the function was timed out on chain. No other round is ever taken. From a minute after the round's time, `why` says that no relay has it, and what each said; the request continues.",
    remedy:
      "Wait, and look at `why`; or hand in the round's signature, from wherever you have it: `tyche beacon ROUND SIGNATURE`, or `PUT /beacon/{chainHash}/public/{round}`. Once a relay has the round, or anybody has handed it in, the oracle answers a preset on chain, even after the request has ended; `verify` checks that answer.",
  },
  beacon_missed: {
    status: 503,
    meaning:
      "The round that a preset or function waits for was due before its request could be sent, such as after an outage of the chain. Where nothing was sent, its label is free; the message says so.",
    remedy: "Make a new request, without the Idempotency-Key of this one: it waits for a round to come.",
  },
  overloaded: {
    status: 503,
    meaning:
      "The service is at capacity, can't currently run sources or reach its database, or is shutting down.",
    remedy: "Try again after the seconds in `Retry-After`.",
  },
  still_pending: {
    status: 504,
    meaning: "The result did not arrive within the wait limit; the request continues.",
    remedy: "Read the result at `statusUrl`, where it is kept.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Whether the table has a code. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code);
}

/** Codes of lower layers that callers see as a code of the table: what is full or closed for us is overloaded for them. */
const TOLD_AS: Readonly<Record<string, ErrorCode>> = {
  sandbox_overloaded: "overloaded",
  sandbox_closed: "overloaded",
  transaction_refused: "chain_unavailable",
};

/** What outsiders may know of an error. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly status: number;
  /** The error's own message if it may leave the server, otherwise the table's sentence. */
  readonly message: string;
  readonly error: TycheError;
}

/**
 * Returns what callers may be told about anything thrown; `undefined` for a defect of ours. The message is the error's own only if the
 * error allows it to leave the server and its code is reported unchanged: the message behind a translated code may mention internals that
 * callers don't know.
 */
export function findToldError(thrown: unknown): ToldError | undefined {
  if (!(thrown instanceof TycheError)) return undefined;
  const told = Object.hasOwn(TOLD_AS, thrown.code) ? TOLD_AS[thrown.code] : thrown.code;
  if (told === undefined || !isErrorCode(told) || told === "internal") return undefined;
  const { status, meaning } = ERROR_TABLE[told];
  const isOwn = thrown.expose && told === thrown.code;
  return { code: told, status, message: isOwn ? thrown.message : meaning, error: thrown };
}
