import { slice, split } from "./builtins.ts";
import { enumerableGlobals, inheritedGlobals, orderedGlobals, valueGlobals } from "./globals.ts";
import type { Internals } from "./internals.ts";
import type { Timers } from "./timers.ts";
import { installWebAssembly, installWindow } from "./window.ts";

const { Object, Proxy, ReferenceError, Reflect, String } = globalThis;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, setPrototypeOf } = Object;
const reflect = Reflect;
const { toStringTag } = Symbol;
const includes = Function.prototype.call.bind(String.prototype.includes) as (
  text: string,
  part: string,
) => boolean;
const ENUMERABLE = ` ${enumerableGlobals} `;
const VALUES = ` ${valueGlobals} `;
/** Globals that nobody can replace in Deno, though they have setters. */
const FIXED = " caches crypto self navigator closed localStorage sessionStorage ";
/** Of those, the ones whose getters have no name. */
const UNNAMED = " crypto self navigator closed ";
/** Returns a function as it is; one written as an argument has no name. */
const unnamed = <T>(fn: T): T => fn;

/** What the global object is created with. */
export interface GlobalTools {
  readonly load: Internals["load"];
  readonly findLoaded: (chunk: string) => Readonly<Record<string, unknown>> | undefined;
  readonly bindContext: Internals["bindContext"];
  readonly timers: Timers;
  readonly createConsole: () => object;
}

/**
 * Prepares the global object and returns the function that fills it with Deno's names; `describes` says that the source may look at
 * their property descriptors.
 *
 * Filling takes longer than most sources run, so it waits until a source may see it: the host searches the source for
 * those names and says so at the start (`sandbox/host/child/namesGlobals.ts`). A source that reaches the global object
 * in a way its text doesn't reveal finds a prototype that fills it on first access.
 */
export function prepareGlobalObject(tools: GlobalTools): (describes: boolean) => void {
  const prototype = getPrototypeOf(globalThis) as object;
  let isFilled = false;

  function fill(describes = false): void {
    if (isFilled) return;
    isFilled = true;
    setPrototypeOf(globalThis, prototype);
    takePlaces(tools.load);
    installWindow({
      define,
      load: tools.load,
      findLoaded: tools.findLoaded,
      timers: tools.timers,
      bindContext: tools.bindContext,
    });
    installWebAssembly(tools.load);
    defineLazy("console", tools.createConsole);
    // V8 lets nobody define a property with a value that is made later.
    if (describes)
      for (const name of split(valueGlobals, " ")) void (globalThis as Record<string, unknown>)[name];
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
  return includes(` ${orderedGlobals} ${inheritedGlobals} `, part);
}

/**
 * Defines the globals of chunks, and in Deno's order; those of the global object itself are defined afterwards, which leaves each in its
 * place.
 */
function takePlaces(load: GlobalTools["load"]): void {
  const words = split(orderedGlobals, " ");
  let maker = "";
  for (let at = 0; at < words.length; at++) {
    const name = words[at] as string;
    if (name[name.length - 1] === ":") maker = slice(name, 0, name.length - 1);
    else if (maker === "window") define(name, undefined);
    else if (maker === "v8") {
      const own = getOwnPropertyDescriptor(globalThis, name);
      if (own === undefined || !reflect.deleteProperty(globalThis, name)) continue;
      defineProperty(globalThis, name, { __proto__: null, ...own } as PropertyDescriptor);
    } else {
      const chunk = maker;
      defineLazy(name, () => load(chunk)[name]);
    }
  }
}

function define(name: string, value: unknown): void {
  if (!includes(VALUES, ` ${name} `)) return defineGetter(name, () => value);
  defineValue(name, value);
}

function defineValue(name: string, value: unknown): void {
  defineProperty(globalThis, name, {
    __proto__: null,
    value,
    writable: name !== "Deno",
    configurable: true,
    enumerable: includes(ENUMERABLE, ` ${name} `),
  } as PropertyDescriptor);
}

/** Defines a global that is made on first use. */
function defineLazy(name: string, make: () => unknown): void {
  if (!includes(VALUES, ` ${name} `)) return defineGetter(name, make);
  defineProperty(globalThis, name, {
    __proto__: null,
    configurable: true,
    enumerable: includes(ENUMERABLE, ` ${name} `),
    get: () => {
      const value = make();
      defineValue(name, value);
      return value;
    },
    set: (value: unknown) => {
      defineValue(name, value);
    },
  } as PropertyDescriptor);
}

/** Defines a global whose getter the source may see. */
function defineGetter(name: string, make: (() => unknown) | undefined): void {
  let value: unknown;
  const accessor = {
    get(): unknown {
      if (make !== undefined) value = make();
      make = undefined;
      return value;
    },
    set(given: unknown): void {
      defineValue(name, given);
    },
  };
  const isFixed = includes(FIXED, ` ${name} `);
  defineProperty(globalThis, name, {
    __proto__: null,
    configurable: true,
    enumerable: includes(ENUMERABLE, ` ${name} `),
    get: includes(UNNAMED, ` ${name} `) ? unnamed(() => accessor.get()) : accessor.get,
    set: !isFixed ? accessor.set : name === "caches" ? undefined : { set() {} }.set,
  } as PropertyDescriptor);
}
