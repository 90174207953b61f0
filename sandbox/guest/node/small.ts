import {
  checkObject,
  type SignalLike,
  AbortError,
  NO_OPTIONS,
  checkSignal,
  nodeError,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { RecordableHistogram, createHistogram, monitorEventLoopDelay } from "./histogram.ts";

type Exports = Readonly<Record<string, unknown>>;
const withDefault = (names: Record<string, unknown>): Exports => ({ ...names, default: names });

/** What every object of the web platform has in Deno, and a copy of its properties shows. */
const BRAND = Symbol("[[webidl.brand]]");
const URL_PARTS = "protocol slashes auth host port hostname hash search query pathname path href".split(" ");

/** `node:url`. */
export function createUrl({ load, native }: Internals, querystring: Exports): Exports {
  const { URL, URLSearchParams } = load("url") as unknown as {
    readonly URL: new (url: string, base?: string) => Record<string, string> & { searchParams: unknown };
    readonly URLSearchParams: new (text: string) => Iterable<[string, string]>;
  };
  /** The escaped path of a `file:` URL. */
  function pathOf(value: unknown): string {
    const url = typeof value === "string" ? new URL(value) : value;
    if (!(url instanceof URL)) throw wrongArgument("path", "of type string or an instance of URL", value);
    if (url["protocol"] !== "file:")
      throw nodeError("ERR_INVALID_URL_SCHEME", "The URL must be of scheme file", TypeError);
    if (url["hostname"] !== "")
      throw nodeError(
        "ERR_INVALID_FILE_URL_HOST",
        'File URL host must be "localhost" or empty on linux',
        TypeError,
      );
    const pathname = url["pathname"] as string;
    if (/%2f/i.test(pathname))
      throw Object.assign(
        nodeError(
          "ERR_INVALID_FILE_URL_PATH",
          "File URL path must not include encoded / characters",
          TypeError,
        ),
        { input: url },
      );
    return pathname;
  }
  const pathToFileURL = (path: unknown, options?: { readonly windows?: boolean } | null): unknown => {
    if (typeof path !== "string") throw wrongType("path", "string", path);
    return new URL(native("fileUrl", { path, windows: options?.windows === true }) as string);
  };
  function urlToHttpOptions(url: unknown): object {
    if ((typeof url !== "object" && typeof url !== "function") || url === null)
      throw wrongType("url", "object", url);
    const { protocol, hostname, hash, search, pathname, href, port, username, password } = url as Record<
      string,
      string
    >;
    return {
      ...url,
      protocol,
      hostname: hostname?.startsWith("[") ? hostname.slice(1, -1) : hostname,
      hash,
      search,
      pathname,
      path: `${pathname || ""}${search || ""}`,
      href,
      ...(port !== "" && { port: Number(port) }),
      ...((username || password) && {
        auth: `${decodeURIComponent(username as string)}:${decodeURIComponent(password as string)}`,
      }),
      ...(url instanceof URL && { [BRAND]: BRAND }),
    };
  }
  const {
    parse: parseQuery,
    stringify,
    unescapeBuffer,
  } = querystring as {
    readonly unescapeBuffer: (text: string) => Uint8Array;
    readonly parse: (query: string) => object;
    readonly stringify: (fields: object) => string;
  };
  /** The older kind of URL: its parts, as Node reads them in the host. */
  class Url {
    [name: string]: unknown;
    constructor() {
      for (const name of URL_PARTS) this[name] = null;
    }
    resolve(to: unknown): string {
      return (this.resolveObject(parse(to, false, true)) as Url).format();
    }
    resolveObject(to: unknown): unknown {
      if (to === undefined || to === null) return (to as unknown as Url)["hash"];
      return this["href"] ? resolveFrom(this, to) : to;
    }
    format(): string {
      return formatParts(this);
    }
    urlParse(text: unknown, parsesQuery?: boolean, slashesDenoteHost?: boolean): Url {
      const read = parse(text, parsesQuery, slashesDenoteHost);
      // What the text doesn't have stays as it was.
      const found = Object.entries(read).filter(([, value]) => value !== null);
      Object.assign(this, Object.fromEntries(found), { search: read["search"], query: read["query"] });
      this["href"] = this.format();
      return this;
    }
  }
  const ask = (name: string, header: object, text: string): Url => {
    try {
      return Object.assign(new Url(), JSON.parse(native(name, header) as string));
    } catch (error) {
      const { message } = error as Error;
      if (message === "URI malformed") throw new URIError(message);
      throw Object.assign(nodeError("ERR_INVALID_URL", `Invalid URL: ${text}`, TypeError), { input: text });
    }
  };
  function parse(text: unknown, parsesQuery = false, slashesDenoteHost = false): Url {
    if (text instanceof Url) return text;
    if (typeof text !== "string") throw wrongType("url", "string", text);
    const url = ask("legacyUrlParse", { text, slashesDenoteHost }, text);
    if (parsesQuery) {
      url["query"] = parseQuery((url["query"] as string | null) ?? "");
    }
    return url;
  }
  const resolveFrom = (from: unknown, to: unknown): Url => {
    const url = parse(from);
    const { slashes, host, hostname } = url;
    const header = {
      from: url.format(),
      parts: { slashes, host, hostname },
      to: parse(to, false, true).format(),
    };
    return ask("legacyUrlResolve", header, String(to));
  };
  const resolve = (from: unknown, to: unknown): string => resolveFrom(from, to).format();
  const resolveObject = (from: unknown, to: unknown): unknown => (from ? parse(from).resolveObject(to) : to);
  function formatParts(parts: Readonly<Record<string, unknown>>): string {
    const { auth, hash, host, hostname, pathname, port, protocol, query, search, slashes } = parts;
    const fields = typeof query === "object" && query !== null ? stringify(query) : "";
    const found = search || (fields && `?${fields}`);
    return native("legacyUrlFormat", {
      parts: { auth, hash, host, hostname, pathname, port, protocol, search: found, slashes },
    }) as string;
  }
  /** Formats a URL without the parts that the options leave out. */
  function formatUrl(url: Record<string, string>, options: unknown): string {
    if (options && typeof options !== "object") throw wrongType("options", "object", options);
    const {
      auth = true,
      fragment = true,
      search = true,
      unicode = false,
    } = (options ?? {}) as Record<string, unknown>;
    const copy = new URL(url["href"] as string) as unknown as Record<string, string> & {
      readonly href: string;
    };
    if (!auth) {
      copy["username"] = "";
      copy["password"] = "";
    }
    if (!fragment) copy["hash"] = "";
    if (!search) copy["search"] = "";
    if (!unicode || !copy["hostname"]) return copy.href;
    return copy.href.replace(
      copy["hostname"],
      native("domainToUnicode", { domain: copy["hostname"] }) as string,
    );
  }
  const format = (value: Record<string, unknown> | string, options: unknown = undefined): string => {
    if (typeof value === "string") return parse(value).format();
    if (typeof value !== "object" || value === null)
      throw wrongArgument("urlObject", "one of type object or string", value);
    return value instanceof URL ? formatUrl(value, options) : formatParts(value);
  };
  /** A domain without labels to convert isn't checked. */
  const convertDomain = (name: string, domain: unknown): unknown => {
    if (typeof domain !== "string") return "";
    return /^(?!.*xn--)[\0-\x7f]*$/is.test(domain) ? domain.toLowerCase() : native(name, { domain });
  };
  return withDefault({
    URL,
    URLSearchParams,
    urlToHttpOptions,
    Url,
    parse,
    format,
    resolve,
    resolveObject,
    domainToASCII: (domain: unknown) => convertDomain("domainToAscii", domain),
    domainToUnicode: (domain: unknown) => convertDomain("domainToUnicode", domain),
    fileURLToPath: (url: unknown) => decodeURIComponent(pathOf(url)),
    fileURLToPathBuffer: (url: unknown) => unescapeBuffer(pathOf(url)),
    pathToFileURL,
  });
}

/** `node:timers`, including its promises. */
export function createTimersModule(promises: Exports): Exports {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } =
    globalThis as unknown as Record<string, unknown>;
  return withDefault({
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    clearImmediate,
    promises: { ...(promises["default"] as object) },
  });
}
/** `node:timers/promises`: delays that a signal ends. */
export function createTimersPromises(_internals: Internals): Exports {
  type Start = (callback: () => void, delayMs?: unknown) => unknown;
  type Clear = (timer: unknown) => void;
  const { setTimeout, setImmediate, setInterval, clearTimeout, clearImmediate, clearInterval } =
    globalThis as unknown as Record<"setTimeout" | "setImmediate" | "setInterval", Start> &
      Record<"clearTimeout" | "clearImmediate" | "clearInterval", Clear>;
  /** Checks the options of all functions here; a signal that is aborted ends it at once. */
  function readSignal(options: unknown): SignalLike | undefined {
    checkObject(options, "options");
    const { signal, ref = true } = options as { signal?: unknown; ref?: unknown };
    const checked = signal === undefined ? undefined : checkSignal(signal, "options.signal");
    if (typeof ref !== "boolean") throw wrongType("options.ref", "boolean", ref);
    if (checked?.aborted) throw new AbortError({ cause: checked.reason });
    return checked;
  }
  /** Resolves to the value when the timer fires, unless a signal ends it before. */
  function wait(
    start: (fire: () => void) => unknown,
    clear: Clear,
    value: unknown,
    options: unknown,
  ): Promise<unknown> {
    let signal: SignalLike | undefined;
    try {
      signal = readSignal(options);
    } catch (error) {
      return Promise.reject(error);
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = start(() => resolve(value));
    if (signal === undefined) return promise;
    const stop = (): void => {
      clear(timer);
      reject(new AbortError({ cause: signal.reason }));
    };
    signal.addEventListener("abort", stop);
    return promise.finally(() => signal.removeEventListener("abort", stop));
  }
  const delay = (delayMs: unknown, value?: unknown, options: unknown = NO_OPTIONS): Promise<unknown> => {
    if (delayMs !== undefined && typeof delayMs !== "number")
      return Promise.reject(wrongType("delay", "number", delayMs));
    return wait((fire) => setTimeout(fire, delayMs), clearTimeout, value, options);
  };
  const immediate = (value?: unknown, options: unknown = NO_OPTIONS): Promise<unknown> =>
    wait((fire) => setImmediate(fire), clearImmediate, value, options);
  /** Yields once for each time that the interval has passed, also for those while nothing asked. */
  async function* repeat(delayMs: unknown, value?: unknown, options: unknown = NO_OPTIONS): AsyncGenerator {
    const signal = readSignal(options);
    let due = 0;
    let wake: (() => void) | undefined;
    const timer = setInterval(() => {
      due++;
      wake?.();
    }, delayMs);
    const stop = (): void => {
      clearInterval(timer);
      wake?.();
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      while (!signal?.aborted) {
        if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
        for (; due > 0; due--) yield value;
      }
      throw new AbortError({ cause: signal.reason });
    } finally {
      clearInterval(timer);
      signal?.removeEventListener("abort", stop);
    }
  }
  const checkThis = (self: unknown): void => {
    if (self !== scheduler)
      throw nodeError("ERR_INVALID_THIS", 'Value of "this" must be of type Scheduler', TypeError);
  };
  class Scheduler {
    constructor() {
      throw nodeError("ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor", TypeError);
    }
    wait(delayMs: number, options?: unknown): Promise<unknown> {
      checkThis(this);
      return delay(delayMs, undefined, options);
    }
    yield(): Promise<unknown> {
      checkThis(this);
      return immediate();
    }
  }
  const scheduler = Object.create(Scheduler.prototype) as Scheduler;
  return withDefault({
    setTimeout: delay,
    setImmediate: immediate,
    setInterval: repeat,
    scheduler,
  });
}

/** Wraps a function so that a histogram, if there is one, records how long its calls take, in nanoseconds. */
function timerify(work: unknown, options: unknown = {}): unknown {
  if (typeof work !== "function") throw wrongType("fn", "function", work);
  if (typeof options !== "object" || options === null) throw wrongType("options", "object", options);
  const { histogram } = options as { histogram?: RecordableHistogram };
  if (histogram !== undefined && !(histogram instanceof RecordableHistogram))
    throw wrongArgument("options.histogram", "an instance of RecordableHistogram", histogram);
  function timerified(this: unknown, ...args: unknown[]): unknown {
    const startMs = histogram === undefined ? 0 : performance.now();
    const record = (): void => histogram?.record(Math.max(1, Math.ceil((performance.now() - startMs) * 1e6)));
    let isPending = false;
    try {
      const result: unknown = new.target
        ? Reflect.construct(work as new () => object, args, work as new () => object)
        : Reflect.apply(work as (...args: unknown[]) => unknown, this, args);
      isPending = histogram !== undefined && typeof (result as Promise<unknown> | null)?.then === "function";
      return isPending ? (result as Promise<unknown>).finally(record) : result;
    } finally {
      if (!isPending) record();
    }
  }
  return Object.defineProperties(timerified, {
    name: { value: `timerified ${work.name}`, configurable: true },
    length: { value: work.length, configurable: true },
  });
}

/** `node:perf_hooks`. */
export function createPerfHooks({ load }: Internals): Exports {
  const { performance, PerformanceEntry, PerformanceObserverEntryList, ...platform } = load("platform");
  const eventLoopUtilization = (): object => ({ idle: 0, active: 0, utilization: 0 });
  Object.assign(performance as object, {
    eventLoopUtilization,
    nodeTiming: {},
    timerify,
    markResourceTiming() {},
  });
  const kinds = "NODE MARK MEASURE GC FUNCTION HTTP2 HTTP DNS NET".split(" ");
  const names = {
    performance,
    PerformanceObserver: createObserver(platform["PerformanceObserver"] as ObserverClass),
    PerformanceObserverEntryList,
    PerformanceEntry,
    monitorEventLoopDelay,
    createHistogram,
    eventLoopUtilization,
    timerify,
    constants: Object.fromEntries(kinds.map((kind, at) => [`NODE_PERFORMANCE_ENTRY_TYPE_${kind}`, at])),
  };
  return { ...names, enqueueNodePerformanceEntry(_entry: unknown) {}, default: names };
}

type ObserverClass = {
  new (callback: unknown): { observe(options: object): void; disconnect(): void };
  readonly supportedEntryTypes: readonly string[];
};
/** The kinds of entries that Node has besides the web's; nothing here makes any. */
const NODE_KINDS = ["http2", "function", "gc", "http", "dns", "net"];

/** Creates Node's `PerformanceObserver`, which takes its own kinds, too. */
function createObserver(Observer: ObserverClass): ObserverClass {
  class PerformanceObserver extends Observer {
    constructor(callback: unknown) {
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      super(callback);
    }
    static override get supportedEntryTypes(): readonly string[] {
      return [...Observer.supportedEntryTypes, ...NODE_KINDS];
    }
    override observe(options: { entryTypes?: unknown; type?: unknown; buffered?: unknown }): void {
      if (typeof options !== "object" || options === null) throw wrongType("options", "object", options);
      const { entryTypes, type, buffered } = options;
      if (entryTypes !== undefined && !Array.isArray(entryTypes))
        throw wrongArgument("options.entryTypes", "string[]", entryTypes);
      const kinds = (entryTypes ?? (type === undefined ? [] : [type])) as unknown[];
      const own = kinds.filter((kind) => !NODE_KINDS.includes(kind as string));
      if (own.length === 0) return;
      super.observe(entryTypes === undefined ? { type: own[0], buffered } : { entryTypes: own, buffered });
    }
    override disconnect(): void {
      super.disconnect();
    }
  }
  return PerformanceObserver;
}
