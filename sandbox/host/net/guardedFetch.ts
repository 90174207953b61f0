import { STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import type { Dispatcher } from "undici";
import {
  withoutBodyHeaders,
  withoutCredentials,
  outgoingHeaders,
  type HeaderList,
} from "./requestHeaders.ts";
import { messageOf } from "../sandboxError.ts";
import { createOneOffClients, createSharedClients, type Clients, type ClientSettings } from "./clients.ts";
import { FetchFailureError, type FetchFailure } from "./fetchFailure.ts";
import { createHostPolicy, hostOf, portOf } from "./hostPolicy.ts";
import type { RequestBudget } from "./requestBudget.ts";
import type { Resolver } from "./resolver.ts";

/** A request as a source makes it. */
export interface FetchRequest {
  /** Absolute http or https URL, as the source wrote it. */
  readonly url: string;
  /** Default `GET`. `CONNECT`, `TRACE` and `TRACK` are refused, as in every fetch. */
  readonly method?: string;
  readonly headers?: HeaderList;
  readonly body?: Uint8Array | null;
  /** Default `follow`, at most 20 times. */
  readonly redirect?: "follow" | "error" | "manual";
}

/** A response, read completely. */
export interface FetchedResponse {
  readonly status: number;
  /** The status code's registered phrase, or empty; as in Deno, the server's own phrase is ignored. */
  readonly statusText: string;
  /** Lower-case names in the server's order; repeated names stay separate. */
  readonly headers: HeaderList;
  /** Final URL without fragment. */
  readonly url: string;
  readonly redirected: boolean;
  /** Decoded bytes; empty if the response has no body. */
  readonly body: Uint8Array;
}

export type FetchOutcome =
  | { readonly ok: true; readonly response: FetchedResponse }
  | { readonly ok: false; readonly failure: FetchFailure };

export interface FetchContext {
  /** The run's allowance; its limits hold for this request. */
  readonly budget: RequestBudget;
  /** Aborts the request when the run ends. */
  readonly signal?: AbortSignal;
  /** Says why a request of the run may not be made, asked for each redirect too. Default: it may. */
  readonly refuse?:
    | ((
        request: Pick<Hop, "url" | "method" | "headers" | "body"> & { readonly isAdmitted: boolean },
      ) => string | undefined)
    | undefined;
}

export interface GuardedFetch {
  /** Serves one request. Never rejects: whatever goes wrong is a {@link FetchFailure}. */
  fetch(request: FetchRequest, context: FetchContext): Promise<FetchOutcome>;
  /**
   * Returns a fetch whose requests share connections and name lookups, for one task of one caller.
   * @param signal Ends it and closes its connections.
   */
  share(signal: AbortSignal): Pick<GuardedFetch, "fetch">;
}

export interface GuardedFetchOptions {
  /** Non-public hosts that may be reached anyway; see {@link createHostPolicy}. Default none. */
  readonly allowHosts?: readonly string[];
  /** Default {@link createPublicResolver}, and {@link systemResolver} for allowed hosts. */
  readonly resolve?: Resolver;
  /** Extra certificate authorities (PEM). Default none. */
  readonly ca?: readonly string[];
  /** Sent if the source sets none. Default `Deno/2.9.6`, which servers that check it recognize. */
  readonly userAgent?: string;
}

/**
 * Creates the fetch that serves the sources' requests from outside the isolate. It reaches only public http and https
 * hosts, and checks every redirect like a first request. Each request of a source has connections of its own, closed
 * when it ends. There are no cookies, no cache and no proxy from the environment, so nothing passes from one caller to
 * another.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { resolve, ca, userAgent = "Deno/2.9.6" } = options;
  const policy = createHostPolicy(options.allowHosts);
  const connecting: ClientSettings = { policy, resolve, ca };
  const over = (clients: Clients) => createFetch({ policy, clients, userAgent });
  return {
    fetch: over(createOneOffClients(connecting)),
    share: (signal) => ({ fetch: over(createSharedClients(connecting, signal)) }),
  };
}

function createFetch(settings: Settings): GuardedFetch["fetch"] {
  return async (request, { budget, signal, refuse }) => {
    const time = AbortSignal.timeout(budget.limits.maxHttpDurationMs);
    const either = signal === undefined ? time : AbortSignal.any([time, signal]);
    try {
      const first = assertRequest(request, budget);
      return { ok: true, response: await follow(first, { ...settings, refuse }, budget, either) };
    } catch (error) {
      return {
        ok: false,
        failure: failureOf(error, { time, run: signal, timeoutMs: budget.limits.maxHttpDurationMs }),
      };
    }
  };
}

interface Settings {
  readonly policy: ClientSettings["policy"];
  readonly clients: Clients;
  readonly userAgent: string;
}

/** Checks in the order of the nodes' proxy: count, URL length, body size; then the request itself. */
function assertRequest(request: FetchRequest, budget: RequestBudget) {
  const { limits } = budget;
  if (!budget.take()) {
    throw new FetchFailureError(
      "requestCountLimit",
      `Exceeded maximum of ${limits.maxHttpRequests} HTTP queries`,
    );
  }
  if (request.url === "") throw new FetchFailureError("missingUrl", "Invalid URL: ''");
  if (request.url.length > limits.maxHttpUrlLength) {
    throw new FetchFailureError(
      "urlLengthLimit",
      `Destination URL exceeds maximum length of ${limits.maxHttpUrlLength}`,
    );
  }
  const body = request.body ?? null;
  if (body !== null && body.length > limits.maxHttpRequestBytes) {
    throw new FetchFailureError(
      "requestSizeLimit",
      `Request payload size exceeds ${limits.maxHttpRequestBytes} byte limit`,
    );
  }
  const method = assertMethod(request.method ?? "GET");
  if (body !== null && (method === "GET" || method === "HEAD")) {
    throw new FetchFailureError("invalid", "Request with GET/HEAD method cannot have body");
  }
  const url = URL.parse(request.url);
  if (url === null) throw new FetchFailureError("invalid", `Invalid URL: '${request.url}'`);
  return { url, method, headers: request.headers ?? [], body, redirect: request.redirect ?? "follow" };
}

function assertMethod(method: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method))
    throw new FetchFailureError("invalid", "Method is not valid");
  const upper = method.toUpperCase();
  if (["CONNECT", "TRACE", "TRACK"].includes(upper))
    throw new FetchFailureError("invalid", "Method is forbidden");
  return ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : method;
}

