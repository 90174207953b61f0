import {
  checkObject,
  type SignalLike,
  AbortError,
  checkInteger,
  checkSignal,
  nodeError,
  outOfRange,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Listener = ((this: unknown, ...args: unknown[]) => unknown) & { listener?: Listener };
type Name = string | symbol;
/** The listeners of one event; the first time that there are too many is the only one that is warned of. */
type Listeners = Listener[] & { warned?: true };

/** An emitter's own state: Node's, as printing shows it and as subclasses rely on it. */
interface Emitter {
  _events: Record<Name, Listener | Listener[]> | undefined;
  _eventsCount: number;
  _maxListeners: number | undefined;
  emit(name: Name, ...args: unknown[]): boolean;
  on(name: Name, listener: unknown): Emitter;
  once(name: Name, listener: unknown): Emitter;
  removeListener(name: Name, listener: unknown): Emitter;
  [CAPTURES]: boolean;
  readonly [REJECTION]?: unknown;
}
interface Resource {
  asyncId(): number;
  emitDestroy(): unknown;
  runInAsyncScope(work: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]): unknown;
}

const CAPTURES = Symbol("kCapture");
const REJECTION: unique symbol = Symbol.for("nodejs.rejection") as never;
const ERROR_MONITOR = Symbol("events.errorMonitor");
const WATERMARKS = Symbol.for("nodejs.watermarkData");
const { prototype: ASYNC_GENERATOR } = Object.getPrototypeOf(async function* () {}) as { prototype: object };
const ASYNC_ITERATOR = Object.getPrototypeOf(ASYNC_GENERATOR) as object;

/**
 * Creates `node:events`. Written here rather than taken from the `events` package, which has neither Node's error codes nor `on` and signals.
 * Emitters are made by a function, as old classes call it without `new`.
 */
