import { type Body, FROM_NETWORK, createBodyTools } from "../fetch/body.ts";
import { readDataUrl } from "../fetch/dataUrl.ts";
import { Headers, fromList, listOf } from "../fetch/headers.ts";
import { type FetchCallResponse, packMessage, unpackMessage } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import {
  exposeInterface,
  exposeStatics,
  printGetters,
  requireArguments,
  toScalarString,
  toText,
} from "../webIdl.ts";

interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

interface ResponseFields {
  status: number;
  statusText: string;
  headers: Headers;
  url: string;
  redirected: boolean;
  type: string;
  body: Body | null;
}

const NULL_BODY_STATUS = [101, 204, 205, 304];
const NORMALISED = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

/** Fetch Standard: `Headers`, `Request`, `Response`, `fetch`; requests go through the host, which guards them. */
export default function fetchChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, hostCall } = internals;
  const tools = createBodyTools(internals);
  type UrlLike = { readonly href: string; username: string; password: string };
  const url = () => load("url") as { readonly URL: new (url: string, base?: string) => UrlLike };
  const events = () =>
    load("events") as {
      readonly AbortController: new () => { readonly signal: Signal; abort(reason?: unknown): void };
    };

  let requestFields: (request: Request) => {
    method: string;
    url: string;
    headers: Headers;
    body: Body | null;
    signal: Signal | undefined;
    redirect: string;
  };

  class Request {
    readonly #fields: ReturnType<typeof requestFields>;
    #signal: Signal | undefined;
    readonly #init: Record<string, unknown>;
    static {
      requestFields = (request) => request.#fields;
    }
    constructor(input: unknown, init: Record<string, unknown> | null = {}) {
      requireArguments(arguments.length, 1, "Failed to construct 'Request'");
      const options = init ?? {};
      this.#init = options;
      const from = input instanceof Request ? input.#fields : undefined;
      const href = from?.url ?? new (url().URL)(toScalarString(input)).href;
      let method = options["method"] === undefined ? (from?.method ?? "GET") : toText(options["method"]);
      if (options["method"] !== undefined) {
        if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError("Method is not valid");
        const upper = method.toUpperCase();
        if (["CONNECT", "TRACE", "TRACK"].includes(upper)) throw new TypeError("Method is forbidden");
        if (NORMALISED.includes(upper)) method = upper;
      }
      const headers = new Headers(options["headers"] ?? (from && listOf(from.headers)) ?? {});
      let body: Body | null = null;
      if (options["body"] !== undefined && options["body"] !== null) {
        if (method === "GET" || method === "HEAD")
          throw new TypeError("Request with GET/HEAD method cannot have body");
        const extracted = tools.extract(options["body"]);
        body = extracted.body;
        if (extracted.type !== undefined && !headers.has("content-type"))
          headers.set("Content-Type", extracted.type);
      } else if (from !== undefined && from.body !== null) {
        if (tools.isUsed(from.body)) throw new TypeError("Input request's body is unusable");
        body = { ...from.body };
        from.body.used = true;
      }
      const signal = (options["signal"] ?? from?.signal) as Signal | undefined;
      const redirect =
        options["redirect"] === undefined ? (from?.redirect ?? "follow") : toText(options["redirect"]);
      this.#fields = { method, url: href, headers, body, signal: signal ?? undefined, redirect };
    }
    get method(): string {
      return this.#fields.method;
    }
    get url(): string {
      return this.#fields.url;
    }
    get headers(): Headers {
      return this.#fields.headers;
    }
    get redirect(): string {
      return this.#fields.redirect;
    }
    get signal(): Signal {
      return (this.#signal ??= this.#fields.signal ?? new (events().AbortController)().signal);
    }
    get cache(): string {
      return toText(this.#init["cache"] ?? "default");
    }
    get credentials(): string {
      return toText(this.#init["credentials"] ?? "same-origin");
    }
    get integrity(): string {
      return toText(this.#init["integrity"] ?? "");
    }
    get keepalive(): boolean {
      return Boolean(this.#init["keepalive"]);
    }
    get mode(): string {
      return toText(this.#init["mode"] ?? "cors");
    }
    get referrer(): string {
      return toText(this.#init["referrer"] ?? "about:client");
    }
    get referrerPolicy(): string {
      return toText(this.#init["referrerPolicy"] ?? "");
    }
    clone(): Request {
      const { body, headers, method, url: href, redirect, signal } = this.#fields;
      if (body !== null && tools.isUsed(body)) throw new TypeError("Body is unusable");
      const copy = new Request(href, { headers: listOf(headers), redirect, ...(signal && { signal }) });
      copy.#fields.method = method;
      copy.#fields.body = body === null ? null : tools.clone(body);
      return copy;
    }
  }

  let makeResponse: (fields: ResponseFields) => Response;
  let bodyOfResponse: (response: Response) => Body | null;

  class Response {
    #fields: ResponseFields;
    static {
      makeResponse = (fields) => {
        const response = new Response();
        response.#fields = fields;
        return response;
      };
      bodyOfResponse = (response) => response.#fields.body;
    }
    static error(): Response {
      return makeResponse({ ...blank(), type: "error", status: 0 });
    }
    static json(data: unknown = undefined, init: Record<string, unknown> = {}): Response {
      const text = JSON.stringify(data) as string | undefined;
      if (text === undefined) throw new TypeError("The data is not JSON serializable");
      const headers = new Headers(init["headers"] ?? {});
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      return new Response(text, { ...init, headers });
    }
    static redirect(target: unknown, status: unknown = 302): Response {
      const href = new (url().URL)(toText(target)).href;
      const code = Number(status);
      if (![301, 302, 303, 307, 308].includes(code)) throw new RangeError("Invalid redirect status code");
      return makeResponse({ ...blank(), status: code, headers: fromList([["Location", href]], true) });
    }
    constructor(body: unknown = null, init: Record<string, unknown> | null = {}) {
      const options = init ?? {};
      const status = options["status"] === undefined ? 200 : Number(options["status"]) & 0xffff;
      if (status !== 101 && (status < 200 || status > 599)) {
        throw new RangeError(
          `The status provided (${status}) is not equal to 101 and outside the range [200, 599]`,
        );
      }
      const statusText = options["statusText"] === undefined ? "" : toText(options["statusText"]);
      if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText))
        throw new TypeError(`Invalid status text: "${statusText}"`);
      const headers = new Headers(options["headers"] ?? {});
      this.#fields = { ...blank(), status, statusText, headers };
      if (body === null || body === undefined) return;
      if (NULL_BODY_STATUS.includes(status))
        throw new TypeError("Response with null body status cannot have body");
      const extracted = tools.extract(body);
      this.#fields.body = extracted.body;
      if (extracted.type !== undefined && !headers.has("content-type"))
        headers.set("content-type", extracted.type);
    }
    get type(): string {
      return this.#fields.type;
    }
    get url(): string {
      return this.#fields.url;
    }
    get redirected(): boolean {
      return this.#fields.redirected;
    }
    get status(): number {
      return this.#fields.status;
    }
    get ok(): boolean {
      return this.#fields.status >= 200 && this.#fields.status <= 299;
    }
    get statusText(): string {
      return this.#fields.statusText;
    }
    get headers(): Headers {
      return this.#fields.headers;
    }
    clone(): Response {
      const { body } = this.#fields;
      if (body !== null && (tools.isUsed(body) || body.stream?.locked))
        throw new TypeError("Body is unusable");
      return makeResponse({
        ...this.#fields,
        headers: fromList(listOf(this.#fields.headers)),
        body: body === null ? null : tools.clone(body),
      });
    }
  }
  Object.defineProperty(Response, "length", { value: 0, configurable: true });
  Object.defineProperty(Request, "length", { value: 1, configurable: true });
  tools.mixin(
    Request.prototype,
    (request) => requestFields(request as Request).body,
    (request) => (request as Request).headers.get("content-type"),
  );
  tools.mixin(
    Response.prototype,
    (response) => bodyOfResponse(response as Response),
    (response) => (response as Response).headers.get("content-type"),
  );
  exposeInterface(Request);
  exposeInterface(Response);
  exposeStatics(Response, "error", "json", "redirect");
  printGetters(Request, ["bodyUsed", "headers", "method", "redirect", "url"]);
  printGetters(Response, ["body", "bodyUsed", "headers", "ok", "redirected", "status", "statusText", "url"]);

  // The nodes' wrapper has no name and throws at once for other inputs, before there is a promise.
  const fetch = (input: unknown, init: Record<string, unknown> | undefined): Promise<Response> => {
    const isUrl = Object.prototype.toString.call(input) === "[object URL]";
    if (typeof input !== "string" && !isUrl && !(input instanceof Request)) {
      throw new Error("fetch only accepts string, URL or Request object");
    }
    return request(input instanceof Request ? input : toText(input), init);
  };
  Object.defineProperty(fetch, "name", { value: "", configurable: true });

  async function request(
    target: Request | string,
    init: Record<string, unknown> | undefined,
  ): Promise<Response> {
    if (typeof target === "string" && /^data:/i.test(target)) return dataResponse(target);
    // The nodes' proxy judges the URL: an invalid one is an answer of status 400, not an exception.
    const made =
      typeof target === "string" ? new Request("http://localhost/", init) : new Request(target, init);
    const href = typeof target === "string" ? target : made.url;
    const { method, headers, body, signal } = requestFields(made);
    if (signal?.aborted) throw signal.reason;
    const bytes = body === null ? undefined : await tools.read(body);
    const message = packMessage(
      { url: href, method, headers: listOf(headers), redirect: "follow", hasBody: bytes !== undefined },
      bytes,
    );
    const answer = await withSignal(signal, (onStart) => hostCall("fetch", message, onStart));
    const { header, body: content } = unpackMessage(answer);
    const { status, statusText, headers: received, url: finalUrl, redirected } = header as FetchCallResponse;
    const isNull = NULL_BODY_STATUS.includes(status) || method === "HEAD";
    const responseBody: Body | null = isNull
      ? null
      : { bytes: content.slice(), stream: undefined, used: false };
    if (responseBody !== null) FROM_NETWORK.add(responseBody);
    return makeResponse({
      status,
      statusText,
      headers: fromList(received, true),
      url: finalUrl,
      redirected,
      type: "basic",
      body: responseBody,
    });
  }

  function withSignal(
    signal: Signal | undefined,
    start: (onStart: (cancel: () => void) => void) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    if (signal === undefined) return start(() => undefined);
    return new Promise((resolve, reject) => {
      let cancel: (() => void) | undefined;
      const onAbort = (): void => {
        cancel?.();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      start((withdraw) => {
        cancel = withdraw;
      })
        .finally(() => signal.removeEventListener("abort", onAbort))
        .then(resolve, reject);
    });
  }

  /** A data URL needs no server; one that is malformed gets the answer of the nodes' proxy. */
  function dataResponse(target: string): Response {
    const data = readDataUrl(new (url().URL)(target).href);
    if (data === undefined) {
      return new Response('{"error":"Error during fetch request"}', {
        status: 400,
        statusText: "Bad Request",
      });
    }
    return new Response(data.bytes, {
      status: 200,
      statusText: "OK",
      headers: { "content-type": data.type },
    });
  }

  return { Headers, Request, Response, fetch };
}

function blank(): ResponseFields {
  return {
    status: 200,
    statusText: "",
    headers: new Headers(),
    url: "",
    redirected: false,
    type: "default",
    body: null,
  };
}
