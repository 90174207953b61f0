import {
  type Convert,
  boolean,
  byteString,
  dictionary,
  enumeration,
  scalarString,
  string,
} from "../convert.ts";
import type { Internals } from "../internals.ts";
import {
  defineGetters,
  exposeInterface,
  illegalInvocation,
  printGetters,
  requireArguments,
} from "../webIdl.ts";
import type { Body, BodyTools } from "./body.ts";
import { type Headers, fromPairs, listOf, readHeaders } from "./headers.ts";

/** An `AbortSignal`. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** The fields of a request that another one takes over. */
export interface RequestFields {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Body | null;
  /** The signal that the request follows; undefined if there is none. */
  readonly signal: Signal | undefined;
  readonly redirect: string;
  readonly cache: string;
  readonly credentials: string;
  readonly integrity: string;
  readonly keepalive: boolean;
  readonly mode: string;
  readonly referrer: string;
  readonly referrerPolicy: string;
}

interface RequestInit extends Partial<Omit<RequestFields, "headers" | "body" | "url" | "signal">> {
  readonly body?: unknown;
  readonly headers?: readonly (readonly [string, string])[];
  readonly signal?: Signal | null;
  readonly priority?: string;
}

const DEFAULTS = {
  method: "GET",
  redirect: "follow",
  cache: "default",
  credentials: "same-origin",
  integrity: "",
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};
const words = (text: string): string[] => text.split(" ");
const REFERRER_POLICIES = words(
  "no-referrer no-referrer-when-downgrade same-origin origin strict-origin origin-when-cross-origin strict-origin-when-cross-origin unsafe-url",
);
/** Methods whose letters count in any case. */
const NORMALISED = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

