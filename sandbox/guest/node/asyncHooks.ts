import { NO_OPTIONS, checkObject, nodeError, wrongType } from "../buffer/errors.ts";
import { callSites, isOurs } from "./callSites.ts";

type Exports = Readonly<Record<string, unknown>>;
type Work = (...args: unknown[]) => unknown;
const NATIVE = /\{ \[native code\] \}$/;
interface Scope {
  readonly storage: object;
  store: unknown;
}

/**
 * Creates the scopes in which stores apply.
 *
 * JavaScript doesn't say in which asynchronous context it runs, but V8's stack traces name the functions that await the running one: a store applies
 * to what is called, or awaited, by a function with the name of its scope. So it is lost in what goes on while nobody awaits it yet.
 */
function createScopes() {
  const scopes = new Map<string, Scope>();
  let last = 0;
  return {
    isEmpty: (): boolean => scopes.size === 0,
    /** Returns the innermost scope of a storage that applies now. */
    find(storage: object): Scope | undefined {
      if (scopes.size === 0) return undefined;
      for (const site of callSites()) {
        const scope = scopes.get(site.getFunctionName() ?? "");
        if (scope?.storage === storage && isOurs(site)) return scope;
      }
      return undefined;
    },
    /** Calls a function in a scope; of a promise, another function of that name waits for it. */
    run(scope: Scope, work: () => unknown): unknown {
      const name = `scope$${++last}`;
      scopes.set(name, scope);
      const { [name]: call } = { [name]: () => work() };
      const end = (): void => void scopes.delete(name);
      let result: unknown;
      try {
        result = call!();
      } finally {
        if (!(result instanceof Promise)) end();
      }
      if (!(result instanceof Promise)) return result;
      const { [name]: wait } = {
        [name]: async () => {
          try {
            return (await result) as unknown;
          } finally {
            end();
          }
        },
      };
      return wait!();
    },
    /** Ends all scopes of a storage. */
    drop(storage: object): void {
      for (const [name, scope] of scopes) if (scope.storage === storage) scopes.delete(name);
    },
  };
}

/** Makes promises bind the callbacks that they are given. */
function bindCallbacks(bind: (work: Work) => Work): void {
  /** Leaves the platform's own functions as they are: the stack names who waits for `Promise.all`. */
  const bindOne = (work: unknown): unknown =>
    typeof work !== "function" || (work.name === "" && NATIVE.test(Function.prototype.toString.call(work)))
      ? work
      : bind(work as Work);
  const { prototype } = Promise;
  for (const name of ["then", "finally"] as const) {
    const original = prototype[name] as Work;
    const apply = (_original: Work, promise: unknown, callbacks: unknown[]): unknown =>
      Reflect.apply(original, promise, callbacks.map(bindOne));
    // A source may have frozen it.
    void Reflect.defineProperty(prototype, name, {
      __proto__: null,
      value: new Proxy(original, { __proto__: null, apply } as ProxyHandler<Work>),
      writable: true,
      configurable: true,
    } as PropertyDescriptor);
  }
}

/** What a hook is told, and where it keeps the functions to call. */
const EVENTS = {
  init: Symbol("init"),
  before: Symbol("before"),
  after: Symbol("after"),
  destroy: Symbol("destroy"),
  promiseResolve: Symbol("promiseResolve"),
};
type HookEvent = keyof typeof EVENTS;

/** What Node calls the kinds of its resources, in their order. */
const PROVIDERS =
  "NONE DIRHANDLE DNSCHANNEL ELDHISTOGRAM FILEHANDLE FILEHANDLECLOSEREQ BLOBREADER FSEVENTWRAP FSREQCALLBACK FSREQPROMISE GETADDRINFOREQWRAP GETNAMEINFOREQWRAP HEAPSNAPSHOT HTTP2SESSION HTTP2STREAM HTTP2PING HTTP2SETTINGS HTTPINCOMINGMESSAGE HTTPCLIENTREQUEST JSSTREAM JSUDPWRAP MESSAGEPORT PIPECONNECTWRAP PIPESERVERWRAP PIPEWRAP PROCESSWRAP PROMISE QUERYWRAP QUIC_ENDPOINT QUIC_LOGSTREAM QUIC_PACKET QUIC_SESSION QUIC_STREAM QUIC_UDP SHUTDOWNWRAP SIGNALWRAP STATWATCHER STREAMPIPE TCPCONNECTWRAP TCPSERVERWRAP TCPWRAP TTYWRAP UDPSENDWRAP UDPWRAP SIGINTWATCHDOG WORKER WORKERHEAPSNAPSHOT WRITEWRAP ZLIB CHECKPRIMEREQUEST PBKDF2REQUEST KEYPAIRGENREQUEST KEYGENREQUEST KEYEXPORTREQUEST CIPHERREQUEST DERIVEBITSREQUEST HASHREQUEST RANDOMBYTESREQUEST RANDOMPRIMEREQUEST SCRYPTREQUEST SIGNREQUEST TLSWRAP VERIFYREQUEST";

