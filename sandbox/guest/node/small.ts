import type { Internals } from "../internals.ts";

type Exports = Readonly<Record<string, unknown>>;
const withDefault = (names: Record<string, unknown>): Exports => ({ ...names, default: names });

interface Buffers {
  readonly Buffer: { from(value: unknown, encoding?: string): Uint8Array; isBuffer(value: unknown): boolean };
}

/** `node:string_decoder`. */
export function createStringDecoder({ load }: Internals): Exports {
  const { TextDecoder } = load("text") as {
    TextDecoder: new (
      label: string,
      options?: object,
    ) => { decode(bytes?: Uint8Array, options?: object): string };
  };
  const { Buffer } = load("buffer") as unknown as Buffers;
  class StringDecoder {
    readonly encoding: string;
    #decoder: InstanceType<typeof TextDecoder> | undefined;
    constructor(encoding: unknown = "utf8") {
      this.encoding = String(encoding).toLowerCase().replace("utf-8", "utf8");
      if (this.encoding === "utf8") this.#decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      else if (/^(?:utf-?16le|ucs-?2)$/.test(this.encoding))
        this.#decoder = new TextDecoder("utf-16le", { ignoreBOM: true });
    }
    write(bytes: Uint8Array | string): string {
      if (typeof bytes === "string") return bytes;
      return (
        this.#decoder?.decode(bytes, { stream: true }) ??
        (Buffer.from(bytes) as unknown as { toString(encoding: string): string }).toString(this.encoding)
      );
    }
    end(bytes?: Uint8Array): string {
      return (bytes === undefined ? "" : this.write(bytes)) + (this.#decoder?.decode() ?? "");
    }
  }
  return withDefault({ StringDecoder });
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
  const format = (value: Record<string, unknown> | string): string => {
    if (typeof value === "string") return value;
    if (typeof value["href"] === "string" && !(value instanceof Url)) return value["href"];
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
export function createTimersPromises(_internals: Internals): Exports {
  const timers = globalThis as unknown as { setTimeout(callback: () => void, delayMs?: number): unknown };
  const wait = (delayMs = 1, value?: unknown): Promise<unknown> =>
    new Promise((resolve) => timers.setTimeout(() => resolve(value), delayMs));
  return withDefault({
    setTimeout: wait,
    setImmediate: (value?: unknown) => wait(0, value),
    async *setInterval(delayMs = 1, value?: unknown) {
      for (;;) yield await wait(delayMs, value);
    },
    scheduler: { wait: (delayMs: number) => wait(delayMs), yield: () => wait(0) },
  });
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