/** Creates `Request` (Fetch Standard, §5.4); `hrefOf` returns a URL's absolute form, or throws. */
export function createRequest(
  { load, cloneRules }: Internals,
  tools: BodyTools,
  hrefOf: (url: string) => string,
) {
  const events = () =>
    load("events") as {
      readonly AbortController: new () => { readonly signal: Signal };
      readonly convertSignal: Convert<Signal>;
      readonly followSignals: (signals: readonly Signal[], prefix: string) => Signal;
    };
  const readInit = dictionary<RequestInit>("RequestInit", {
    body: [(value) => value],
    cache: [
      enumeration("RequestCache", words("default no-store reload no-cache force-cache only-if-cached")),
    ],
    // A source has none to give.
    client: [
      (value, prefix) => {
        if (value === null) return undefined;
        throw new TypeError(`${prefix}: Argument 2 \`client\` must be a Deno.HttpClient`);
      },
    ],
    credentials: [enumeration("RequestCredentials", ["omit", "same-origin", "include"])],
    headers: [readHeaders],
    integrity: [string],
    keepalive: [boolean],
    method: [byteString],
    mode: [enumeration("RequestMode", ["same-origin", "no-cors", "cors", "navigate"])],
    priority: [enumeration("RequestPriority", ["high", "low", "auto"])],
    redirect: [enumeration("RequestRedirect", ["follow", "error", "manual"])],
    referrer: [scalarString],
    referrerPolicy: [enumeration("ReferrerPolicy", ["", ...REFERRER_POLICIES])],
    signal: [
      (value, prefix, context) => (value === null ? null : events().convertSignal(value, prefix, context)),
    ],
  });

  let fieldsOf: (request: Request) => RequestFields;
  let isRequest: (value: unknown) => boolean;
  let create: (fields: RequestFields) => Request;
  const SECRET = {};

  class Request {
    readonly #fields: RequestFields;
    #signal: Signal | undefined;
    static {
      fieldsOf = (request) => {
        if (!isRequest(request)) throw illegalInvocation();
        return request.#fields;
      };
      isRequest = (value) => typeof value === "object" && value !== null && #fields in value;
      create = (fields) => new Request(SECRET, fields);
    }
    constructor(input: unknown, init: unknown = undefined) {
      if (input === SECRET) {
        this.#fields = init as RequestFields;
        return;
      }
      const prefix = "Failed to construct 'Request'";
      requireArguments(arguments.length, 1, prefix);
      const from = isRequest(input) ? (input as Request).#fields : undefined;
      const text = from === undefined ? string(input, prefix, "Argument 1") : "";
      const given = readInit(init, prefix, "Argument 2");
      const url = from?.url ?? hrefOf(text);
      const base = from ?? DEFAULTS;
      const fields = {
        url,
        method: given.method === undefined ? base.method : checkMethod(given.method),
        redirect: given.redirect ?? base.redirect,
        cache: given.cache ?? base.cache,
        credentials: given.credentials ?? base.credentials,
        integrity: given.integrity ?? base.integrity,
        keepalive: given.keepalive ?? base.keepalive,
        mode: given.mode ?? base.mode,
        referrer: given.referrer === undefined ? base.referrer : checkReferrer(given.referrer),
        referrerPolicy: given.referrerPolicy ?? base.referrerPolicy,
      };
      if (given.mode === "navigate") throw new TypeError("Request mode 'navigate' is not allowed");
      if (fields.cache === "only-if-cached" && fields.mode !== "same-origin")
        throw new TypeError('Request cache mode "only-if-cached" can only be used with same-origin mode');
      const headers = fromPairs(given.headers ?? (from && listOf(from.headers)));
      const isBare = fields.method === "GET" || fields.method === "HEAD";
      const hasBody = given.body !== undefined && given.body !== null;
      if (isBare && (hasBody || (from !== undefined && from.body !== null)))
        throw new TypeError("Request with GET/HEAD method cannot have body");
      let body: Body | null = null;
      if (hasBody) {
        const extracted = tools.extract(
          given.body,
          "Failed to construct 'Request': 'body' of 'RequestInit' (Argument 2)",
        );
        body = extracted.body;
        // As Deno, by what the source may have put in place of the methods.
        const call = (name: "has" | "set", ...args: string[]): unknown =>
          Reflect.apply(Reflect.get(headers, name) as () => unknown, headers, args);
        if (extracted.type !== undefined && call("has", "content-type") !== true)
          call("set", "Content-Type", extracted.type);
      } else if (from !== undefined && from.body !== null) {
        if (tools.isUnusable(from.body)) throw new TypeError("Input request's body is unusable");
        body = tools.take(from.body);
      }
      const inherited = from && (input as Request).#materialized();
      const signal = given.signal === undefined ? inherited : (given.signal ?? undefined);
      if (signal !== undefined) this.#signal = events().followSignals([signal], prefix);
      this.#fields = { ...fields, headers, body, signal };
    }
    get signal(): Signal {
      fieldsOf(this);
      return this.#materialized();
    }
    #materialized(): Signal {
      return (this.#signal ??= new (events().AbortController)().signal);
    }
    clone(): Request {
      const fields = fieldsOf(this);
      const { body, headers } = fields;
      if (body !== null && tools.isUnusable(body)) throw new TypeError("Body is unusable");
      const signal = this.#materialized();
      const copy = create({
        ...fields,
        headers: fromPairs(listOf(headers)),
        body: body === null ? null : tools.clone(body),
        signal,
      });
      copy.#signal = events().followSignals([signal], "Failed to execute 'Request.clone'");
      return copy;
    }
  }
  const [method, ...others] = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];
  const keys = [method as "method", "url", "headers", ...others] as const;
  defineGetters(Request, keys, (request) => fieldsOf(request), ["signal", "clone"]);
  Object.defineProperty(Request, "length", { value: 1, configurable: true });
  tools.mixin(
    Request.prototype,
    (request) => (isRequest(request) ? fieldsOf(request as Request).body : undefined),
    (request) => fieldsOf(request as Request).headers.get("content-type"),
  );
  exposeInterface(Request);
  printGetters(Request, ["bodyUsed", "headers", "method", "redirect", "url"]);
  cloneRules.add({ has: isRequest });
  return { Request, fieldsOf, isRequest };

  /** Parses a referrer; `""` stands for none, as in Deno. */
  function checkReferrer(referrer: string): string {
    if (referrer === "") return "";
    let href: string;
    try {
      href = hrefOf(referrer);
    } catch (cause) {
      throw new TypeError(`Referrer "${referrer}" is not a valid URL.`, { cause });
    }
    return /^about:client(?:[?#]|$)/.test(href) ? "about:client" : href;
  }
}

function checkMethod(method: string): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError("Method is not valid");
  const upper = method.toUpperCase();
  if (["CONNECT", "TRACE", "TRACK"].includes(upper)) throw new TypeError("Method is forbidden");
  return NORMALISED.includes(upper) ? upper : method;
}
