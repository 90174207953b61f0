import type { Internals } from "./internals.ts";
import type { NodeErrors } from "./buffer/errors.ts";
import { defineProperty } from "./descriptors.ts";
import { MAX_DELAY_MS, type Timers } from "./timers.ts";

/** What the parts of the global object are created with. */
export interface WindowTools {
  readonly define: (name: string, value: unknown) => void;
  readonly load: (chunk: string) => Readonly<Record<string, unknown>>;
  /** Returns the exports of a chunk if it is already loaded. */
  readonly findLoaded: (chunk: string) => Readonly<Record<string, unknown>> | undefined;
  readonly bindContext: Internals["bindContext"];
  readonly timers: Timers;
}

const { Date, Object, Reflect, Symbol, TypeError } = globalThis;
const { apply } = Reflect;
const { now } = Date;
const { setPrototypeOf } = Object;

/**
 * Gives the global object what is too small for a chunk: its class, its names for itself, and timer functions that
 * return objects, as Deno's do.
 */
export function installWindow({ define, load, findLoaded, bindContext, timers }: WindowTools): void {
  class Window {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
  }
  const { prototype } = Window;
  defineProperty(prototype, Symbol.toStringTag, { value: "Window", configurable: true });
  for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
    defineProperty(prototype, name, {
      get: () => load("events")[name],
      configurable: true,
      enumerable: true,
    });
  }
  // Deno's global object is an event target, and prints as one.
  defineProperty(prototype, Symbol.for("Deno.privateCustomInspect"), {
    value: (inspect: (value: unknown, options: unknown) => string, options: unknown) =>
      `Window ${inspect({}, options)}`,
    configurable: true,
    writable: true,
  });
  setPrototypeOf(globalThis, prototype);
  define("Window", Window);
  for (const name of ["self", "global"]) define(name, globalThis);
  define("location", undefined);
  for (const type of ["beforeunload", "error", "load", "unhandledrejection", "unload"]) {
    const name = `on${type}`;
    defineProperty(globalThis, name, {
      get: () => null,
      set: (handler: unknown) => {
        (load("events")["handlerAttribute"] as (target: object, type: string) => void)(globalThis, type);
        (globalThis as Record<string, unknown>)[name] = handler;
      },
      configurable: true,
      enumerable: true,
    });
  }
  define("name", "");
  define("closed", false);
  define("close", function windowClose() {});

  // Typed as names: they are keys of the class below.
  const refed = Symbol("refed") as unknown as "refed";
  const timerId = Symbol("timerId") as unknown as "timerId";
  let lastTimer = 1;
  /** The timers whose numbers the source has asked for. */
  const numbered: Record<number, Timeout> = { __proto__: null } as never;
  /** The result of a timer function: an object that converts to a number. Its properties are Deno's, and only shown. */
  class Timeout {
    _idleTimeout: number;
    _idleStart = now();
    _idlePrev = null;
    _idleNext = null;
    _onTimeout: unknown;
    _timerArgs: unknown[];
    _repeat: boolean;
    _destroyed = false;
    _asyncId = ++lastTimer;
    _triggerAsyncId = 0;
    _asyncDestroyed = false;
    [refed]: boolean = true;
    [timerId]: number;
    readonly #restart: () => number;
    constructor(restart: () => number, callback: unknown, delay: unknown, args: unknown[], repeats: boolean) {
      const delayMs = delay === undefined ? 1 : (delay as number) * 1;
      if (delayMs >= 0 && delayMs <= MAX_DELAY_MS) this._idleTimeout = delayMs < 1 ? 1 : delayMs;
      else {
        this._idleTimeout = 1;
        warn(delayMs);
      }
      this._onTimeout = callback;
      this._timerArgs = args;
      this._repeat = repeats;
      this[timerId] = restart();
      this.#restart = restart;
    }
    refresh(): this {
      timers.clearTimeout(this[timerId]);
      this[timerId] = this.#restart();
      this._destroyed = false;
      return this;
    }
    unref(): this {
      this[refed] = false;
      return this;
    }
    ref(): this {
      this[refed] = true;
      return this;
    }
    close(): this {
      stop(this);
      return this;
    }
    hasRef(): boolean {
      return this[refed];
    }
    [Symbol.dispose](): void {
      stop(this);
    }
    [Symbol.toPrimitive](): number {
      numbered[this[timerId]] = this;
      return this[timerId];
    }
  }
  /** Delays that are warned of only once. */
  const warned: Record<string, true> = { __proto__: null } as never;
  function warn(delayMs: number): void {
    const isOverflow = delayMs > MAX_DELAY_MS;
    const kind = isOverflow ? "Overflow" : delayMs < 0 ? "Negative" : "NaN";
    if (warned[kind]) return;
    if (!isOverflow) warned[kind] = true;
    const words = { Overflow: "does not fit into a 32-bit signed integer", Negative: "is a negative number" };
    const text = `${delayMs} ${kind === "NaN" ? "is not a number" : words[kind]}.\nTimeout duration was set to 1.`;
    const { process } = load("platform") as { process: { emitWarning(text: string, name: string): void } };
    process.emitWarning(text, `Timeout${kind}Warning`);
  }
  for (const name of ["refresh", "unref", "ref", "close", "hasRef"] as const) {
    defineProperty(Timeout.prototype[name], "name", { value: "", configurable: true });
    defineProperty(Timeout.prototype, name, { enumerable: true });
  }
  defineProperty(Timeout, "length", { value: 6, configurable: true });
  function stop(timer: Timeout): void {
    timers.clearTimeout(timer[timerId]);
    delete numbered[timer[timerId]];
    timer._idleTimeout = -1;
    timer._onTimeout = null;
    timer._destroyed = true;
  }
  class Immediate {
    _idleNext = null;
    _idlePrev = null;
    _onImmediate: unknown;
    _argv: unknown[];
    _destroyed = false;
    asyncId = ++lastTimer;
    triggerAsyncId = 0;
    [refed]: boolean = true;
    #id: number;
    constructor(start: () => number, callback: unknown, _delay: unknown, args: unknown[]) {
      this._onImmediate = callback;
      this._argv = args;
      this.#id = start();
    }
    ref(): this {
      this[refed] = true;
      return this;
    }
    unref(): this {
      this[refed] = false;
      return this;
    }
    hasRef(): boolean {
      return this[refed] && !this._destroyed;
    }
    [Symbol.dispose](): void {
      this._destroyed = true;
      this._onImmediate = null;
      timers.clearTimeout(this.#id);
    }
  }

  /** Whether a listener of the source handles an uncaught error. */
  const isHandled = (error: unknown): boolean =>
    (findLoaded("events")?.["isHandled"] as ((error: unknown) => boolean) | undefined)?.(error) ?? false;

  type Callback = (...args: unknown[]) => void;
  const checked = (callback: unknown): Callback => {
    if (typeof callback === "function") return callback as Callback;
    throw (load("node")["errors"] as NodeErrors).wrongType("callback", "function", callback);
  };
  const make = <T>(
    Type: new (...given: ConstructorParameters<typeof Timeout>) => T,
    start: Timers["setTimeout"],
    callback: unknown,
    delayMs: unknown,
    args: unknown[],
    repeats = false,
  ): T => {
    const run = bindContext(checked(callback));
    let handle: T | undefined = undefined;
    const restart = (): number =>
      (handle instanceof Timeout && handle._repeat ? timers.setInterval : start)(() => {
        if (handle instanceof Timeout) fire(handle, run, callback);
        else {
          (handle as Immediate)[Symbol.dispose]();
          call(run, handle, args);
        }
      }, delayMs);
    return (handle = new Type(restart, callback, delayMs, args, repeats));
  };
  function call(run: Callback, handle: unknown, args: unknown[]): void {
    try {
      apply(run, handle, args);
    } catch (error) {
      if (!isHandled(error)) throw error;
    }
  }
  /** Calls back; a source may have made a timeout of an interval, or the other way round, by the properties that Node uses. */
  function fire(timer: Timeout, run: Callback, callback: unknown): void {
    const { [timerId]: id, _repeat: repeats, _onTimeout: current } = timer;
    if (repeats && current === null) return stop(timer);
    try {
      call(repeats && current !== callback ? bindContext(checked(current)) : run, timer, timer._timerArgs);
    } finally {
      if (repeats) {
        if (timer._idleTimeout < 0 || timer._onTimeout === null) stop(timer);
      } else if (timer._repeat) timer.refresh();
      // Unless its callback has started it anew.
      else if (timer[timerId] === id) timer._destroyed = true;
    }
  }
  const clear = (timer?: unknown): void => {
    if (timer instanceof Timeout) stop(timer);
    else if (timer !== null && !(timer instanceof Immediate)) {
      const id = +(timer as string);
      const known = numbered[id];
      if (known === undefined) timers.clearTimeout(id);
      else stop(known);
    }
  };
  const startImmediate: Timers["start"] = (callback, _, ...args) => timers.startImmediate(callback, ...args);
  const functions = {
    setTimeout: function (callback: unknown, delayMs: unknown, ...args: unknown[]) {
      return make(Timeout, timers.setTimeout, callback, delayMs, args);
    },
    setInterval: function (callback: unknown, delayMs: unknown, ...args: unknown[]) {
      return make(Timeout, timers.setInterval, callback, delayMs, args, true);
    },
    setImmediate: function (callback: unknown, ...args: unknown[]) {
      return make(Immediate, startImmediate, callback, 0, args);
    },
    clearTimeout: function (timer: unknown) {
      clear(timer);
    },
    clearInterval: function (timer: unknown) {
      clear(timer);
    },
    clearImmediate: function (timer: unknown) {
      if (timer instanceof Immediate) timer[Symbol.dispose]();
    },
  };
  for (const name of ["setTimeout", "setImmediate"] as const)
    defineProperty(functions[name], Symbol.for("nodejs.util.promisify.custom"), {
      get: () => (load("node")["timersPromises"] as Record<string, unknown>)[name],
      enumerable: true,
    });
  for (const name of Object.keys(functions)) define(name, functions[name as keyof typeof functions]);
  const { queueMicrotask } = {
    queueMicrotask: function (callback: unknown): void {
      if (typeof callback !== "function") throw new TypeError("expected a function");
      const run = bindContext(callback as Callback);
      // An error that no listener handles is caught by nobody and ends the run, as an uncaught error ends Deno.
      void (async () => {
        // eslint-disable-next-line typescript/await-thenable -- a microtask, whatever the source has made of `Promise`
        await undefined;
        try {
          run();
        } catch (error) {
          if (!isHandled(error)) throw error;
        }
      })();
    },
  };
  define("queueMicrotask", queueMicrotask);
}

