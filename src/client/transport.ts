import {
  ApiError,
  ConnectionError,
  InvalidOptionError,
  AnswerTooLargeError,
  type ApiErrorFacts,
} from "./errors.ts";
import { ERROR_CLASSES } from "./errorClasses.ts";
import { within, type CallOptions } from "./limits.ts";

/** How to reach a service. */
export interface ConnectionOptions {
  /** The service's `http` or `https` URL, such as `http://127.0.0.1:3000`, without credentials, query or fragment. */
  readonly baseUrl: string;
  /** Default: the platform's own `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Maximum retries of a call that did not reach the service or was deferred by it. Default 8, about half a minute in all; 4, which take
   * less than 5 seconds, as long as nothing has ever answered at the address.
   */
  readonly retries?: number;
  /** Delay before the first retry in milliseconds; doubles with each retry. Default 250. */
  readonly retryDelayMs?: number;
}

/** How calls are sent. */
export interface TransportOptions extends Required<ConnectionOptions> {
  /** Empty for calls that need no key. */
  readonly apiKey: string;
  /** The dapp that an operator acts for. */
  readonly dappId?: string | undefined;
  /** Maximum retries as long as nothing has answered any call: the address is more likely wrong than the service down. */
  readonly firstRetries: number;
  /** Longest time after the start of such a call at which it is still retried. */
  readonly firstContactMs: number;
  /** Longest time one HTTP exchange may take or a stream may stay silent. */
  readonly attemptTimeoutMs: number;
}

/** An API call. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Members that are `undefined` are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether repeating the call would do its work twice; such a call is not resent once the service may have received it.
   * Default false.
   */
  readonly isOnce?: boolean;
}

/** Sends calls and reads their responses. */
export interface Transport {
  /**
   * Returns a response with a status below 400. Resends a call that did not reach the service, or that the service deferred. A
   * call that has no idempotency key and must not be repeated sets `isOnce`; it is resent only if the service deferred it.
   *
   * @throws {ApiError} the service's error response, {@link ConnectionError}, {@link AnswerTooLargeError}, or the reason of the caller's
   * signal.
   */
  send(call: Call): Promise<Answer>;
  /** Same as {@link send}, but returns the body of a response that is plain text instead of JSON. */
  sendForText(call: Call): Promise<string>;
  /** Same as {@link send}, but returns the id of the request that the response is about as soon as the response begins. */
  sendForId(call: Call): Promise<string>;
  /** Opens a stream, without retries. Aborts it after a silence of `attemptTimeoutMs`. */
  open(call: Call): Promise<OpenStream>;
  /** Waits before the retry with this number, counted from 0. Throws `error` if the call must not be retried. */
  backOff(error: unknown, retry: number, signal: AbortSignal | undefined): Promise<void>;
}

/** A response with a status below 400. */
export interface Answer {
  /** The body's `data` member. */
  readonly data: object;
  /** Id of the request that the response is about, if any. */
  readonly id?: string;
}

/** An open event stream. */
export interface OpenStream {
  /** `null` if the service has nothing more to say (204). */
  readonly body: ReadableStream<Uint8Array> | null;
  /** The reader calls this whenever bytes arrive. */
  readonly touch: () => void;
  /** The reader calls this when it stops reading. */
  readonly end: () => void;
}

/** Longest HTTP exchange, and longest silence of a stream; the service sends something every 15 s. */
const ATTEMPT_TIMEOUT_MS = 60_000;
const MAX_DELAY_MS = 8_000;
/** An address that drops packets fails each attempt only after the platform's own timeout. */
const FIRST_CONTACT_MS = 4_000;
/** A call is not retried if the service asks for a longer wait than this. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Codes of calls that changed nothing and may succeed later. */
const PUT_OFF = new Set(["rate_limited", "overloaded", "request_timeout", "chain_unavailable"]);

