import { wrongArgument, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Exports = Readonly<Record<string, unknown>>;
const withDefault = (names: Record<string, unknown>): Exports => ({ ...names, default: names });

interface Buffers {
  readonly Buffer: { from(value: unknown, encoding?: string): Uint8Array; isBuffer(value: unknown): boolean };
}

/** `node:url`. */
export function createUrl({ load, native }: Internals): Exports {
  const { URL, URLSearchParams } = load("url") as unknown as {
    readonly URL: new (url: string, base?: string) => Record<string, string> & { searchParams: unknown };
    readonly URLSearchParams: new (text: string) => Iterable<[string, string]>;
  };
  const fileURLToPath = (value: unknown): string => {
    const url = typeof value === "string" ? new URL(value) : (value as Record<string, string>);
    if (url["protocol"] !== "file:")
      throw Object.assign(new TypeError("The URL must be of scheme file"), {
        code: "ERR_INVALID_URL_SCHEME",
      });
    return decodeURIComponent(url["pathname"] ?? "");
  };
  const pathToFileURL = (path: string): unknown =>
    new URL(
      `file://${encodeURI(path.startsWith("/") ? path : `/${path}`).replace(/[?#]/g, encodeURIComponent)}`,
    );
  class Url {
    [name: string]: unknown;
  }
  const parse = (text: string, parseQuery = false): Url => {
    const match =
      /^([a-z][a-z0-9+.-]*:)?(\/\/)?(?:([^/?#@]*)@)?([^/?#:]*)(?::(\d+))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(
        text.trim(),
      );
    const hasHost = match?.[2] !== undefined;
    const hostname = hasHost ? (match?.[4] ?? "").toLowerCase() : null;
    const path = hasHost
      ? match?.[6]
      : `${match?.[4] ?? ""}${match?.[5] === undefined ? "" : `:${match[5]}`}${match?.[6] ?? ""}`;
    const search = match?.[7] ?? null;
    const query = search === null ? null : search.slice(1);
    const pathname = path || (hasHost && match?.[1] ? "/" : null);
    const port = hasHost ? (match?.[5] ?? null) : null;
    return Object.assign(new Url(), {
      protocol: match?.[1]?.toLowerCase() ?? null,
      slashes: hasHost ? true : null,
      auth: match?.[3] === undefined ? null : decodeURIComponent(match[3]),
      host: hostname === null ? null : hostname + (port === null ? "" : `:${port}`),
      port,
      hostname,
      hash: match?.[8] ?? null,
      search,
      query: parseQuery ? Object.fromEntries(new URLSearchParams(query ?? "")) : query,
      pathname,
      path: pathname === null && search === null ? null : `${pathname ?? ""}${search ?? ""}`,
      href: text,
    });
  };
  /** Formats a URL without the parts that the options leave out. */
  function formatUrl(url: Record<string, string>, options: unknown): string {
    if (options !== undefined && (typeof options !== "object" || options === null))
      throw wrongType("options", "object", options);
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
    if (typeof value === "string") return parse(value)["href"] as string;
    if (typeof value !== "object" || value === null)
      throw wrongArgument("urlObject", "one of type object or string", value);
    if (value instanceof URL) return formatUrl(value, options);
    const { protocol, host, hostname, port, auth, pathname, search, query, hash } = value as Record<
      string,
      string | null | undefined
    >;
    const scheme = protocol ? (protocol.endsWith(":") ? protocol : `${protocol}:`) : "";
    const authority = host ?? (hostname ? `${hostname}${port ? `:${port}` : ""}` : "");
    const found =
      search ??
      (query && typeof query === "object"
        ? `?${String(new URLSearchParams(query))}`
        : query
          ? `?${query}`
          : "");
    return `${scheme}${authority || value["slashes"] ? "//" : ""}${auth ? `${auth}@` : ""}${authority}${pathname ?? ""}${found ?? ""}${hash ?? ""}`;
  };
  return withDefault({
    URL,
    URLSearchParams,
    Url,
    parse,
    format,
    fileURLToPath,
    pathToFileURL,
    resolve: (from: string, to: string): string => {
      const base = new URL(from, "resolve://");
      const found = new URL(to, base["href"]);
      return found["protocol"] === "resolve:"
        ? `${found["pathname"]}${found["search"]}${found["hash"]}`
        : (found["href"] as string);
    },
    domainToASCII: (domain: string) => native("domainToAscii", { domain }),
    domainToUnicode: (domain: string) => native("domainToUnicode", { domain }),
    urlToHttpOptions: (url: Record<string, string>) => ({
      protocol: url["protocol"],
      hostname: url["hostname"],
      path: `${url["pathname"]}${url["search"]}`,
      href: url["href"],
    }),
  });
}

/** `node:punycode`, deprecated. */
export function createPunycode({ native }: Internals): Exports {
  return withDefault({
    toASCII: (domain: string) => native("domainToAscii", { domain }),
    toUnicode: (domain: string) => native("domainToUnicode", { domain }),
    encode: (text: string) => (native("domainToAscii", { domain: text }) as string).replace(/^xn--/, ""),
    decode: (text: string) => native("domainToUnicode", { domain: `xn--${text}` }),
    ucs2: {
      decode: (text: string) => Array.from(text, (character) => character.codePointAt(0)),
      encode: (points: number[]) => String.fromCodePoint(...points),
    },
    version: "2.1.0",
  });
}

/** `node:timers`, including its promises. */
export function createTimersModule(): Exports {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } =
    globalThis as unknown as Record<string, unknown>;
  return withDefault({
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout,
    clearInterval,
    clearImmediate,
    promises: createTimersPromises({} as never)["default"],
  });
}
/** `node:timers/promises`: delays that a signal ends. */
export function createTimersPromises(_internals: Internals): Exports {
  const timers = globalThis as unknown as {
    setTimeout(callback: () => void, delayMs?: unknown): unknown;
    clearTimeout(timer: unknown): void;
  };
  const abortError = (signal: AbortSignalLike): Error =>
    Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
      code: "ABORT_ERR",
      name: "AbortError",
    });
  /** Checks the options of all functions here. */
  function readOptions(options: unknown): AbortSignalLike | undefined {
    if (typeof options !== "object" || options === null) throw wrongType("options", "object", options);
    const { signal, ref = true } = options as { signal?: unknown; ref?: unknown };
    if (signal !== undefined && (typeof signal !== "object" || signal === null || !("aborted" in signal)))
      throw wrongArgument("options.signal", "an instance of AbortSignal", signal);
    if (typeof ref !== "boolean") throw wrongType("options.ref", "boolean", ref);
    return signal as AbortSignalLike | undefined;
  }
  async function wait(delayMs: unknown, value?: unknown, options: unknown = {}): Promise<unknown> {
    if (delayMs !== undefined && typeof delayMs !== "number") throw wrongType("delay", "number", delayMs);
    const signal = readOptions(options);
    if (signal?.aborted) throw abortError(signal);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        timers.clearTimeout(timer);
        reject(abortError(signal as AbortSignalLike));
      };
      const timer = timers.setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve(value);
      }, delayMs ?? 1);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }
  return withDefault({
    setTimeout: wait,
    setImmediate: (value?: unknown, options?: unknown) => wait(0, value, options),
    async *setInterval(delayMs?: unknown, value?: unknown, options: unknown = {}) {
      for (;;) yield await wait(delayMs, value, options);
    },
    scheduler: {
      wait: (delayMs: number, options?: unknown) => wait(delayMs, undefined, options),
      yield: () => wait(0),
    },
  });
}

interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void, options: object): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** `node:perf_hooks`. */
export function createPerfHooks({ load }: Internals): Exports {
  const { performance, PerformanceEntry, PerformanceObserver } = load("platform");
  return withDefault({ performance, PerformanceEntry, PerformanceObserver, constants: {} });
}

/** `node:async_hooks`: a store applies to synchronous code only and doesn't follow promises. */
export function createAsyncHooks(): Exports {
  class AsyncLocalStorage {
    #store: unknown;
    run(store: unknown, work: (...args: unknown[]) => unknown, ...args: unknown[]): unknown {
      const before = this.#store;
      this.#store = store;
      try {
        return work(...args);
      } finally {
        this.#store = before;
      }
    }
    exit(work: (...args: unknown[]) => unknown, ...args: unknown[]): unknown {
      return this.run(undefined, work, ...args);
    }
    getStore(): unknown {
      return this.#store;
    }
    enterWith(store: unknown): void {
      this.#store = store;
    }
    disable(): void {
      this.#store = undefined;
    }
  }
  class AsyncResource {
    runInAsyncScope(work: (...args: unknown[]) => unknown, self?: unknown, ...args: unknown[]): unknown {
      return Reflect.apply(work, self, args);
    }
  }
  return withDefault({
    AsyncLocalStorage,
    AsyncResource,
    createHook: () => ({ enable() {}, disable() {} }),
    executionAsyncId: () => 1,
    triggerAsyncId: () => 0,
  });
}

/** `node:zlib`: the synchronous operations and their callback forms. */
export function createZlib({ native, load, setTimeout }: Internals): Exports {
  const { Buffer } = load("buffer") as unknown as Buffers;
  const bytesOf = (value: unknown): Uint8Array =>
    typeof value === "string" || value instanceof ArrayBuffer ? Buffer.from(value) : (value as Uint8Array);
  const names: Record<string, unknown> = {
    constants: { Z_BEST_COMPRESSION: 9, Z_BEST_SPEED: 1, Z_DEFAULT_COMPRESSION: -1, BROTLI_PARAM_QUALITY: 1 },
  };
  for (const name of [
    "gzip",
    "gunzip",
    "deflate",
    "inflate",
    "deflateRaw",
    "inflateRaw",
    "unzip",
    "brotliCompress",
    "brotliDecompress",
  ]) {
    const run = (value: unknown, options: { level?: number } = {}): Uint8Array =>
      Buffer.from((native(name, { level: options.level }, bytesOf(value)) as Uint8Array).buffer);
    names[`${name}Sync`] = run;
    names[name] = (value: unknown, ...rest: unknown[]): void => {
      const callback = rest.at(-1) as (error: unknown, result?: Uint8Array) => void;
      setTimeout(() => {
        let result: Uint8Array;
        try {
          result = run(value, rest.length > 1 ? (rest[0] as object) : {});
        } catch (error) {
          callback(error);
          return;
        }
        callback(null, result);
      }, 0);
    };
  }
  return withDefault(names);
}
