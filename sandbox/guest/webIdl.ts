/** What Web IDL gives every platform class: enumerable members, a tag, argument counts, conversions and their error messages. */

import { withCode } from "./convert.ts";

/**
 * Makes the members of a class enumerable, lets them be called on its instances alone, and sets its `Symbol.toStringTag`. With
 * `isGlobal` its methods are functions of the global object too. `refuse` makes the error for other objects; `counts` are
 * the arguments that methods ask for before that.
 */
export function exposeInterface(
  type: { readonly prototype: object; readonly name: string },
  name = type.name,
  isGlobal = false,
  refuse: () => Error = illegalInvocation,
  counts?: Readonly<Record<string, number>>,
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
        if (typeof member[part] === "function")
          member[part] = branded(type, member[part] as () => unknown, refuse, counts?.[key]);
    Object.defineProperty(prototype, key, { ...member, enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}

/** Returns a method that refuses to be called on anything but an instance; an asynchronous one rejects. */
function branded(
  type: object,
  method: (...args: unknown[]) => unknown,
  refuse: () => Error,
  count = 0,
): (...args: unknown[]) => unknown {
  const call = (self: unknown, args: unknown[]): unknown => {
    requireCount(args.length, count, `Failed to execute 'call' on '${(type as { name: string }).name}'`);
    if (self instanceof (type as new () => object))
      try {
        return Reflect.apply(method, self, args);
      } catch (error) {
        if (!isForeign(error)) throw error;
      }
    throw refuse();
  };
  const { plain, async } = {
    plain(this: unknown, ...args: unknown[]): unknown {
      return call(this, args);
    },
    async async(this: unknown, ...args: unknown[]): Promise<unknown> {
      return call(this, args);
    },
  };
  const checked = method.constructor.name === "AsyncFunction" ? async : plain;
  for (const key of ["name", "length"])
    Object.defineProperty(checked, key, Object.getOwnPropertyDescriptor(method, key) as PropertyDescriptor);
  return checked;
}

/** Whether a method failed for want of private members: its object only inherits from the class's prototype. */
function isForeign(error: unknown): boolean {
  return error instanceof TypeError && /^Cannot (?:read|write) private member /.test(error.message);
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
  try {
    requireCount(given, required, where);
  } catch (error) {
    throw withCode(error as Error, "ERR_MISSING_ARGS");
  }
}

/** Checks the number of arguments of what Deno has in native code: its errors have no code. */
export function requireCount(given: number, required: number, where: string): void {
  if (given >= required) return;
  throw new TypeError(
    `${where}: ${required} argument${required === 1 ? "" : "s"} required, but only ${given} present`,
  );
}

/**
 * Gives a class static functions that Deno has for itself, as `name/length`; they can only be listed, and asked for more arguments.
 */
export function exposeInternals(type: { readonly name: string }, functions: string): void {
  for (const text of functions.split(" ")) {
    const [name, length] = text.split("/") as [string, string];
    const value = {
      [name](...args: unknown[]): never {
        requireCount(args.length, Number(length), `Failed to execute '${type.name}.call'`);
        throw illegalConstructor();
      },
    }[name] as object;
    Object.defineProperty(value, "length", { value: Number(length), configurable: true });
    Object.defineProperty(type, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** Lists members of a class behind all others, in the order given. */
export function moveToEnd({ prototype }: { readonly prototype: object }, keys: readonly string[]): void {
  for (const key of keys) {
    const member = Object.getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
    Reflect.deleteProperty(prototype, key);
    Object.defineProperty(prototype, key, member);
  }
}

/** Adds getters of an instance's fields to a class; Deno's class lists `later` after them. */
export function defineGetters<K extends string>(
  type: { readonly prototype: object },
  keys: readonly K[],
  fieldsOf: (self: never) => Readonly<Record<K, unknown>>,
  later: readonly string[] = [],
): void {
  for (const key of keys) {
    const accessor = {
      get [key](): unknown {
        return fieldsOf(this as never)[key];
      },
    };
    const { get } = Object.getOwnPropertyDescriptor(accessor, key) as PropertyDescriptor;
    Object.defineProperty(type.prototype, key, { get, configurable: true } as PropertyDescriptor);
  }
  moveToEnd(type, later);
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
 * `prepare` is called before an instance is.
 */
export function printGetters(
  { prototype }: { readonly prototype: object; readonly name: string },
  keys: readonly string[],
  prepare?: (instance: object) => void,
): void {
  printWith(prototype, (self, inspect, options) => {
    const isInstance = isPrototypeOf.call(prototype, self);
    if (isInstance) prepare?.(self);
    const shown = printable(self.constructor?.name ?? "", {});
    for (const key of keys) {
      const property = isInstance ? undefined : findProperty(self, key);
      Object.defineProperty(
        shown,
        key,
        property ?? {
          value: (self as unknown as Record<string, unknown>)[key],
          writable: true,
          enumerable: true,
          configurable: true,
        },
      );
    }
    return inspect(shown, options);
  });
}

/** Inspects a value inside of what is printed; without options it is on its own. */
export type Inspect = (value: unknown, options?: object) => string;

/** Gives a class the method by which Deno prints its own classes. */
export function printWith<T extends object>(
  prototype: T,
  print: (
    self: T,
    inspect: Inspect,
    options: { readonly depth?: unknown; readonly breakLength?: unknown },
  ) => string,
): void {
  const name = Symbol.for("Deno.privateCustomInspect");
  const method = {
    [name](this: T, inspect: Inspect, options: object): string {
      return print(this, inspect, options);
    },
  };
  defineFirst(prototype, name, method[name]);
}

/** Defines a method before all members whose names are symbols. */
function defineFirst(prototype: object, name: symbol, value: unknown): void {
  const others = Object.getOwnPropertySymbols(prototype)
    .filter((key) => key !== name)
    .map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)] as const);
  for (const [key] of others) Reflect.deleteProperty(prototype, key);
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  for (const [key, member] of others) Object.defineProperty(prototype, key, member as PropertyDescriptor);
}

/** Gives a class the method by which Node prints an object, next to Deno's. */
export function printForNode(prototype: object, refuse?: () => TypeError): void {
  const name = Symbol.for("nodejs.util.inspect.custom");
  const method = {
    [name](
      this: Record<symbol, (inspect: Inspect, options: object) => string> | undefined,
      ...args: unknown[]
    ): string {
      if (refuse !== undefined && !(this instanceof Object)) throw refuse();
      return (
        this![Symbol.for("Deno.privateCustomInspect")] as (inspect: Inspect, options: object) => string
      )(args[2] as Inspect, args[1] as object);
    },
  };
  Object.defineProperty(method[name], "length", { value: 3, configurable: true });
  defineFirst(prototype, name, method[name]);
}

const { isPrototypeOf } = Object.prototype;

function findProperty(object: object, key: string): PropertyDescriptor | undefined {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Creates the error of a constructor that only the platform may call. */
export function illegalConstructor(): TypeError {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}

/** Returns what creates the error of a method that is called on the wrong object. */
export function wrongThis(message: string): () => TypeError {
  return () => withCode(new TypeError(message), "ERR_INVALID_THIS");
}

/** Creates the error of a method that is called on the wrong object, as most classes word it. */
export function illegalInvocation(): TypeError {
  return withCode(new TypeError("Illegal invocation"), "ERR_INVALID_THIS");
}
