import type { FetchLimits } from "./requestBudget.ts";

/**
 * Why a guarded fetch gave no response. `refused` covers everything that the guard stops before it opens a
 * socket (address, host, port, scheme, credentials, header); the `…Limit` kinds are the run's own limits.
 */
export type FetchFailureKind =
  | "invalid"
  | "refused"
  | "missingUrl"
  | "requestCountLimit"
  | "urlLengthLimit"
  | "requestSizeLimit"
  | "responseSizeLimit"
  | "timeLimit"
  | "redirect"
  | "network"
  | "aborted";

/** A failed guarded fetch. A normal outcome of a run, so it is data and is never thrown out of the module. */
export interface FetchFailure {
  readonly kind: FetchFailureKind;
  /** The text of Deno's own `fetch` if it has one for the case (it throws a `TypeError` with it). */
  readonly message: string;
  /** What went wrong and what to do, for the source's author; never a local address or a path. */
  readonly hint: string;
}

/** Thrown inside the module only; callers get a {@link FetchFailure}. */
export class FetchFailureError extends Error {
  readonly failure: FetchFailure;

  constructor(kind: FetchFailureKind, message: string, hint: string = message) {
    super(message);
    this.name = "FetchFailureError";
    this.failure = { kind, message, hint };
  }
}

/** The response that a source sees in place of a failure: a status and JSON text with one member, `error`. */
export interface FailureResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/**
 * Returns the response that the nodes' `fetch` resolves to when a request fails: there, requests pass through
 * a proxy that answers for the target, so `fetch` doesn't reject.
 * Source: `handleProxyRequest` in functions-toolkit 0.3.2, `simulateScript/deno-sandbox/sandbox.ts`.
 */
export function responseForFailure(failure: FetchFailure, limits: FetchLimits): FailureResponse {
  const [status, statusText, error] = failureAnswer(failure.kind, limits);
  const body = new TextEncoder().encode(JSON.stringify({ error }));
  const headers = [
    ["content-length", String(body.length)],
    ["content-type", "text/plain;charset=UTF-8"],
    ["vary", "Accept-Encoding"],
  ] as const;
  return { status, statusText, headers, body };
}

function failureAnswer(kind: FetchFailureKind, limits: FetchLimits): readonly [number, string, string] {
  switch (kind) {
    case "requestCountLimit":
      return [429, "Too Many Requests", `Exceeded maximum of ${limits.maxHttpRequests} HTTP queries`];
    case "missingUrl":
      return [400, "Bad Request", "Missing target URL parameter"];
    case "urlLengthLimit":
      return [414, "URI Too Long", `Destination URL exceeds maximum length of ${limits.maxHttpUrlLength}`];
    case "requestSizeLimit":
      return [
        413,
        "Payload Too Large",
        `Request payload size exceeds ${limits.maxHttpRequestBytes} byte limit`,
      ];
    case "responseSizeLimit":
      return [
        413,
        "Payload Too Large",
        `Response payload size exceeds ${limits.maxHttpResponseBytes} byte limit`,
      ];
    case "timeLimit":
      return [400, "Bad Request", `HTTP query exceeded time limit of ${limits.maxHttpDurationMs}ms`];
    default:
      return [400, "Bad Request", "Error during fetch request"];
  }
}
