import { chunkGlobals, enumerableGlobals, windowGlobals } from "./globals.ts";
import type { Internals } from "./internals.ts";
import type { Timers } from "./timers.ts";
import { installWebAssembly, installWindow } from "./window.ts";

const { Object, Proxy, ReferenceError, Reflect, String } = globalThis;
const { defineProperty, getPrototypeOf, hasOwn, setPrototypeOf } = Object;
const reflect = Reflect;
const { toStringTag } = Symbol;
const includes = Function.prototype.call.bind(String.prototype.includes) as (
  text: string,
  part: string,
) => boolean;
const split = Function.prototype.call.bind(String.prototype.split) as (text: string, by: string) => string[];
const ENUMERABLE = ` ${enumerableGlobals} `;

/** What the global object is created with. */
export interface GlobalTools {
  readonly load: Internals["load"];
  readonly findLoaded: (chunk: string) => Readonly<Record<string, unknown>> | undefined;
  readonly bindContext: Internals["bindContext"];
  readonly timers: Timers;
  readonly createConsole: () => object;
}

/**
 * Prepares the global object and returns the function that fills it with Deno's names.
 *
 * Filling takes longer than most sources run, so it waits until a source may see it: the host searches the source for
 * those names and says so at the start (`sandbox/host/child/namesGlobals.ts`). A source that reaches the global object
 * in a way its text doesn't reveal finds a prototype that fills it on first access.
 */
export function prepareGlobalObject(tools: GlobalTools): () => void {
  const prototype = getPrototypeOf(globalThis) as object;
  let isFilled = false;

  function fill(): void {
    if (isFilled) return;
    isFilled = true;
    setPrototypeOf(globalThis, prototype);
    installWindow({
      define,
      load: tools.load,
      findLoaded: tools.findLoaded,
      timers: tools.timers,
      bindContext: tools.bindContext,
    });
    installWebAssembly(tools.load);
    defineLazy("console", tools.createConsole);
    for (const chunk in chunkGlobals) {
      const names = split(chunkGlobals[chunk] as string, " ");
      for (let at = 0; at < names.length; at++) {
        const name = names[at] as string;
        defineLazy(name, () => tools.load(chunk)[name]);
      }
    }
  }

  /**
   * Whether the filled global object itself has the key; fills it for a known name. V8 looks up an identifier twice,
   * through `has` and then `get`.
   */
  const fills = (key: string | symbol): boolean => {
    if (!isFilled && (key === toStringTag || (typeof key === "string" && isKnown(key)))) fill();
    return isFilled && (hasOwn(globalThis, key) || key === toStringTag);
  };
  setPrototypeOf(
    globalThis,
    new Proxy(prototype, {
      __proto__: null,
      get: (target: object, key: string | symbol, receiver: unknown): unknown =>
        fills(key)
          ? (globalThis as Record<string | symbol, unknown>)[key]
          : reflect.get(target, key, receiver),
      has: (target: object, key: string | symbol): boolean => fills(key) || reflect.has(target, key),
      // V8 calls no `has` before strict code assigns to an undeclared name, so the error is thrown here.
      set: (target: object, key: string | symbol, value: unknown, receiver: unknown): boolean => {
        if (fills(key)) return reflect.set(globalThis, key, value);
        if (reflect.has(target, key)) return reflect.set(target, key, value, receiver);
        throw new ReferenceError(`${String(key)} is not defined`);
      },
      getPrototypeOf: (target: object): object | null => {
        fill();
        return getPrototypeOf(target) as object | null;
      },
    } as ProxyHandler<object>),
  );
  return fill;
}

function isKnown(name: string): boolean {
  if (includes(name, " ")) return false;
  const part = ` ${name} `;
  if (includes(` ${windowGlobals} `, part)) return true;
  for (const chunk in chunkGlobals) if (includes(` ${chunkGlobals[chunk] as string} `, part)) return true;
  return false;
}

function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
    enumerable: includes(ENUMERABLE, ` ${name} `),
  } as PropertyDescriptor);
}

function defineLazy(name: string, make: () => unknown): void {
  defineProperty(globalThis, name, {
    __proto__: null,
    configurable: true,
    enumerable: includes(ENUMERABLE, ` ${name} `),
    get: () => {
      const value = make();
      define(name, value);
      return value;
    },
    set: (value: unknown) => {
      define(name, value);
    },
  } as PropertyDescriptor);
}