/** Fills in the defaults for options that the caller left out. Throws {@link InvalidOptionError} for a `baseUrl` that can't be called. */
export function fillOptions(options: ConnectionOptions): Omit<TransportOptions, "apiKey"> {
  assertBaseUrl(options.baseUrl);
  return {
    baseUrl: options.baseUrl.replace(/\/*$/, ""),
    fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
    retries: options.retries ?? 8,
    firstRetries: options.retries ?? 4,
    firstContactMs: options.retries === undefined ? FIRST_CONTACT_MS : Infinity,
    retryDelayMs: options.retryDelayMs ?? 250,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  };
}

/** Whether a text is an address that calls can be sent to: `http` or `https`, without credentials, query or fragment. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}

/** A program without types gets here with an unset environment variable, or an address without its scheme. */
function assertBaseUrl(baseUrl: unknown): void {
  if (typeof baseUrl === "string" && isBaseUrl(baseUrl)) return;
  const given =
    typeof baseUrl === "string" ? JSON.stringify(baseUrl.replace(/\/\/.*@/, "//…@")) : String(baseUrl);
  throw new InvalidOptionError(
    `baseUrl is ${given}; expected the service's http or https URL, such as "http://127.0.0.1:3000"`,
  );
}

export function createTransport(options: TransportOptions): Transport {
  const { retries, firstRetries, firstContactMs, retryDelayMs, attemptTimeoutMs } = options;
  let hasAnswered = false;

  const attempt = async (call: Call, silence: AbortController): Promise<Response> => {
    const { method, path, query = {}, body, headers, signal } = call;
    const url = new URL(options.baseUrl + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const signals = signal === undefined ? [silence.signal] : [signal, silence.signal];
    const sent = {
      // A program without types may pass an environment variable that isn't set.
      ...(options.apiKey ? { authorization: options.apiKey } : {}),
      ...(options.dappId === undefined ? {} : { "tyche-dapp": options.dappId }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    };
    assertHeaders(sent);
    try {
      const response = await options.fetch(url, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body: JSON.stringify(body, writeBigInt) }),
        signal: AbortSignal.any(signals),
      });
      hasAnswered = true;
      return response;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new ConnectionError(`${url.origin} can't be reached`, cause);
    }
  };

  const sendOnce = async <Result>(call: Call, read: Read<Result>): Promise<Result> => {
    const silence = createSilence(attemptTimeoutMs);
    try {
      return await read(await attempt(call, silence.controller), call.signal);
    } finally {
      silence.end();
    }
  };
  const sendAndRead = async <Result>(call: Call, read: Read<Result>): Promise<Result> => {
    const startedAt = performance.now();
    for (let retry = 0; ; retry += 1) {
      try {
        return await sendOnce(call, read);
      } catch (error) {
        if (call.isOnce === true && error instanceof ConnectionError) throw error;
        if (!hasAnswered && performance.now() - startedAt > firstContactMs) throw error;
        await transport.backOff(error, retry, call.signal);
      }
    }
  };

  const transport: Transport = {
    send: (call) => sendAndRead(call, readAnswer),
    sendForText: (call) => sendAndRead(call, readText),
    sendForId: (call) => sendAndRead(call, readId),
    async open(call) {
      const silence = createSilence(attemptTimeoutMs);
      try {
        const response = await attempt(call, silence.controller);
        if (!response.ok) return (await readData(response, call.signal)) as never;
        return { body: response.body, touch: silence.touch, end: silence.end };
      } catch (error) {
        silence.end();
        throw error;
      }
    },
    async backOff(error, retry, signal) {
      const isPutOff = error instanceof ApiError && PUT_OFF.has(error.code) && error.id === undefined;
      if (retry >= (hasAnswered ? retries : firstRetries) || !(isPutOff || error instanceof ConnectionError))
        throw error;
      const asked = isPutOff ? error.retryAfterMs : undefined;
      if (asked !== undefined && asked > MAX_RETRY_AFTER_MS) throw error;
      const longest = Math.min(retryDelayMs * 2 ** retry, MAX_DELAY_MS);
      // Spreads out clients that were refused at the same time, so that they don't return at the same time.
      await sleep((asked ?? 0) + longest * (0.5 + Math.random() / 2), signal);
    },
  };
  return transport;
}

/** Creates what makes calls within the limits of their caller, and returns the answers' `data`, or the items of a list. */
export function createCalls(transport: Pick<Transport, "send">) {
  const send = <Data>(call: Omit<Call, "signal">, options: CallOptions = {}): Promise<Data> =>
    within(options, async (signal) => (await transport.send({ ...call, signal })).data as Data);
  const get = <Data>(path: string, options?: CallOptions, query: object = {}): Promise<Data> =>
    send({ method: "GET", path, query: { ...query } }, options);
  const getItems = async <Item>(
    path: string,
    options?: CallOptions,
    query?: object,
  ): Promise<readonly Item[]> => (await get<{ readonly items: readonly Item[] }>(path, options, query)).items;
  return { send, get, getItems };
}

/** Throws {@link InvalidOptionError} for a value that no header can carry; `fetch` would throw one that looks like a lost connection. */
function assertHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers))
    if (!/^[\t\x20-\x7e]*$/.test(value.trim()))
      throw new InvalidOptionError(
        `the ${name} header has a character that can't be sent: use visible ASCII characters`,
      );
}

