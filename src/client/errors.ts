/** A parameter and what is wrong with it. */
export interface Violation {
  /** JSON Pointer to the parameter; empty if no single parameter is at fault. */
  readonly path: string;
  readonly message: string;
}

/** The contents of an error response. */
export interface ApiErrorFacts {
  readonly code: string;
  /** HTTP status; 0 for a request's failure that an event stream reported. */
  readonly status: number;
  /** The response's `data` member. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Base class of every error the client throws, except the reason of an aborted signal. Branch on the class or on `code`.
 */
export class TycheClientError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** A `baseUrl` that can't be called, a value that no header can carry, such as a key with a letter outside ASCII, or an empty secret. Nothing was sent. */
export class InvalidOptionError extends TycheClientError {
  constructor(message: string) {
    super("invalid_option", message);
  }
}

/** A message was not sent by whoever has the webhook's secret, or not just now. Answer it with 400. */
export class WebhookVerificationError extends TycheClientError {
  constructor(message: string) {
    super("webhook_unverified", message);
  }
}

/** The service is unreachable, or whatever answers at its address is not Tyche. Thrown once all retries are used up. */
export class ConnectionError extends TycheClientError {
  constructor(message: string, cause?: unknown) {
    super("connection_failed", message, cause);
  }
}

/** An answer, or an event of a stream, is larger than the client reads. The rest is not read, and the call is not repeated. */
export class AnswerTooLargeError extends TycheClientError {
  constructor(limit: string) {
    super(
      "answer_too_large",
      `the answer is larger than ${limit}: ask for a shorter list, or check the service's URL`,
    );
  }
}

/** The call did not finish within `timeoutMs`. The request it made continues: look it up with `GET /api/requests`. */
export class TimeoutError extends TycheClientError {
  /** Id of the request, if it is known by then. */
  readonly id: string | undefined;

  constructor(timeoutMs: number, id?: string) {
    super("timeout", `the call did not end within ${timeoutMs} ms`);
    this.id = id;
  }
}

/** An error that the service returned, or that ended a request. Each code has its own subclass. */
export class ApiError extends TycheClientError {
  readonly status: number;
  /** Every violation, for `invalid_parameter`; the details behind the message, for `function_failed`. */
  readonly details: readonly Violation[];
  /** Id of the request, if there is one. */
  readonly id: string | undefined;
  /** Id by which the operator finds this call in the log, for `internal`. */
  readonly correlationId: string | undefined;
  /** How long the service asks callers to wait before the next call, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor({ code, status, data, retryAfterMs }: ApiErrorFacts) {
    super(code, typeof data["err"] === "string" ? data["err"] : `the service answered ${code}`);
    this.status = status;
    this.details = Array.isArray(data["details"]) ? data["details"].filter(isViolation) : [];
    this.id = findText(data["id"]);
    this.correlationId = findText(data["correlationId"]);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The source failed in the dry run; no transaction was sent. */
export class FunctionFailedError extends ApiError {
  /** Output that the source wrote with `console`. */
  readonly console: string;
  /** Whether it wrote more than that. */
  readonly consoleTruncated: boolean;
  /** Duration of the run in milliseconds, as far as it was measured. */
  readonly timeMs: number | undefined;
  /** Heap in use at the end of the run, in bytes. */
  readonly memoryBytes: number | undefined;
  /** HTTP requests that the source made. */
  readonly httpRequests: number | undefined;
  /** Line and column in the source where it threw, starting at 1. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Page of the application that shows the dry run to whoever may see the dapp's requests; `undefined` where it became a request. */
  readonly dryRunUrl: string | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts);
    const { console, consoleTruncated, timeMs, memoryBytes, httpRequests, line, column, dryRunUrl } =
      facts.data;
    this.console = typeof console === "string" ? console : "";
    this.consoleTruncated = consoleTruncated === true;
    this.timeMs = findNumber(timeMs);
    this.memoryBytes = findNumber(memoryBytes);
    this.httpRequests = findNumber(httpRequests);
    this.line = findPosition(line);
    this.column = findPosition(column);
    this.dryRunUrl = findText(dryRunUrl);
  }
}

function findText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function findNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function findPosition(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

function isViolation(value: unknown): value is Violation {
  const { path, message } = (value ?? {}) as Partial<Record<keyof Violation, unknown>>;
  return typeof path === "string" && typeof message === "string";
}