/** Creates `node:async_hooks`, and `bind`, which binds a callback to the stores that apply now. */
export function createAsyncHooks(): { readonly module: Exports; readonly bind: (work: Work) => Work } {
  const storages = new Set<AsyncLocalStorage>();
  const scopes = createScopes();
  /** Returns what runs work with the stores that apply now. */
  const snapshot = () => {
    const stores = [...storages].map((storage) => [storage, storage.getStore()] as const);
    return (work: Work, ...args: unknown[]): unknown =>
      stores.reduce<() => unknown>(
        (inner, [storage, store]) =>
          () =>
            storage.run(store, inner),
        () => work(...args),
      )();
  };
  const bind = (work: Work): Work => {
    if (scopes.isEmpty()) return work;
    const run = snapshot();
    return function bound(this: unknown, ...args: unknown[]): unknown {
      return run(() => Reflect.apply<unknown, unknown[], unknown>(work, this, args));
    };
  };
  bindCallbacks(bind);

  class AsyncLocalStorage {
    /** What applies outside of `run`. */
    #store: unknown;
    readonly #otherwise: unknown;
    readonly #name: string;
    /** Only shown. */
    enabled = false;
    constructor(options: { readonly defaultValue?: unknown; readonly name?: unknown } = NO_OPTIONS) {
      checkObject(options, "options");
      const { defaultValue, name } = options;
      this.#otherwise = defaultValue;
      this.#name = name === undefined ? "" : `${name as number}`;
      storages.add(this);
    }
    get name(): string {
      return this.#name;
    }
    static bind(work: Work): Work {
      return AsyncResource.bind(work, undefined, undefined);
    }
    static snapshot() {
      return snapshot();
    }
    run(store: unknown, work: Work, ...args: unknown[]): unknown {
      this.enabled = true;
      return scopes.run({ storage: this, store }, () =>
        Reflect.apply<unknown, unknown[], unknown>(work, undefined, args),
      );
    }
    exit(work: Work, ...args: unknown[]): unknown {
      return this.run(undefined, work, ...args);
    }
    getStore(): unknown {
      const scope = scopes.find(this);
      return (scope === undefined ? this.#store : scope.store) ?? this.#otherwise;
    }
    enterWith(store: unknown): void {
      this.enabled = true;
      const scope = scopes.find(this);
      if (scope === undefined) this.#store = store;
      else scope.store = store;
    }
    disable(): void {
      this.enabled = false;
      scopes.drop(this);
      this.#store = undefined;
    }
  }
  const hooks = new Set<AsyncHook>();
  /** Tells the hooks of what a source's own resources go through; of timers and promises they hear nothing. */
  const emit = (event: HookEvent, ...args: unknown[]): void => {
    // One that is enabled meanwhile hears of the next event.
    [...hooks].forEach((hook) => hook[EVENTS[event]]?.(...args));
  };
  const none = (): object => ({ __proto__: null });
  let running = { id: 0, resource: none };
  let lastId = 1;
  class AsyncResource {
    readonly #id = ++lastId;
    readonly #run = snapshot();
    readonly type: unknown;
    constructor(type?: unknown) {
      this.type = type;
      emit("init", this.#id, type, running.id, this);
    }
    static bind(work: Work, type: unknown, self: unknown): Work {
      return new AsyncResource(type || work.name || "bound-anonymous-fn").bind(work, self);
    }
    bind(work: unknown, self: unknown): Work {
      if (typeof work !== "function") throw wrongType("fn", "function", work);
      const run = (given: unknown, args: unknown[]): unknown =>
        this.runInAsyncScope(work as Work, given, ...args);
      function bound(this: unknown, ...args: unknown[]): unknown {
        return run(self === undefined ? this : self, args);
      }
      return Object.defineProperties(bound, {
        name: { value: "bound", configurable: true },
        length: { value: work.length, configurable: true },
      });
    }
    asyncId(): number {
      return this.#id;
    }
    emitDestroy(): this {
      emit("destroy", this.#id);
      return this;
    }
    runInAsyncScope(work: Work, self?: unknown, ...args: unknown[]): unknown {
      const outer = running;
      emit("before", this.#id);
      running = { id: this.#id, resource: () => this };
      try {
        return this.#run(
          (...given) => Reflect.apply<unknown, unknown[], unknown>(work, self, given),
          ...args,
        );
      } finally {
        running = outer;
        emit("after", this.#id);
      }
    }
  }
  class AsyncHook {
    readonly [event: symbol]: Work | undefined;
    constructor(callbacks: Readonly<Record<HookEvent, unknown>>) {
      for (const [name, symbol] of Object.entries(EVENTS))
        Object.assign(this, { [symbol]: callbacks[name as HookEvent] });
    }
    enable(): this {
      hooks.add(this);
      return this;
    }
    disable(): this {
      hooks.delete(this);
      return this;
    }
  }
  const names = {
    AsyncLocalStorage,
    AsyncResource,
    asyncWrapProviders: Object.freeze({
      __proto__: null,
      ...Object.fromEntries(PROVIDERS.split(" ").map((name, at) => [name, at])),
    }),
    createHook({
      init,
      before,
      after,
      destroy,
      promiseResolve,
    }: Readonly<Record<string, unknown>>): AsyncHook {
      const callbacks = { init, before, after, destroy, promiseResolve };
      for (const [name, callback] of Object.entries(callbacks))
        if (callback !== undefined && typeof callback !== "function")
          throw nodeError("ERR_ASYNC_CALLBACK", `hook.${name} must be a function`, TypeError);
      return new AsyncHook(callbacks);
    },
    executionAsyncId: () => running.id,
    executionAsyncResource: () => running.resource(),
    triggerAsyncId: () => 0,
  };
  return { module: { ...names, default: names }, bind };
}
