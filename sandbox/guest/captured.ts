/**
 * The built-ins as they are before a source runs, for chunks that the host has hardened (`sandbox/build/harden.ts`): a source that
 * replaces a built-in or a member of a prototype changes nothing for them.
 */
import { createObject, defineProperties, defineProperty } from "./descriptors.ts";

const {
  Array,
  ArrayBuffer,
  DataView,
  Map,
  Math,
  Object,
  Promise,
  Reflect,
  RegExp,
  Set,
  String,
  Symbol,
  TypeError,
  Uint8Array,
  WeakMap,
} = globalThis;
const { apply, construct, get: getMember, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { isArray } = Array;
const { hasOwn } = Object;
const TYPED_ARRAYS =
  "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array".split(
    " ",
  );
const { iterator } = Symbol;
const { isView } = ArrayBuffer;
const { max, min, trunc } = Math;
const ordinaryHasInstance = Function.prototype[Symbol.hasInstance];
type Members = Record<PropertyKey, unknown>;
type Work = (...args: unknown[]) => unknown;

const ownGet = WeakMap.prototype.get;
const ownSet = WeakMap.prototype.set;

/** Captures the built-ins; what chunks call `$`. */
export function captureBuiltIns() {
  const globals: Members = { __proto__: null };
  const statics: Record<string, Members> = { __proto__: null } as never;
  /** Members of each built-in prototype, as descriptors. */
  const prototypes = new WeakMap<object, Record<PropertyKey, PropertyDescriptor>>();
  const keep = (prototype: object | null): void => {
    if (prototype === null || apply(ownGet, prototypes, [prototype]) !== undefined) return;
    const members: Record<PropertyKey, PropertyDescriptor> = { __proto__: null } as never;
    const keys = ownKeys(prototype);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      members[key] = { __proto__: null, ...getOwnPropertyDescriptor(prototype, key) } as PropertyDescriptor;
    }
    apply(ownSet, prototypes, [prototype, members]);
    keep(getPrototypeOf(prototype));
  };
  const names = ownKeys(globalThis);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    const value = getOwnPropertyDescriptor(globalThis, name)?.value as Members | undefined;
    if ((typeof value !== "function" && typeof value !== "object") || value === null) continue;
    if ((value as unknown) === globalThis) continue;
    globals[name] = value;
    const members: Members = { __proto__: null };
    // Typed arrays inherit theirs.
    for (let at: object | null = value; at !== null && at !== Function.prototype; at = getPrototypeOf(at)) {
      const keys = ownKeys(at);
      for (let key = 0; key < keys.length; key++) {
        const member = keys[key] as string;
        if (hasOwn(members, member)) continue;
        const found = getOwnPropertyDescriptor(at, member)?.value as unknown;
        members[member] =
          typeof found === "function" ? (...args: unknown[]) => apply(found as Work, value, args) : found;
      }
    }
    statics[name] = members;
    const { prototype } = value as { prototype?: object };
    if (typeof prototype === "object") keep(prototype);
  }
  const samples: object[] = [
    [].values(),
    (String.prototype as unknown as Record<symbol, (this: string) => object>)[iterator]?.call("") as object,
    new Map().entries(),
    new Set().values(),
    "".matchAll(/./g),
    (function* () {})(),
    (async function* () {})(),
    new Uint8Array(0),
    async () => {},
    function* () {},
  ];
  for (let at = 0; at < samples.length; at++) keep(getPrototypeOf(samples[at] as object));

  const memberOf = (prototype: object, key: PropertyKey): Work =>
    (apply(ownGet, prototypes, [prototype]) as Record<PropertyKey, PropertyDescriptor>)[key]?.value as Work;
  const then = memberOf(Promise.prototype, "then");
  const entriesOf = memberOf(Map.prototype, "entries");
  const valuesOf = memberOf(Set.prototype, "values");
  const charactersOf = memberOf(String.prototype, iterator);
  const typedArray = getPrototypeOf(Uint8Array.prototype) as object;
  const lengthOf = getOwnPropertyDescriptor(typedArray, "length")?.get as Work;
  const typeOf = getOwnPropertyDescriptor(typedArray, Symbol.toStringTag)?.get as Work;
  const isInstance = (value: unknown, type: unknown): boolean =>
    apply(ordinaryHasInstance as Work, type, [value]) as boolean;
  const regExpMembers: PropertyDescriptorMap = { __proto__: null } as never;
  const regExpKeys = ownKeys(RegExp.prototype) as string[];
  for (const key of regExpKeys)
    if (key !== "constructor" && key !== "toString" && key !== "compile")
      regExpMembers[key] = getOwnPropertyDescriptor(RegExp.prototype, key) as PropertyDescriptor;
  // Splitting by an expression, and matching all, make another one.
  const species = function (this: unknown, pattern: RegExp, flags: string): RegExp {
    return defineProperties(new RegExp(pattern, flags), regExpMembers);
  };
  const maker: Members = { __proto__: null };
  maker[Symbol.species] = species;
  regExpMembers["constructor"] = { __proto__: null, value: maker } as PropertyDescriptor as never;

  /** Returns the member that the value had, unless it or a class that is no built-in defines it. */
  function member(value: unknown, key: PropertyKey): unknown {
    if (value === null || value === undefined) return (value as unknown as Members)[key];
    const object = Object(value) as object;
    for (let at: object | null = object; at !== null; at = getPrototypeOf(at)) {
      const kept = apply(ownGet, prototypes, [at]) as Record<PropertyKey, PropertyDescriptor> | undefined;
      if (kept === undefined) {
        if (hasOwn(at, key)) return getMember(object, key, value);
        continue;
      }
      const found = kept[key];
      if (found !== undefined) return found.get === undefined ? found.value : apply(found.get, value, []);
    }
    // A proxy's, or one that a source has given all objects.
    return getMember(object, key, value);
  }
  /** Calls the method that the value had. */
  function call(value: unknown, key: string, ...args: unknown[]): unknown {
    const method = member(value, key);
    if (typeof method !== "function") {
      const text = `${key} is not a function`;
      throw new TypeError(text);
    }
    if (isArray(value) && arrayMethods[key] !== undefined && method === memberOf(Array.prototype, key))
      return arrayMethods[key](value as unknown[], args, method as Work);
    if (isView(value) && (key === "slice" || key === "subarray")) {
      const name = apply(typeOf, value, []) as string;
      const type = globals[name] as Uint8ArrayConstructor | undefined;
      if (type !== undefined && getPrototypeOf(value) === type.prototype) return part(value, type, key, args);
    }
    if (isInstance(value, Promise)) {
      // Both look up `then` themselves.
      if (key === "catch") return apply(then, value, [undefined, args[0]]);
      const last = args[0] as Work;
      if (key === "finally" && typeof last === "function")
        return apply(then, value, [
          async (result: unknown) => (await last(), result),
          async (reason: unknown) => {
            await last();
            throw reason;
          },
        ]);
    }
    return apply(method as Work, value, args);
  }
  const slice = (value: unknown[]): unknown[] =>
    apply(memberOf(Array.prototype, "slice"), createObject(value), []) as unknown[];
  const isPlainArray = (value: object): boolean => getPrototypeOf(value) === Array.prototype;
  /** Calls a method of an array which looks up nothing but the array's items: what isn't an array has no species. */
  const ofItems = (value: unknown[], args: unknown[], method: Work): unknown =>
    apply(method, isPlainArray(value) ? createObject(value) : value, args);
  /** Methods of arrays that make an array by the array's `constructor`, or set items that a prototype may have a setter for. */
  const arrayMethods: Record<string, (value: unknown[], args: unknown[], method: Work) => unknown> = {
    __proto__: null as never,
    filter: ofItems,
    flat: ofItems,
    flatMap: ofItems,
    map: ofItems,
    slice: ofItems,
    concat: (value, args, method) =>
      apply(method, defineProperty(slice(value), "constructor", { value: undefined }), args),
  };
  /** Returns a part of a typed array as one of the same type, whatever its `constructor` and `Symbol.species` are now. */
  function part(view: unknown, type: Uint8ArrayConstructor, key: string, range: unknown[]): object {
    const length = apply(lengthOf, view, []) as number;
    const at = (place: number, otherwise: number): number => {
      const index = place < range.length ? range[place] : undefined;
      const whole = index === undefined ? otherwise : trunc(index as number) || 0;
      return whole < 0 ? max(length + whole, 0) : min(whole, length);
    };
    const from = at(0, 0);
    const count = max(at(1, length) - from, 0);
    const offset = (member(view, "byteOffset") as number) + from * type.BYTES_PER_ELEMENT;
    const found = new type(member(view, "buffer") as ArrayBuffer, offset, count);
    return key === "subarray" ? found : new type(found);
  }
  /** Creates an iterable that calls `next` and looks up nothing. */
  const iterable = (next: () => object): unknown => {
    const items: Members = { __proto__: null, next };
    items[iterator] = () => items;
    return items;
  };
  const step = (value: unknown, done = false): object => ({ value, done });
  /** Returns what to iterate in place of the items: the same ones, by the captured iterators. */
  function items(value: unknown): unknown {
    if (typeof value === "string") return iterate(apply(charactersOf, value, []));
    if (typeof value !== "object" || value === null) return value;
    if (isArray(value)) {
      let at = 0;
      return iterable(() => (at < value.length ? step(value[at++]) : step(undefined, true)));
    }
    if (isView(value) && !isInstance(value, DataView)) {
      let at = 0;
      const bytes = value as unknown as Members;
      return iterable(() =>
        at < (apply(lengthOf, value, []) as number) ? step(bytes[at++]) : step(undefined, true),
      );
    }
    if (hasOwn(value, iterator)) return value;
    const prototype = getPrototypeOf(value) as object;
    if (prototype === Map.prototype) return iterate(apply(entriesOf, value, []));
    if (prototype === Set.prototype) return iterate(apply(valuesOf, value, []));
    const kept = apply(ownGet, prototypes, [prototype]) as
      | Record<PropertyKey, PropertyDescriptor>
      | undefined;
    const method = kept?.[iterator]?.value as Work | undefined;
    return iterate(method === undefined ? value : apply(method, value, []));
  }
  /** Returns what `from` takes in place of the value: something with a length isn't asked for an iterator that all objects have. */
  function itemsOf(value: unknown): unknown {
    const found = items(value);
    if (found !== value || typeof value !== "object" || value === null) return found;
    const prototype = getPrototypeOf(value);
    if ((prototype !== null && prototype !== Object.prototype) || hasOwn(value, iterator)) return value;
    const from = value as unknown as ArrayLike<unknown>;
    let at = 0;
    return iterable(() => (at < from.length ? step(from[at++]) : step(undefined, true)));
  }
  /** Iterates a built-in iterator by its captured `next`; returns anything else as it is. */
  function iterate(value: unknown): unknown {
    const kept = apply(ownGet, prototypes, [getPrototypeOf(value as object)]) as
      | Record<PropertyKey, PropertyDescriptor>
      | undefined;
    const next = kept?.["next"]?.value as Work | undefined;
    return next === undefined ? value : iterable(() => apply(next, value, []) as object);
  }
  /** Returns something that has as many items by index; missing ones aren't looked up in prototypes. */
  const list = (value: unknown, length: number): unknown => {
    if (isArray(value) && value.length >= length) return value;
    const found = { __proto__: null } as Members;
    let at = 0;
    for (const item of items(value) as Iterable<unknown>) {
      found[at++] = item;
      if (at === length) break;
    }
    return found;
  };
  /** Returns the members of a value that a pattern takes. */
  const pick = (value: unknown, keys: readonly string[]): object => {
    const found = { __proto__: null } as Members;
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      found[key] = member(value, key);
    }
    return found;
  };

  const wrap = (name: string, key: string, make: (original: Work) => Work): void => {
    const members = statics[name] as Members;
    members[key] = make(members[key] as Work);
  };
  for (const name of ["Array", ...TYPED_ARRAYS])
    wrap(name, "from", (from) => (value, map) => from(itemsOf(value), map));
  wrap("Object", "fromEntries", (from) => (value) => from(items(value)));
  for (const name of ["all", "allSettled", "any", "race"])
    wrap("Promise", name, (from) => (value) => from(items(value)));
  const objects = statics["Object"] as Members;
  objects["create"] = createObject;
  objects["defineProperties"] = defineProperties;
  objects["defineProperty"] = defineProperty;
  objects["getOwnPropertyDescriptor"] = (object: object, key: PropertyKey) => {
    const kept = apply(ownGet, prototypes, [object]) as Record<PropertyKey, PropertyDescriptor> | undefined;
    if (kept !== undefined) return kept[key];
    const found = getOwnPropertyDescriptor(object, key);
    return found && { __proto__: null, ...found };
  };

  return {
    __proto__: null,
    globals,
    statics,
    member,
    call,
    /** Keeps the members of classes that a chunk exports, too. */
    keepClasses(exports: Members): void {
      const keys = ownKeys(exports);
      for (let at = 0; at < keys.length; at++) {
        const type = exports[keys[at] as string];
        const { prototype } = (typeof type === "function" ? type : {}) as { readonly prototype?: object };
        if (typeof prototype === "object") keep(prototype);
      }
    },
    items,
    list,
    pick,
    isInstance,
    /** Returns the length of a text, a list, or a typed array whatever getter it has now. */
    lengthOf: (value: unknown): unknown =>
      isView(value) && !isInstance(value, DataView)
        ? apply(lengthOf, value, [])
        : (value as { length: unknown }).length,
    /** Returns an object with the names that a loop over the object finds, but for those added to `Object.prototype`. */
    names(value: object): object {
      const found: Members = { __proto__: null };
      for (const name in value)
        if (hasOwn(value, name) || !hasOwn(Object.prototype, name)) found[name] = true;
      return found;
    },
    maybe: (value: unknown, work: Work): unknown =>
      value === null || value === undefined ? undefined : work(value),
    /** Creates a map or set of the items. */
    make(type: new () => object, from: unknown): object {
      const made = construct(type, []);
      if (from === undefined || from === null) return made;
      const isMap = isInstance(made, Map) || isInstance(made, WeakMap);
      const add = member(made, isMap ? "set" : "add") as Work;
      for (const item of items(from) as Iterable<unknown[]>)
        apply(add, made, isMap ? [item[0], item[1]] : [item]);
      return made;
    },
    /** Gives a regular expression members of its own. */
    regExp: (expression: RegExp): RegExp => defineProperties(expression, regExpMembers),
  };
}
