/**
 * Web IDL's conversions of arguments (§3.2), with Deno's messages. A converter takes the value, what is executed (`prefix`, e.g.
 * "Failed to construct 'Blob'") and which value it is (`context`, e.g. "Argument 1"). The built-ins are captured at load, and nothing
 * is read from a prototype that a source may have changed.
 */
import * as types from "./types.ts";

const { ArrayBuffer, Math, Number, Object, Reflect, String, TypeError } = globalThis;
const { isView } = ArrayBuffer;
const { defineProperty } = Object;
const { getOwnPropertyDescriptor, ownKeys } = Reflect;
const { isFinite, isNaN, MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;
const { floor, max, min, round, trunc } = Math;
const { iterator } = Symbol;
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (
  text: string,
  at: number,
) => number;
const toWellFormed = Function.prototype.call.bind(String.prototype.toWellFormed) as (text: string) => string;

export type Convert<T> = (value: unknown, prefix: string, context: string) => T;

/** Creates the error of a conversion that failed; Node's code, where Deno sets one. */
export function conversionError(message: string, prefix: string, context: string, code?: string): TypeError {
  const error = new TypeError(`${prefix === "" ? "" : `${prefix}: `}${context ?? "Value"} ${message}`);
  return code === undefined ? error : withCode(error, code);
}

/** Gives an error Node's `code`. */
export function withCode<E extends Error>(error: E, code: string): E {
  return defineProperty(error, "code", {
    __proto__: null,
    value: code,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}

/** Adds an item to a list without the prototype's `push` or setters. */
export function append<T>(list: T[], item: T): void {
  defineProperty(list, list.length, {
    __proto__: null,
    value: item,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

export const any: Convert<unknown> = (value) => value;
export const boolean: Convert<boolean> = (value) => !!value;

/** `DOMString`. */
export const string = (value: unknown, _prefix = "", _context = ""): string => {
  if (typeof value === "string") return value;
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return String(value);
};

/** `USVString`. */
export const scalarString = (value: unknown, _prefix = "", _context = ""): string =>
  toWellFormed(string(value));

export const byteString: Convert<string> = (value, prefix, context) => {
  const text = string(value);
  for (let at = 0; at < text.length; at++) {
    if (charCodeAt(text, at) > 0xff) throw conversionError("is not a valid ByteString", prefix, context);
  }
  return text;
};

/** `double`; with `unrestricted` also infinities and NaN. */
export function double(unrestricted = false): Convert<number> {
  return (value, prefix, context) => {
    const number = +(value as string);
    if (!unrestricted && !isFinite(number))
      throw conversionError("is not a finite floating-point value", prefix, context);
    return number;
  };
}

/** An integer type; `mode` is its extended attribute. */
export function integer(options: {
  readonly bits: 16 | 32 | 64;
  readonly signed?: boolean;
  readonly mode?: "clamp" | "enforceRange";
}): Convert<number> {
  const { bits, signed = false, mode } = options;
  const lowest = signed ? (bits === 64 ? MIN_SAFE_INTEGER : -(2 ** (bits - 1))) : 0;
  const highest = bits === 64 ? MAX_SAFE_INTEGER : 2 ** (signed ? bits - 1 : bits) - 1;
  return (value, prefix, context) => {
    const number = +(value as string);
    if (mode === "enforceRange") {
      if (!isFinite(number)) throw conversionError("is not a finite number", prefix, context);
      const whole = trunc(number) || 0;
      if (whole >= lowest && whole <= highest) return whole;
      throw conversionError(
        `is outside the accepted range of ${lowest} to ${highest}, inclusive`,
        prefix,
        context,
      );
    }
    if (mode === "clamp" && !isNaN(number)) {
      const within = min(max(number, lowest), highest);
      return (within % 1 === 0.5 || within % 1 === -0.5 ? 2 * round(within / 2) : round(within)) + 0;
    }
    if (!isFinite(number)) return 0;
    const whole = trunc(number) || 0;
    if (whole >= lowest && whole <= highest) return whole;
    const size = 2 ** bits;
    const positive = whole - floor(whole / size) * size;
    return signed && positive >= size / 2 ? positive - size : positive;
  };
}

export function enumeration<T extends string>(name: string, values: readonly T[]): Convert<T> {
  return (value, prefix) => {
    const text = String(value);
    for (let at = 0; at < values.length; at++) if (values[at] === text) return text as T;
    throw withCode(
      new TypeError(`${prefix}: The provided value '${text}' is not a valid enum value of type ${name}`),
      "ERR_INVALID_ARG_VALUE",
    );
  };
}

/** An interface type; `has` says whether a value is an instance. */
export function instance<T>(name: string, has: (value: unknown) => boolean): Convert<T> {
  return (value, prefix, context) => {
    if (!has(value)) throw conversionError(`is not of type ${name}`, prefix, context);
    return value as T;
  };
}

export function sequence<T>(convert: Convert<T>): Convert<T[]> {
  return (value, prefix, context) => {
    const list: T[] = [];
    const method = isObject(value) ? (value as { [iterator]?: (() => unknown) | null })[iterator] : undefined;
    // In the words of V8 for Deno's code.
    if (method !== undefined && method !== null && typeof method !== "function")
      throw new TypeError("t?.[U] is not a function");
    const items = method && (Reflect.apply(method, value as object, []) as object | undefined);
    if (items === undefined || items === null)
      throw conversionError("can not be converted to sequence.", prefix, context);
    for (;;) {
      // As it is now: a source may have replaced how lists are iterated.
      const next = Reflect.get(items, "next") as (() => unknown) | undefined | null;
      const step = next && (Reflect.apply(next, items, []) as IteratorResult<unknown> | undefined);
      if (step === undefined || step === null)
        throw conversionError("can not be converted to sequence.", prefix, context);
      if (step.done === true) return list;
      append(list, convert(step.value, prefix, `${context}, index ${list.length}`));
    }
  };
}

/** Returns the items of an iterable by the iterators that sources may have replaced. */
export const itemsOf = (value: object): unknown[] => sequence(any)(value, "", "");

/** Whether a value is a proxy; set by a chunk that converts records. */
export const records: { isProxy: (value: object) => boolean } = { isProxy: () => false };

/** `record`, as its pairs. Names of symbols count in proxies alone, as in Deno. */
export function record<T>(convertKey: Convert<string>, convert: Convert<T>): Convert<[string, T][]> {
  return (value, prefix, context) => {
    if (!isObject(value)) throw conversionError("can not be converted to dictionary", prefix, context);
    const pairs: [string, T][] = [];
    const keys = ownKeys(value);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string | symbol;
      if (typeof key === "symbol" && !records.isProxy(value)) continue;
      if (getOwnPropertyDescriptor(value, key)?.enumerable !== true) continue;
      const name = convertKey(key, prefix, context);
      append(pairs, [name, convert((value as Record<PropertyKey, unknown>)[key], prefix, context)]);
    }
    return pairs;
  };
}

/** A member of a dictionary: its conversion, and the value that it has when it isn't given; a list is converted each time. */
export type Member = readonly [convert: Convert<unknown>, fallback?: unknown];

/**
 * A dictionary, as an object without a prototype. Members are read in the order of their names, as Web IDL does, so they must be listed in it.
 */
export function dictionary<T extends object>(
  name: string,
  members: Readonly<Record<string, Member>>,
): Convert<T> {
  const keys = Object.keys(members);
  return (value, prefix, context) => {
    const given = value === undefined || value === null ? undefined : value;
    if (given !== undefined && !isObject(given))
      throw conversionError("can not be converted to a dictionary", prefix, context, "ERR_INVALID_ARG_TYPE");
    const made = { __proto__: null } as unknown as Record<string, unknown>;
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      const [convert, fallback] = members[key] as Member;
      const item = (given as Record<string, unknown> | undefined)?.[key];
      if (item !== undefined) made[key] = convert(item, prefix, `'${key}' of '${name}' (${context})`);
      else if (typeof fallback === "object" && fallback !== null)
        // Deno passes the default value on as the first part of the message, which becomes empty.
        made[key] = convert(fallback, fallback as never, undefined as never);
      else if (fallback !== undefined) made[key] = fallback;
    }
    return made as T;
  };
}

/** `BufferSource`, as a view on its bytes; `shared` also allows shared memory. */
export function bufferSource(shared = false): Convert<Uint8Array> {
  return (value, prefix, context) => {
    if (isView(value)) {
      const { buffer } = value;
      if (!shared && types.isSharedArrayBuffer(buffer))
        throw conversionError("is a view on a SharedArrayBuffer, which is not allowed", prefix, context);
      return types.isDetached(buffer)
        ? new Uint8Array(0)
        : new Uint8Array(buffer, value.byteOffset, value.byteLength);
    }
    if (types.isArrayBuffer(value) || (shared && types.isSharedArrayBuffer(value)))
      return types.isDetached(value) ? new Uint8Array(0) : new Uint8Array(value as ArrayBuffer);
    throw conversionError(
      shared
        ? "is not an ArrayBuffer, SharedArrayBuffer, or a view on one"
        : "is not an ArrayBuffer or a view on one",
      prefix,
      context,
      "ERR_INVALID_ARG_TYPE",
    );
  };
}
