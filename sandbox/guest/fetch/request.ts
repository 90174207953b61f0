import type { Internals } from "../internals.ts";
import { exposeInterface, printGetters, requireArguments, toScalarString, toText } from "../webIdl.ts";
import type { Body, BodyTools } from "./body.ts";
import { Headers, listOf } from "./headers.ts";

/** An `AbortSignal`. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** The fields of a request. */
export interface RequestFields {
  method: string;
  url: string;
  headers: Headers;
  body: Body | null;
  signal: Signal | undefined;
  redirect: string;
}

const NORMALISED = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

/** Creates `Request` (Fetch Standard, §5.4); `hrefOf` returns a URL's absolute form, or throws. */
export function createRequest(load: Internals["load"], tools: BodyTools, hrefOf: (url: string) => string) {
  const events = () =>
    load("events") as {
      readonly AbortController: new () => { readonly signal: Signal; abort(reason?: unknown): void };
    };

  let fieldsOf: (request: Request) => RequestFields;

  class Request {
    readonly #fields: RequestFields;
    #signal: Signal | undefined;
    readonly #init: Record<string, unknown>;
    static {
      fieldsOf = (request) => request.#fields;
    }
    constructor(input: unknown, init: Record<string, unknown> | null = {}) {
      requireArguments(arguments.length, 1, "Failed to construct 'Request'");
      const options = init ?? {};
      this.#init = options;
      const from = input instanceof Request ? input.#fields : undefined;
      const href = from?.url ?? hrefOf(toScalarString(input));
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
  Object.defineProperty(Request, "length", { value: 1, configurable: true });
  tools.mixin(
    Request.prototype,
    (request) => fieldsOf(request as Request).body,
    (request) => (request as Request).headers.get("content-type"),
  );
  exposeInterface(Request);
  printGetters(Request, ["bodyUsed", "headers", "method", "redirect", "url"]);
  return { Request, fieldsOf };
}
