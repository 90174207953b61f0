// Written by `npm run types` from the table of the error codes.
import { ApiError, FunctionFailedError, type ApiErrorFacts } from "./errors.ts";

/** One or more parameters are invalid. */
export class InvalidParameterError extends ApiError {}

/** The body is not JSON in UTF-8, or repeats a member. */
export class MalformedJsonError extends ApiError {}

/** The request is not valid HTTP. */
export class MalformedHttpError extends ApiError {}

/** No API key was sent, or the key is unknown or revoked; `err` says which. */
export class UnauthenticatedError extends ApiError {}

/** The API key has expired, or is the former value of one that was rotated; `err` says since when. */
export class KeyExpiredError extends ApiError {}

/** The dapp of this key lacks the facility, the key may only read, the operation needs the operator token, or your role doesn't allow it. */
export class ForbiddenError extends ApiError {}

/** The server listens on a loopback address, and a page of another site called it without a key. */
export class OriginNotAllowedError extends ApiError {}

/** Nothing exists at this path, or this key may not see it. */
export class NotFoundError extends ApiError {}

/** The path exists, but not with this method. */
export class MethodNotAllowedError extends ApiError {}

/** The request did not arrive in time. */
export class RequestTimeoutError extends ApiError {}

/** The Idempotency-Key was used before with other parameters. */
export class IdempotencyConflictError extends ApiError {}

/** Another dapp has this name; upper and lower case are the same. */
export class NameTakenError extends ApiError {}

/** Another request has the label, and one of the two says `once`. `id` is that request's. */
export class LabelTakenError extends ApiError {}

/** The subscription has as many consumers as the network allows. */
export class TooManyConsumersError extends ApiError {}

/** The body is larger than the limit. */
export class BodyTooLargeError extends ApiError {}

/** The body is not plain application/json in UTF-8. */
export class UnsupportedMediaTypeError extends ApiError {}

/** The secrets that the call names can't be opened. */
export class SecretsUnreadableError extends ApiError {}

/** The key has exceeded its request limit, or has too many calls in progress. */
export class RateLimitedError extends ApiError {}

/** The server listens on a loopback address and does not answer to the name in the Host header. */
export class HostNotAllowedError extends ApiError {}

/** The request line and headers are larger than 16 KiB. */
export class HeadersTooLargeError extends ApiError {}

/** Something failed on our side. */
export class InternalError extends ApiError {}

/** The network can't be reached or doesn't answer properly. */
export class ChainUnavailableError extends ApiError {}

/** The request ended on chain without a result: a transaction or callback reverted, or the chain was replaced. */
export class RequestFailedError extends ApiError {}

/** The oracle network gave no result within the time that its contracts allow (300 seconds), no random words within 300 seconds after the request had its confirmations, or no result of a preset within 300 seconds after its word. Only time in which the service sees the network counts. */
export class OracleTimeoutError extends ApiError {}

/** The request joins words of several VRF operators, and one of them delivered none within 300 seconds after the request had its confirmations, although others did. */
export class WordWithheldError extends ApiError {}

/** No relay had the round of drand that a preset or function waits for within 24 hours, or until the function was timed out on chain. No other round is ever taken. From a minute after the round's time, `why` says that no relay has it, and what each said; the request continues. */
export class BeaconLateError extends ApiError {}

/** The round that a preset or function waits for was due before its request could be sent, such as after an outage of the chain. Where nothing was sent, its label is free; the message says so. */
export class BeaconMissedError extends ApiError {}

/** The service is at capacity, can't currently run sources or reach its database, or is shutting down. */
export class OverloadedError extends ApiError {}

/** The result did not arrive within the wait limit; the request continues. */
export class StillPendingError extends ApiError {}

/** The class for each code that an API caller can meet. Codes of newer services become a plain {@link ApiError}. */
export const ERROR_CLASSES: Readonly<Record<string, new (facts: ApiErrorFacts) => ApiError>> = {
  invalid_parameter: InvalidParameterError,
  malformed_json: MalformedJsonError,
  malformed_http: MalformedHttpError,
  unauthenticated: UnauthenticatedError,
  key_expired: KeyExpiredError,
  forbidden: ForbiddenError,
  origin_not_allowed: OriginNotAllowedError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  request_timeout: RequestTimeoutError,
  idempotency_conflict: IdempotencyConflictError,
  name_taken: NameTakenError,
  label_taken: LabelTakenError,
  too_many_consumers: TooManyConsumersError,
  body_too_large: BodyTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  secrets_unreadable: SecretsUnreadableError,
  function_failed: FunctionFailedError,
  rate_limited: RateLimitedError,
  host_not_allowed: HostNotAllowedError,
  headers_too_large: HeadersTooLargeError,
  internal: InternalError,
  chain_unavailable: ChainUnavailableError,
  request_failed: RequestFailedError,
  oracle_timeout: OracleTimeoutError,
  word_withheld: WordWithheldError,
  beacon_late: BeaconLateError,
  beacon_missed: BeaconMissedError,
  overloaded: OverloadedError,
  still_pending: StillPendingError,
};