/** Aborts an exchange after this long without activity. */
function createSilence(timeoutMs: number) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const end = (): void => clearTimeout(timer);
  const touch = (): void => {
    end();
    timer = setTimeout(() => controller.abort(), timeoutMs);
  };
  touch();
  return { controller, touch, end };
}

/** Reads a response. Throws {@link ConnectionError} if it is incomplete. */
type Read<Result> = (response: Response, signal: AbortSignal | undefined) => Promise<Result>;

async function readAnswer(response: Response, signal: AbortSignal | undefined): Promise<Answer> {
  const data = await readData(response, signal);
  const id = response.headers.get("tyche-request-id");
  return { data, ...(id === null ? {} : { id }) };
}

async function readId(response: Response, signal: AbortSignal | undefined): Promise<string> {
  const id = response.headers.get("tyche-request-id");
  if (!response.ok || id === null) {
    await readData(response, signal);
    throw new ConnectionError(`the answer with status ${response.status} names no request`);
  }
  await response.body?.cancel().catch(() => {});
  return id;
}

async function readText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  if (!response.ok) await readData(response, signal);
  return readBody(response, signal);
}

async function readData(response: Response, signal: AbortSignal | undefined): Promise<object> {
  const { status, headers } = response;
  const text = await readBody(response, signal);
  let data: unknown;
  try {
    data = (JSON.parse(text) as { data?: unknown } | null)?.data;
  } catch (cause) {
    throw new ConnectionError(`the answer with status ${status} is not JSON`, cause);
  }
  if (typeof data !== "object" || data === null)
    throw new ConnectionError(`the answer with status ${status} is not Tyche's: it has no data`);
  if (response.ok) return data;
  const facts = data as Readonly<Record<string, unknown>>;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  throw createApiError({
    code: typeof facts["code"] === "string" ? facts["code"] : `http_${status}`,
    status,
    data: facts,
    ...(seconds >= 0 && Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

/** Creates the error for a response, in the class of its code. */
export function createApiError(facts: ApiErrorFacts): ApiError {
  const Class = Object.hasOwn(ERROR_CLASSES, facts.code) ? ERROR_CLASSES[facts.code]! : ApiError;
  return new Class(facts);
}

function writeBigInt(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

/** Largest answer, decompressed: a page of 100 requests whose parameters take all of a body's 262,144 bytes has 26 MB. */
const MAX_ANSWER_BYTES = 32_000_000;

/**
 * Reads the whole body of a response as text.
 *
 * @throws {AnswerTooLargeError} as soon as more than 32,000,000 bytes have arrived; {@link ConnectionError} if the body is incomplete.
 */
async function readBody(response: Response, signal: AbortSignal | undefined): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLargeError(`${MAX_ANSWER_BYTES} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    await reader.cancel().catch(() => {});
    signal?.throwIfAborted();
    if (error instanceof AnswerTooLargeError) throw error;
    throw new ConnectionError(`the answer with status ${response.status} is incomplete`, error);
  }
}