async function follow(
  first: Hop,
  settings: Settings & Pick<FetchContext, "refuse">,
  budget: RequestBudget,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    settings.policy.assertUrl(hop.url);
    const isAdmitted = settings.policy.isAllowed(hostOf(hop.url), portOf(hop.url));
    const reason = settings.refuse?.({ ...hop, isAdmitted });
    if (reason !== undefined) throw new FetchFailureError("refused", "fetch failed", `Refused: ${reason}.`);
    const answer = await send(hop, settings, budget.limits.maxHttpResponseBytes, signal);
    if (answer.next === null) return { ...answer.response, redirected: redirects > 0 };
    if (redirects === MAX_REDIRECTS) {
      throw new FetchFailureError(
        "redirect",
        `Fetch failed: Maximum number of redirects (${MAX_REDIRECTS}) reached`,
      );
    }
    hop = answer.next;
  }
}

type Answer =
  | { readonly next: Hop; readonly response?: never }
  | { readonly next: null; readonly response: Omit<FetchedResponse, "redirected"> };

async function send(
  hop: Hop,
  settings: Settings,
  maxResponseBytes: number,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = outgoingHeaders(hop.headers, settings.userAgent);
  signal.throwIfAborted();
  const { dispatcher, release } = await settings.clients(hop.url, { signal, maxBodyBytes: maxResponseBytes });
  let reply: Dispatcher.ResponseData | undefined;
  try {
    const { url, method, body } = hop;
    reply = await dispatcher.request({
      path: url.pathname + url.search,
      method,
      headers,
      body,
      signal,
      responseHeaders: "raw",
    });
    reply.body.on("error", () => undefined);
    const received = headerList(reply.headers as unknown as readonly (Buffer | string)[]);
    const next = nextHop(hop, reply.statusCode, valueOf(received, "location"));
    if (next !== null) return { next };
    const { href, hash } = url;
    return {
      next: null,
      response: {
        status: reply.statusCode,
        statusText: statusTextOf(reply.statusCode),
        headers: received,
        url: hash === "" ? href : href.slice(0, -hash.length),
        body: await readResponseBody(reply.body, valueOf(received, "content-encoding"), maxResponseBytes),
      },
    };
  } finally {
    // A body that was not read to its end, such as a redirect's, costs its connection.
    reply?.body.destroy();
    await release();
  }
}

/** Converts the names and values of a response. */
export function headerList(raw: readonly (Buffer | string)[]): HeaderList {
  const text = (part: Buffer | string | undefined): string =>
    typeof part === "string" ? part : (part ?? Buffer.alloc(0)).toString("latin1");
  const list: (readonly [string, string])[] = [];
  for (let i = 0; i < raw.length; i += 2) list.push([text(raw[i]).toLowerCase(), text(raw[i + 1]).trim()]);
  return list;
}

function valueOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key === name)?.[1];
}

// The phrases of Rust's `http` crate, which Deno uses, where they differ from Node's table.
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  203: "Non Authoritative Information",
  418: "I'm a teapot",
  509: "",
};

function statusTextOf(status: number): string {
  return STATUS_TEXTS[status] ?? STATUS_CODES[status] ?? "";
}

/** Describes what ended a request: the guard, its time, its run, or the network. */
export function failureOf(
  error: unknown,
  {
    time,
    run,
    timeoutMs,
  }: { readonly time: AbortSignal; readonly run: AbortSignal | undefined; readonly timeoutMs: number },
): FetchFailure {
  if (error instanceof FetchFailureError) return error.failure;
  if (run?.aborted === true) return new FetchFailureError("aborted", "The run has ended").failure;
  if (time.aborted)
    return new FetchFailureError("timeLimit", `HTTP query exceeded time limit of ${timeoutMs}ms`).failure;
  const cause = error instanceof Error && error.cause instanceof FetchFailureError ? error.cause : undefined;
  return (
    cause?.failure ??
    new FetchFailureError("network", "fetch failed", `The request failed: ${messageOf(error)}.`).failure
  );
}

/** A checked request to one URL of the redirect chain. */
type Hop = ReturnType<typeof assertRequest>;

/** As in Deno and the fetch standard. */
const MAX_REDIRECTS = 20;

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the request that a response redirects to, or `null` if the response is the answer itself. Source:
 * fetch standard, "HTTP-redirect fetch"; the messages are Deno's. Credentials stay with their origin (Deno
 * passes them on to a subdomain, the standard doesn't).
 *
 * @throws {FetchFailureError} `redirect`: mode `error`, or a location that is not an http or https URL.
 */
function nextHop(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!REDIRECT_STATUSES.has(status) || location === undefined || hop.redirect === "manual") return null;
  if (hop.redirect === "error") {
    throw new FetchFailureError(
      "redirect",
      "Fetch failed: Encountered redirect while redirect mode is set to 'error'",
    );
  }
  const url = URL.parse(location, hop.url);
  if (url === null)
    throw new FetchFailureError("redirect", `Invalid URL: '${location}' with base '${hop.url.href}'`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchFailureError("redirect", "Fetch failed: Can not redirect to a non HTTP(s) url");
  }
  const isSafe = hop.method === "GET" || hop.method === "HEAD";
  const dropsBody = status === 303 ? !isSafe : status <= 302 && hop.method === "POST";
  const headers = url.origin === hop.url.origin ? hop.headers : withoutCredentials(hop.headers);
  if (!dropsBody) return { ...hop, url, headers };
  return { ...hop, url, method: "GET", body: null, headers: withoutBodyHeaders(headers) };
}

/**
 * Reads a whole response body, decoded, and counts while it streams: the decoder is fed piece by piece and stopped at
 * the first byte past the limit, so a decompression bomb costs at most the limit. Bytes on the wire are counted
 * separately, because an endless series of empty gzip members decodes to nothing.
 *
 * Like Deno, it decodes only a single `gzip` or `br`; `deflate`, `zstd` and stacked encodings are passed through
 * undecoded.
 *
 * @param contentEncoding The response's `content-encoding`, absent or empty for none.
 * @throws {FetchFailureError} `responseSizeLimit`, or `network` if the encoding is broken or the body is cut short.
 */
async function readResponseBody(
  body: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const decoder = decoderOf(contentEncoding);
  if (decoder === null) return collect(body, maxBytes);
  let wireBytes = 0;
  body.on("data", (chunk: Buffer) => {
    wireBytes += chunk.length;
    if (wireBytes > maxBytes) decoder.destroy(tooLarge(maxBytes));
  });
  body.once("error", (error) => decoder.destroy(error));
  body.pipe(decoder);
  try {
    return await collect(decoder, maxBytes);
  } finally {
    body.unpipe(decoder);
    body.destroy();
  }
}

async function collect(stream: Readable, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function decoderOf(contentEncoding: string | undefined) {
  if (contentEncoding === "gzip") return createGunzip();
  return contentEncoding === "br" ? createBrotliDecompress() : null;
}

function tooLarge(maxBytes: number): FetchFailureError {
  const text = `Response payload size exceeds ${maxBytes} byte limit`;
  return new FetchFailureError("responseSizeLimit", text, `${text}; ask the server for less.`);
}
