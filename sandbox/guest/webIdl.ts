/** What Web IDL gives every platform class: enumerable members, a tag, argument counts, conversions and their error messages. */

import { withCode } from "./convert.ts";

/**
 * Makes the members of a class enumerable, lets them be called on its instances alone, and sets its `Symbol.toStringTag`. With
 * `isGlobal` its methods are functions of the global object too.
 */
export function exposeInterface(
  type: { readonly prototype: object; readonly name: string },
  name = type.name,
  isGlobal = false,
): void {
  const { prototype } = type;
  Object.defineProperty(type, "name", { value: name, configurable: true });
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key === "constructor") continue;
    const member = {
      __proto__: null,
      ...Object.getOwnPropertyDescriptor(prototype, key),
    } as PropertyDescriptor;
    // What is enumerable already checks its object itself.
    if (member.enumerable === true) continue;
    if (!isGlobal)
      for (const part of ["get", "set", "value"] as const)
        if (typeof member[part] === "function") member[part] = branded(type, member[part] as () => unknown);
    Object.defineProperty(prototype, key, { ...member, enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}

/** Returns a method that refuses to be called on anything but an instance; an asynchronous one rejects. */
function branded(type: object, method: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  const isAsync = method.constructor.name === "AsyncFunction";
  const { branded: checked } = {
    branded(this: unknown, ...args: unknown[]): unknown {
      if (this instanceof (type as new () => object)) return Reflect.apply(method, this, args);
      if (isAsync) return Promise.reject(illegalInvocation());
      throw illegalInvocation();
    },
  };
  for (const key of ["name", "length"])
    Object.defineProperty(checked, key, Object.getOwnPropertyDescriptor(method, key) as PropertyDescriptor);
  return checked;
}

/** Makes static members enumerable. */
export function exposeStatics(type: object, ...names: string[]): void {
  for (const name of names) {
    Object.defineProperty(type, name, { ...Object.getOwnPropertyDescriptor(type, name), enumerable: true });
  }
}

/**
 * Checks the number of arguments; `where` is e.g. `Failed to construct 'URL'`.
 * @throws {TypeError} If fewer than `required` arguments were given, with Node's code.
 */
export function requireArguments(given: number, required: number, where: string): void {
  if (given >= required) return;
  throw withCode(
    new TypeError(
      `${where}: ${required} argument${required === 1 ? "" : "s"} required, but only ${given} present`,
    ),
    "ERR_MISSING_ARGS",
  );
}

/** Converts to a string as Web IDL does: a symbol throws a TypeError. */
export function toText(value: unknown): string {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return String(value);
}

/** Converts to a string of Unicode scalar values: lone surrogates become U+FFFD. */
export function toScalarString(value: unknown): string {
  return toText(value).toWellFormed();
}

/**
 * Reads a list of pairs or a record, as the constructors of URLSearchParams and Headers accept them.
 * @throws {TypeError} With `pairText` if an item isn't a pair.
 */
export function readPairs(init: unknown, pairText: (item: unknown[]) => string): [string, string][] {
  const iterator: unknown = (init as Iterable<unknown>)[Symbol.iterator];
  if (typeof iterator !== "function") {
    return Reflect.ownKeys(init as object)
      .filter(
        (key): key is string =>
          typeof key === "string" && Object.prototype.propertyIsEnumerable.call(init, key),
      )
      .map((key) => [key, toText((init as Record<string, unknown>)[key])]);
  }
  return Array.from(init as Iterable<unknown>, (item) => {
    const pair =
      typeof item === "object" && item !== null && Symbol.iterator in item
        ? [...(item as Iterable<unknown>)]
        : undefined;
    if (pair?.length !== 2) throw withCode(new TypeError(pairText(pair ?? [])), "ERR_INVALID_TUPLE");
    return [toText(pair[0]), toText(pair[1])];
  });
}

/** Returns the bytes of a buffer or view without copying; undefined for anything else. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer)
  ) {
    return new Uint8Array(value as ArrayBuffer);
  }
  return undefined;
}

/** Joins byte arrays. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Creates a stand-in that prints as `Name { a: …, b: … }`, for an object whose members are getters. */
export function printable(name: string, members: object): object {
  const type = { [name]: class {} }[name] as new () => object;
  return Object.assign(new type(), members);
}

/**
 * Makes instances print as the given getters, as Deno prints the platform's own classes; the prototype prints the getters themselves.
 * `has` says whether an object is an instance.
 */
export function printGetters(
  type: { readonly prototype: object; readonly name: string },
  keys: readonly string[],
  has: (value: object) => boolean = (value) => value instanceof (type as unknown as new () => object),
): void {
  Object.defineProperty(type.prototype, Symbol.for("Deno.privateCustomInspect"), {
    configurable: true,
    value(
      this: Record<string, unknown>,
      inspect: (value: unknown, options?: object) => string,
      options: object,
    ): string {
      const name = (this.constructor as { name?: string } | undefined)?.name || type.name;
      const shown = printable(name, {});
      const isInstance = has(this);
      for (const key of keys) {
        const property = isInstance
          ? { value: this[key], writable: true, enumerable: true }
          : findProperty(this, key);
        if (property !== undefined) Object.defineProperty(shown, key, property);
      }
      return inspect(shown, options);
    },
  });
}

function findProperty(object: object, key: string): PropertyDescriptor | undefined {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return { ...found, enumerable: true };
  }
  return undefined;
}

/** Creates the error of a constructor that only the platform may call. */
export function illegalConstructor(): TypeError {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}

/** Creates the error of a method that is called on the wrong object. */
export function illegalInvocation(): TypeError {
  return withCode(new TypeError("Illegal invocation"), "ERR_INVALID_THIS");
}