/**
 * Replaces the asynchronous functions of `WebAssembly`: they would compile on background threads, which an isolate here
 * doesn't have, so they compile synchronously.
 */
export function installWebAssembly(load: WindowTools["load"]): void {
  interface ResponseLike {
    readonly headers: { get(name: string): string | null };
    readonly ok: boolean;
    readonly status: number;
    arrayBuffer(): Promise<ArrayBuffer>;
  }
  type Source = ArrayBuffer | ArrayBufferView;
  const { Module, Instance } = WebAssembly;
  /** Compiles a module; its error names the function that was called. */
  const compile = (source: Source, name: string): WebAssembly.Module => {
    try {
      return new Module(source as ArrayBuffer);
    } catch (error) {
      const { message } = error as Error;
      (error as Error).message = message
        .replace("WebAssembly.Module()", `WebAssembly.${name}()`)
        .replace(/buffer source$/, name === "instantiate" ? "$& or a WebAssembly.Module object" : "$&");
      throw error;
    }
  };
  const instantiate = (module: WebAssembly.Module, imports: object | undefined) => ({
    module,
    instance: new Instance(module, imports as never),
  });
  const settle = <T>(make: () => T | Promise<T>): Promise<T> =>
    new Promise((resolve) => {
      resolve(make());
    });
  /** Reads the module that a response has. */
  const receive = async (given: unknown, name: string): Promise<ArrayBuffer> => {
    const { Response } = load("fetch") as { readonly Response: new () => ResponseLike };
    const response = await given;
    if (!(response instanceof Response))
      throw new TypeError(`Failed to execute 'WebAssembly.${name}': Argument 1 is not of type Response`);
    if (response.headers.get("content-type") !== "application/wasm")
      throw new TypeError("Invalid WebAssembly content type");
    if (!response.ok)
      throw new TypeError(`Failed to receive WebAssembly content: HTTP status code ${response.status}`);
    return response.arrayBuffer();
  };
  const methods = {
    compile: (source: Source) => settle(() => compile(source, "compile")),
    instantiate: (source: Source | WebAssembly.Module, ...[imports]: [object?]) =>
      settle(() =>
        source instanceof Module
          ? new Instance(source, imports as never)
          : instantiate(compile(source, "instantiate"), imports),
      ),
    compileStreaming: (source: unknown) =>
      settle(async () => compile(await receive(source, "compileStreaming"), "compileStreaming")),
    instantiateStreaming: (source: unknown, ...[imports]: [object?]) =>
      settle(async () =>
        instantiate(compile(await receive(source, "instantiateStreaming"), "instantiateStreaming"), imports),
      ),
  };
  for (const name in methods)
    defineProperty(WebAssembly, name, {
      value: methods[name as keyof typeof methods],
      writable: true,
      configurable: true,
      enumerable: true,
    });
  // Deno lists these after the two of streams.
  for (const name of ["Suspending", "promising", "SuspendError"]) {
    const member = Object.getOwnPropertyDescriptor(WebAssembly, name);
    if (member === undefined || !Reflect.deleteProperty(WebAssembly, name)) continue;
    defineProperty(WebAssembly, name, member);
  }
}