export function createEvents({ load, nextTick }: Internals): Readonly<Record<string, unknown>> {
  let defaultMaxListeners = 10;
  /** Limits of event targets. */
  const targetLimits = new WeakMap<object, number>();

  function EventEmitter(this: Emitter, options?: unknown): void {
    init.call(this, options);
  }
  function init(this: Emitter, options?: unknown): void {
    if (
      this._events === undefined ||
      this._events === (Object.getPrototypeOf(this) as Partial<Emitter>)._events
    ) {
      this._events = { __proto__: null } as never;
      this._eventsCount = 0;
    }
    this._maxListeners = this._maxListeners || undefined;
    const captures = (options as { captureRejections?: unknown } | undefined)?.captureRejections;
    if (captures) {
      if (typeof captures !== "boolean") throw wrongType("options.captureRejections", "boolean", captures);
      this[CAPTURES] = true;
    } else this[CAPTURES] = (EventEmitter.prototype as Emitter)[CAPTURES];
  }

  const listOf = (self: Emitter, name: Name): Listener[] => {
    const found = self._events?.[name];
    return found === undefined ? [] : typeof found === "function" ? [found] : found;
  };
  function assertListener(listener: unknown): asserts listener is Listener {
    if (typeof listener !== "function") throw wrongType("listener", "function", listener);
  }
  function store(self: Emitter, name: Name, list: Listener[]): void {
    const events = (self._events ??= { __proto__: null } as never);
    if (list.length === 0) {
      if (events[name] === undefined) return;
      self._eventsCount -= 1;
      if (self._eventsCount === 0) self._events = { __proto__: null } as never;
      else delete events[name];
      return;
    }
    if (events[name] === undefined) self._eventsCount = (self._eventsCount || 0) + 1;
    events[name] = list.length === 1 ? (list[0] as Listener) : list;
  }
  function warnOfMany(self: Emitter, name: Name, list: Listeners): void {
    const most = self._maxListeners ?? defaultMaxListeners;
    if (!(most > 0) || list.length <= most) return;
    list.warned = true;
    const count = list.length;
    const { inspect } = load("node")["util"] as { inspect: (value: unknown, options: object) => string };
    const text = `Possible EventEmitter memory leak detected. ${count} ${String(name)} listeners added to ${inspect(self, { depth: -1 })}. MaxListeners is ${most}.`;
    const warning = Object.assign(new Error(text), {
      name: "MaxListenersExceededWarning",
      emitter: self,
      type: name,
      count,
    });
    const { process } = load("platform") as { process: { emitWarning(warning: Error): void } };
    process.emitWarning(warning);
  }
  function add(self: Emitter, name: Name, listener: unknown, isFirst: boolean): Emitter {
    assertListener(listener);
    if (self._events?.["newListener"] !== undefined)
      self.emit("newListener", name, listener.listener ?? listener);
    const list = listOf(self, name);
    const grown: Listeners = isFirst ? [listener, ...list] : [...list, listener];
    if ((list as Listeners).warned) grown.warned = true;
    else warnOfMany(self, name, grown);
    store(self, name, grown);
    return self;
  }
  function wrapOnce(self: Emitter, name: Name, listener: unknown): Listener {
    assertListener(listener);
    let isFired = false;
    const wrapped: Listener = (...args) => {
      if (isFired) return undefined;
      self.removeListener(name, wrapped);
      isFired = true;
      return Reflect.apply(listener, self, args);
    };
    Object.defineProperty(wrapped, "name", { value: "bound onceWrapper", configurable: true });
    wrapped.listener = listener;
    return wrapped;
  }
  function throwUnhandled(error: unknown): never {
    if (error instanceof Error) throw error;
    const { inspect } = load("node")["util"] as { inspect: (value: unknown) => string };
    let shown = error;
    try {
      shown = inspect(error);
    } catch {}
    throw Object.assign(nodeError("ERR_UNHANDLED_ERROR", `Unhandled error. (${shown as string})`), {
      context: error,
    });
  }

  /** Passes the rejection of what a listener returned to the emitter's own method, or its listeners of errors. */
  function captureRejection(self: Emitter, result: unknown, name: Name, args: unknown[]): void {
    try {
      const { then } = result as { then?: unknown };
      if (typeof then !== "function") return;
      Reflect.apply(then, result, [undefined, later]);
    } catch (error) {
      self.emit("error", error);
    }
    /** Where nothing has loaded the process, Deno has no next tick for it. */
    function later(error: unknown): void {
      if (load("platform")["hasProcess"]) nextTick(() => pass(error));
    }
    function pass(error: unknown): void {
      const own = self[REJECTION];
      if (typeof own === "function") return void Reflect.apply(own, self, [error, name, ...args]);
      const captures = self[CAPTURES];
      try {
        self[CAPTURES] = false;
        self.emit("error", error);
      } finally {
        self[CAPTURES] = captures;
      }
    }
  }

  const methods = {
    setMaxListeners(this: Emitter, count: unknown): Emitter {
      this._maxListeners = readLimit(count, "setMaxListeners");
      return this;
    },
    getMaxListeners(this: Emitter): number {
      return this._maxListeners ?? defaultMaxListeners;
    },
    emit(this: Emitter, name: Name, ...args: unknown[]): boolean {
      if (name === "error" && this._events?.[ERROR_MONITOR] !== undefined) this.emit(ERROR_MONITOR, ...args);
      const list = listOf(this, name);
      if (list.length === 0) {
        if (name === "error") throwUnhandled(args[0]);
        return false;
      }
      const present = list.slice();
      for (const listener of present) {
        const result: unknown = Reflect.apply(listener, this, args);
        if (this[CAPTURES] && result !== undefined && result !== null)
          captureRejection(this, result, name, args);
      }
      return true;
    },
    addListener(this: Emitter, name: Name, listener: unknown): Emitter {
      return add(this, name, listener, false);
    },
    prependListener(this: Emitter, name: Name, listener: unknown): Emitter {
      return add(this, name, listener, true);
    },
    once(this: Emitter, name: Name, listener: unknown): Emitter {
      return this.on(name, wrapOnce(this, name, listener));
    },
    prependOnceListener(this: Emitter, name: Name, listener: unknown): Emitter {
      return add(this, name, wrapOnce(this, name, listener), true);
    },
    removeListener(this: Emitter, name: Name, listener: unknown): Emitter {
      assertListener(listener);
      const list = listOf(this, name);
      const at = list.findLastIndex((known) => known === listener || known.listener === listener);
      if (at < 0) return this;
      store(this, name, list.toSpliced(at, 1));
      if (this._events?.["removeListener"] !== undefined)
        this.emit("removeListener", name, (list.length === 1 ? list[0]?.listener : undefined) ?? listener);
      return this;
    },
    removeAllListeners(this: Emitter, ...names: Name[]): Emitter {
      const isWatched = this._events?.["removeListener"] !== undefined;
      const others = Reflect.ownKeys(this._events ?? {}).filter((name) => name !== "removeListener");
      for (const name of names.length === 0 ? [...others, "removeListener"] : names.slice(0, 1)) {
        if (isWatched)
          for (const listener of listOf(this, name).toReversed()) this.removeListener(name, listener);
        else store(this, name, []);
      }
      if (names.length === 0 && this._events !== undefined) {
        this._events = { __proto__: null } as never;
        this._eventsCount = 0;
      }
      return this;
    },
    listeners(this: Emitter, name: Name): Listener[] {
      return listOf(this, name).map((listener) => listener.listener ?? listener);
    },
    rawListeners(this: Emitter, name: Name): Listener[] {
      return [...listOf(this, name)];
    },
    listenerCount(this: Emitter, name: Name, listener?: unknown): number {
      const list = listOf(this, name);
      if (listener === undefined || listener === null) return list.length;
      return list.filter((known) => known === listener || known.listener === listener).length;
    },
    eventNames(this: Emitter): Name[] {
      return this._eventsCount > 0 ? Reflect.ownKeys(this._events ?? {}) : [];
    },
  };
  const prototype = EventEmitter.prototype as Record<string, unknown>;
  Object.defineProperty(prototype, CAPTURES, { value: false, writable: true });
  for (const key of ["_events", "_eventsCount", "_maxListeners"] as const)
    prototype[key] = key === "_eventsCount" ? 0 : undefined;
  for (const [name, method] of Object.entries(methods)) {
    prototype[name] = method;
    if (name === "addListener") prototype["on"] = method;
    if (name === "removeListener") prototype["off"] = method;
  }

  function readLimit(count: unknown, name: string): number {
    if (typeof count !== "number") throw wrongType(name, "number", count);
    if (!(count >= 0)) throw outOfRange(name, ">= 0", count);
    return count;
  }
  /** Whether a value has an emitter's method; reading it of nothing throws, as in Deno. */
  const isEmitter = (value: unknown, method = "on"): value is Emitter =>
    typeof (value as Record<string, unknown>)[method] === "function";
  const isTarget = (value: unknown): value is SignalLike =>
    typeof (value as Partial<SignalLike> | null)?.addEventListener === "function";
  const wrongEmitter = (value: unknown): Error =>
    wrongArgument("emitter", "an instance of EventEmitter", value);

  /** Checks the options of what waits; a signal that is aborted ends it at once. */
  function readSignal(options: { signal?: unknown }): SignalLike | undefined {
    checkObject(options, "options");
    if (options.signal === undefined) return undefined;
    const signal = checkSignal(options.signal, "options.signal");
    if (signal.aborted) throw new AbortError();
    return signal;
  }

  /** Listens once to an emitter or an event target; returns what stops listening. */
  function listen(source: unknown, name: Name, listener: Listener, isOnce: boolean): () => void {
    if (isEmitter(source)) {
      if (isOnce) source.once(name, listener);
      else source.on(name, listener);
      return () => void source.removeListener(name, listener);
    }
    if (!isTarget(source)) throw wrongEmitter(source);
    source.addEventListener(name as string, listener, { once: isOnce });
    return () => source.removeEventListener(name as string, listener);
  }

  async function once(source: unknown, name: Name, options: { signal?: unknown } = {}): Promise<unknown[]> {
    const signal = readSignal(options);
    return new Promise((resolve, reject) => {
      const stops: (() => void)[] = [];
      const settle = (work: () => void): void => {
        for (const stop of stops) stop();
        work();
      };
      stops.push(listen(source, name, (...args) => settle(() => resolve(args)), true));
      if (name !== "error" && isEmitter(source))
        stops.push(listen(source, "error", (error) => settle(() => reject(error)), true));
      if (signal !== undefined)
        stops.push(listen(signal, "abort", () => settle(() => reject(new AbortError())), true));
    });
  }

  function on(
    source: unknown,
    name: Name,
    options: {
      signal?: unknown;
      close?: readonly Name[];
      highWaterMark?: unknown;
      lowWaterMark?: unknown;
      highWatermark?: unknown;
      lowWatermark?: unknown;
    } = {},
  ): AsyncIterableIterator<unknown[]> {
    const signal = readSignal(options);
    const markOf = (mark: "high" | "low", fallback: number): number =>
      checkInteger(
        options[`${mark}WaterMark`] ?? options[`${mark}Watermark`] ?? fallback,
        `options.${mark}WaterMark`,
        1,
      );
    const high = markOf("high", Number.MAX_SAFE_INTEGER);
    const low = markOf("low", 1);
    let isPaused = false;
    const values: unknown[][] = [];
    const waiting: PromiseWithResolvers<IteratorResult<unknown[]>>[] = [];
    const stops: (() => void)[] = [];
    let failure: { readonly error: unknown } | undefined;
    let isFinished = false;
    const finish = (): Promise<IteratorResult<unknown[]>> => {
      for (const stop of stops) stop();
      isFinished = true;
      isPaused = false;
      for (const { resolve } of waiting.splice(0)) resolve({ value: undefined, done: true });
      return Promise.resolve({ value: undefined, done: true });
    };
    const fail = (error: unknown): void => {
      const first = waiting.shift();
      if (first === undefined) failure = { error };
      else first.reject(error);
      void finish();
    };
    stops.push(
      listen(
        source,
        name,
        (...args) => {
          const first = waiting.shift();
          if (first === undefined) {
            values.push(args);
            if (!isPaused && values.length > high) {
              isPaused = true;
              (source as { pause(): void }).pause();
            }
          } else first.resolve({ value: args, done: false });
        },
        false,
      ),
    );
    if (name !== "error" && isEmitter(source)) stops.push(listen(source, "error", fail, false));
    for (const closing of options.close?.length ? options.close : [])
      stops.push(listen(source, closing, () => void finish(), false));
    if (signal !== undefined) stops.push(listen(signal, "abort", () => fail(new AbortError()), true));
    const iterator = {
      next() {
        const value = values.shift();
        if (value !== undefined) {
          if (isPaused && values.length < low) {
            (source as { resume(): void }).resume();
            isPaused = false;
          }
          return Promise.resolve({ value, done: false });
        }
        if (failure !== undefined) {
          const { error } = failure;
          failure = undefined;
          return Promise.reject(error);
        }
        if (isFinished) return finish();
        const next = Promise.withResolvers<IteratorResult<unknown[]>>();
        waiting.push(next);
        return next.promise;
      },
      return() {
        return finish();
      },
      throw(error: unknown) {
        if (!(error instanceof Error))
          throw wrongArgument("EventEmitter.AsyncIterator", "an instance of Error", error);
        fail(error);
      },
      [Symbol.asyncIterator]() {
        return iterator;
      },
      [WATERMARKS]: {
        get size() {
          return values.length;
        },
        get low() {
          return low;
        },
        get high() {
          return high;
        },
        get isPaused() {
          return isPaused;
        },
      },
    };
    return Object.setPrototypeOf(iterator, ASYNC_ITERATOR) as AsyncIterableIterator<unknown[]>;
  }

  function addAbortListener(signal: unknown, listener: unknown): object {
    const checked = checkSignal(signal, "signal");
    assertListener(listener);
    let stop: (() => void) | undefined;
    if (checked.aborted) void Promise.resolve().then(() => listener({ target: checked }));
    else stop = listen(checked, "abort", listener, true);
    return { __proto__: null, [Symbol.dispose]: () => stop?.() };
  }

  const names = {
    on,
    once,
    getEventListeners: (source: unknown, name: Name): unknown[] => {
      if (isEmitter(source, "listeners")) return methods.listeners.call(source, name);
      if (isTarget(source))
        return (load("events") as { listenersOf: (target: object, type: string) => unknown[] }).listenersOf(
          source,
          name as string,
        );
      throw wrongArgument("emitter", "an instance of EventEmitter or EventTarget", source);
    },
    setMaxListeners: (count: unknown = defaultMaxListeners, ...sources: unknown[]): void => {
      const limit = readLimit(count, "setMaxListeners");
      if (sources.length === 0) defaultMaxListeners = limit;
      for (const source of sources) {
        if (isEmitter(source, "setMaxListeners")) source._maxListeners = limit;
        else if (isTarget(source)) targetLimits.set(source, limit);
        else throw wrongArgument("eventTargets", "an instance of EventEmitter or EventTarget", source);
      }
    },
    getMaxListeners: (source: unknown): number => {
      if (source && isEmitter(source)) return methods.getMaxListeners.call(source);
      if (isTarget(source))
        return (
          targetLimits.get(source) ?? ("aborted" in source && "reason" in source ? 0 : defaultMaxListeners)
        );
      throw wrongArgument("emitter", "an instance of EventEmitter or EventTarget", source);
    },
    listenerCount: (source: unknown, name: Name): number =>
      isEmitter(source, "listenerCount")
        ? methods.listenerCount.call(source, name)
        : isTarget(source)
          ? names.getEventListeners(source, name).length
          : 0,
    addAbortListener,
    captureRejectionSymbol: REJECTION,
    errorMonitor: ERROR_MONITOR,
    get EventEmitterAsyncResource() {
      return (resource ??= createResource());
    },
  };
  let resource: object | undefined;
  /** Creates the emitter whose listeners run in the scope of an asynchronous resource. */
  function createResource(): object {
    const { AsyncResource } = load("node")["asyncHooks"] as {
      AsyncResource: new (type: unknown) => Resource;
    };
    const RESOURCE = Symbol("kAsyncResource");
    class EventEmitterReferencingAsyncResource extends AsyncResource {
      readonly eventEmitter: unknown;
      constructor(emitter: unknown, type: unknown) {
        super(type);
        this.eventEmitter = emitter;
      }
    }
    class EventEmitterAsyncResource extends (EventEmitter as unknown as new (options: unknown) => Emitter) {
      readonly [RESOURCE]: EventEmitterReferencingAsyncResource;
      constructor(options?: unknown) {
        const name =
          typeof options === "string" ? options : (options as { name?: unknown } | undefined)?.name;
        if (new.target === EventEmitterAsyncResource && typeof name !== "string")
          throw wrongType("options.name", "string", name);
        if (typeof options === "string" || options === undefined || options === null) super(undefined);
        else super(options);
        this[RESOURCE] = new EventEmitterReferencingAsyncResource(this, name ?? new.target.name);
      }
      override emit(name: Name, ...args: unknown[]): boolean {
        return this[RESOURCE].runInAsyncScope(
          methods.emit as (...args: unknown[]) => unknown,
          this,
          name,
          ...args,
        ) as boolean;
      }
      emitDestroy(): void {
        this[RESOURCE].emitDestroy();
      }
      get asyncId(): number {
        return this[RESOURCE].asyncId();
      }
      get triggerAsyncId(): unknown {
        // Deno's throws.
        return (this.asyncResource as { triggerAsyncId?(): unknown }).triggerAsyncId!();
      }
      get asyncResource(): object {
        return this[RESOURCE];
      }
    }
    return Object.defineProperties(EventEmitterAsyncResource, {
      name: { value: "EventEmitterAsyncResource", configurable: true },
      length: { value: 0, configurable: true },
    });
  }
  const settings = {
    get captureRejections() {
      return (EventEmitter.prototype as Emitter)[CAPTURES];
    },
    set captureRejections(value: unknown) {
      if (typeof value !== "boolean") throw wrongType("EventEmitter.captureRejections", "boolean", value);
      (EventEmitter.prototype as Emitter)[CAPTURES] = value;
    },
    get defaultMaxListeners() {
      return defaultMaxListeners;
    },
    set defaultMaxListeners(count: unknown) {
      defaultMaxListeners = readLimit(count, "defaultMaxListeners");
    },
  };
  const { EventEmitterAsyncResource: lazily, ...own } = Object.getOwnPropertyDescriptors(names);
  const fixed = Object.entries(Object.getOwnPropertyDescriptors(settings)).map(
    ([name, descriptor]) => [name, { ...descriptor, configurable: false }] as const,
  );
  const { captureRejectionSymbol, errorMonitor, ...functions } = own;
  Object.defineProperties(EventEmitter, functions);
  Object.assign(EventEmitter, { EventEmitter, usingDomains: false });
  Object.defineProperties(EventEmitter, {
    captureRejectionSymbol,
    errorMonitor,
    ...Object.fromEntries(fixed),
    kMaxEventTargetListeners: { value: Symbol("events.maxEventTargetListeners") },
    kMaxEventTargetListenersWarned: { value: Symbol("events.maxEventTargetListenersWarned") },
    init: { value: init, writable: true, enumerable: true, configurable: true },
    EventEmitterAsyncResource: lazily,
  });
  return Object.defineProperties(
    {
      EventEmitter,
      get defaultMaxListeners() {
        return defaultMaxListeners;
      },
      default: EventEmitter,
    },
    Object.getOwnPropertyDescriptors(names),
  );
}
