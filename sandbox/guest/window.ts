import { defineProperty } from "./descriptors.ts";
import type { Timers } from "./timers.ts";

/** What the parts of the global object are created with. */
export interface WindowTools {
  readonly define: (name: string, value: unknown) => void;
  readonly load: (chunk: string) => Readonly<Record<string, unknown>>;
  /** Returns the exports of a chunk if it is already loaded. */
  readonly findLoaded: (chunk: string) => Readonly<Record<string, unknown>> | undefined;
  readonly timers: Timers;
}

const { Number, Object, Symbol, TypeError } = globalThis;
const { setPrototypeOf } = Object;

/**
 * Gives the global object what is too small for a chunk: its class, its names for itself, and timer functions that
 * return objects, as Deno's do.
 */
export function installWindow({ define, load, findLoaded, timers }: WindowTools): void {
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
  setPrototypeOf(globalThis, prototype);
  define("Window", Window);
  for (const name of ["self", "global"]) define(name, globalThis);
  define("location", undefined);
  for (const name of ["onbeforeunload", "onerror", "onload", "onunhandledrejection", "onunload"])
    define(name, null);
  define("name", "");
  define("closed", false);
  define("close", () => {});

  /** The result of a timer function: an object that converts to a number. */
  class Timeout {
    #id: number;
    #hasRef = true;
    readonly #restart: () => number;
    constructor(id: number, restart: () => number) {
      this.#id = id;
      this.#restart = restart;
    }
    ref(): this {
      this.#hasRef = true;
      return this;
    }
    unref(): this {
      this.#hasRef = false;
      return this;
    }
    hasRef(): boolean {
      return this.#hasRef;
    }
    refresh(): this {
      timers.clearTimeout(this.#id);
      this.#id = this.#restart();
      return this;
    }
    close(): this {
      timers.clearTimeout(this.#id);
      return this;
    }
    [Symbol.toPrimitive](): number {
      return this.#id;
    }
    [Symbol.dispose](): void {
      timers.clearTimeout(this.#id);
    }
  }
  class Immediate extends Timeout {}

  /** Passes an uncaught error to the source's `error` listeners; true if one of them prevents the default. */
  function isHandled(error: unknown): boolean {
    const events = findLoaded("events") as
      | {
          readonly ErrorEvent: new (type: string, init: object) => object;
          readonly dispatch: (target: object, event: object) => boolean;
        }
      | undefined;
    if (events === undefined) return false;
    const message = `Uncaught ${String(error)}`;
    return !events.dispatch(globalThis, new events.ErrorEvent("error", { message, error, cancelable: true }));
  }

  type Callback = (...args: unknown[]) => void;
  const checked = (callback: unknown): Callback => {
    if (typeof callback === "function") return callback as Callback;
    throw defineProperty(
      new TypeError(`The "callback" argument must be of type function. Received ${received(callback)}`),
      "code",
      { value: "ERR_INVALID_ARG_TYPE", configurable: true, enumerable: true, writable: true },
    );
  };
  const make = (
    Type: typeof Timeout,
    start: Timers["setTimeout"],
    callback: unknown,
    delayMs: unknown,
    args: unknown[],
  ): Timeout => {
    const run = checked(callback);
    let handle: Timeout | undefined = undefined;
    const restart = (): number =>
      start(
        (...given) => {
          try {
            Reflect.apply(run, handle, given);
          } catch (error) {
            if (!isHandled(error)) throw error;
          }
        },
        delayMs,
        ...args,
      );
    return (handle = new Type(restart(), restart));
  };
  const clear = (timer?: unknown): void => {
    if (timer === undefined || timer === null || typeof timer === "symbol") return;
    if (timer instanceof Timeout || typeof timer !== "object") timers.clearTimeout(Number(timer));
  };
  const functions = {
    setTimeout: (callback: unknown, delayMs?: unknown, ...args: unknown[]) =>
      make(Timeout, timers.setTimeout, callback, delayMs, args),
    setInterval: (callback: unknown, delayMs?: unknown, ...args: unknown[]) =>
      make(Timeout, timers.setInterval, callback, delayMs, args),
    setImmediate: (callback: unknown, ...args: unknown[]) => make(Immediate, timers.start, callback, 0, args),
    clearTimeout: (timer?: unknown) => clear(timer),
    clearInterval: (timer?: unknown) => clear(timer),
    clearImmediate: (timer?: unknown) => clear(timer),
  };
  for (const name of Object.keys(functions)) define(name, functions[name as keyof typeof functions]);
  define("queueMicrotask", (callback: unknown) => {
    if (typeof callback !== "function") throw new TypeError("expected a function");
    // An error that the callback throws is caught by nobody and ends the run, as an uncaught error ends Deno.
    void Promise.resolve().then(() => {
      (callback as Callback)();
    });
  });
}

/**
 * Replaces the asynchronous functions of `WebAssembly`: they would compile on background threads, which an isolate here
 * doesn't have, so they compile synchronously.
 */
export function installWebAssembly(): void {
  type Source = ArrayBuffer | ArrayBufferView;
  const { Module, Instance } = WebAssembly;
  /** Compiles a module; its error names the function that was called. */
  const compile = (source: Source, name: string): WebAssembly.Module => {
    try {
      return new Module(source as ArrayBuffer);
    } catch (error) {
      const { message } = error as Error;
      (error as Error).message = message.replace("WebAssembly.Module()", `WebAssembly.${name}()`);
      throw error;
    }
  };
  const methods = {
    compile: async (source: Source) => compile(source, "compile"),
    instantiate: async (source: Source | WebAssembly.Module, imports?: object) => {
      if (source instanceof Module) return new Instance(source, imports as never);
      const module = compile(source, "instantiate");
      return { module, instance: new Instance(module, imports as never) };
    },
  };
  for (const name of ["compile", "instantiate"] as const) {
    defineProperty(WebAssembly, name, { value: methods[name], writable: true, configurable: true });
  }
}

function received(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (typeof value === "object")
    return `an instance of ${(value.constructor as { name?: string } | undefined)?.name ?? "Object"}`;
  return `type ${typeof value} (${typeof value === "string" ? `'${value}'` : String(value)})`;
}
