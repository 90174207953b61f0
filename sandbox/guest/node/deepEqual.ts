import * as types from "../types.ts";

/**
 * `loose` and `strict` as in `assert`'s functions; `structural`: `strict`, but of any classes; `partial`: what the second value has must be
 * in the first.
 */
export type Comparison = "loose" | "strict" | "structural" | "partial";
type Same = (a: unknown, b: unknown) => boolean;
type Fields = Record<PropertyKey, unknown>;
type KeyObject = { equals(other: unknown): boolean };

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const tagOf = (value: object): string => Object.prototype.toString.call(value);
const isEnumerable = (value: object, key: PropertyKey): boolean =>
  Object.prototype.propertyIsEnumerable.call(value, key);

/** Compares deeply, as Node's `assert` and `util` do. */
export function isDeepEqual(a: unknown, b: unknown, mode: Comparison, seen = new Set<unknown>()): boolean {
  if (a === b) return a !== 0 || mode === "loose" || Object.is(a, b);
  if (!isObject(a) || !isObject(b)) {
    if (Number.isNaN(a) && Number.isNaN(b)) return true;
    // eslint-disable-next-line eqeqeq
    return mode === "loose" && !isObject(a) && !isObject(b) && a == b;
  }
  if (mode === "strict" && !sameClass(a, b)) return false;
  const same: Same = (left, right) => isDeepEqual(left, right, mode, seen);
  if (tagOf(a) !== tagOf(b) || !sameSlots(a, b, mode, same)) return false;
  const keys = sharedKeys(a, b, mode);
  if (keys === undefined) return false;
  const isCollection = types.isSet(b) || types.isMap(b);
  if (keys.length === 0 && !(isCollection ? types.sizeOf(b) > 0 : Array.isArray(b) && b.length > 0))
    return true;
  // Within a cycle, both have been met before, or neither has.
  const { size } = seen;
  seen.add(a).add(b);
  if (seen.size !== size + 2 && a !== b) return seen.size === size;
  try {
    return (
      keys.every((key) => isEnumerable(a, key) && same((a as Fields)[key], (b as Fields)[key])) &&
      sameItems(a, b, mode, same)
    );
  } finally {
    seen.delete(a);
    seen.delete(b);
  }
}

/** Classes that are compared even if an object has a constructor of its own. */
const KNOWN = new Set<unknown>(
  "Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error Float32Array Float64Array Function Int16Array Int32Array Int8Array Map Number Object Promise RegExp Set String Symbol Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet"
    .split(" ")
    .map((name) => (globalThis as unknown as Fields)[name]),
);

/** Compares the constructors, and the prototypes of objects that have a constructor of their own, or none. */
function sameClass(a: object, b: object): boolean {
  const { constructor } = a;
  const isCompared =
    KNOWN.has(constructor) || (constructor !== undefined && !Object.hasOwn(a, "constructor"));
  return isCompared ? constructor === b.constructor : Object.getPrototypeOf(a) === Object.getPrototypeOf(b);
}

/** Reads the primitive that an object wraps, whatever its own `valueOf`. */
function unboxed(value: object): unknown {
  const { prototype } = [Number, String, Boolean, BigInt, Symbol].find((_, at) => BOXED[at]!(value))!;
  return Reflect.apply(prototype.valueOf, value, []);
}
const BOXED = [
  types.isNumberObject,
  types.isStringObject,
  types.isBooleanObject,
  types.isBigIntObject,
  types.isSymbolObject,
];

/** Checks whether a property of errors, `message` say, is the same where it isn't compared as an enumerable one. */
function sameOfError(a: Fields, b: Fields, name: string, mode: Comparison, same: Same): boolean {
  if (isEnumerable(b, name)) return true;
  const isLeftOut = b[name] === undefined || (name === "message" && b[name] === "");
  return (mode === "partial" && isLeftOut) || same(a[name], b[name]);
}

/** Compares what an object is, apart from its properties and items. */
function sameSlots(a: object, b: object, mode: Comparison, same: Same): boolean {
  const isPartial = mode === "partial";
  const fits = (left: number, right: number): boolean => (isPartial ? left >= right : left === right);
  if (Array.isArray(a)) return Array.isArray(b) && fits(a.length, b.length);
  if (tagOf(a) === "[object Object]") return true;
  if (types.isDate(a)) {
    const timeOf = (date: object): number => Date.prototype.getTime.call(date);
    return types.isDate(b) && Object.is(timeOf(a), timeOf(b));
  }
  if (types.isRegExp(a)) {
    const [left, right] = [a as RegExp, b as RegExp];
    return (
      types.isRegExp(b) &&
      left.source === right.source &&
      left.flags === right.flags &&
      left.lastIndex === right.lastIndex
    );
  }
  if (types.isArrayBufferView(a)) {
    const name = types.typedArrayName(a);
    if (name !== types.typedArrayName(b)) return false;
    const [left, right] = [a as Float64Array, b as Float64Array];
    if (mode === "loose" && name?.startsWith("Float"))
      return left.length === right.length && left.every((value, at) => value === right[at]);
    return sameBytes(bytesOf(left), bytesOf(right), isPartial);
  }
  const isSet = types.isSet(a);
  if (isSet || types.isMap(a))
    return (isSet ? types.isSet(b) : types.isMap(b)) && fits(types.sizeOf(a), types.sizeOf(b));
  if (types.isAnyArrayBuffer(a))
    return (
      types.isAnyArrayBuffer(b) &&
      sameBytes(new Uint8Array(a as ArrayBuffer), new Uint8Array(b as ArrayBuffer), isPartial)
    );
  if (types.isAnyError(a)) {
    const [left, right] = [a as Fields, b as Fields];
    const hasCause = Object.hasOwn(b, "cause");
    return (
      types.isAnyError(b) &&
      ["message", "name", "cause", "errors"].every((name) => sameOfError(left, right, name, mode, same)) &&
      (hasCause === Object.hasOwn(a, "cause") || (isPartial && !hasCause))
    );
  }
  if (types.isBoxedPrimitive(a))
    return BOXED.every((is) => is(a) === is(b)) && Object.is(unboxed(a), unboxed(b));
  if (Array.isArray(b) || types.isBoxedPrimitive(b) || types.isAnyError(b)) return false;
  if ([types.isArrayBufferView, types.isSet, types.isMap, types.isDate, types.isRegExp].some((is) => is(b)))
    return false;
  if (a instanceof URL) return b instanceof URL && a.href === b.href;
  if (tagOf(a) === "[object KeyObject]") return (a as KeyObject).equals(b);
  if (tagOf(a) === "[object CryptoKey]") {
    const [left, right] = [a as CryptoKey, b as CryptoKey];
    return (
      left.extractable === right.extractable &&
      same(left.algorithm, right.algorithm) &&
      same(left.usages, right.usages) &&
      keyObjectOf(left).equals(keyObjectOf(right))
    );
  }
  return !types.isWeakMap(a) && !types.isWeakSet(a) && !(types.isPromise(a) && types.isPromise(b));
}

let keyObjectOf: (key: CryptoKey) => KeyObject;
/** Says where this chunk finds `node:crypto`, which compares Web Crypto's keys. */
export function compareKeysWith(load: (chunk: string) => Readonly<Record<string, unknown>>): void {
  keyObjectOf = (key) => (load("nodeCrypto")["KeyObject"] as { from(key: CryptoKey): KeyObject }).from(key);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
/** Compares bytes; if `isPartial`, the first may have others between those of the second. */
function sameBytes(a: Uint8Array, b: Uint8Array, isPartial: boolean): boolean {
  if (a.length === b.length) return a.every((byte, at) => byte === b[at]);
  let at = 0;
  for (let from = 0; isPartial && at < b.length && from < a.length; from++) if (a[from] === b[at]) at++;
  return isPartial && at === b.length;
}

/**
 * Returns the second value's enumerable keys that are compared, without the indexes of lists; undefined if the first has others.
 */
function sharedKeys(a: object, b: object, mode: Comparison): PropertyKey[] | undefined {
  const isList = Array.isArray(a) || types.isArrayBufferView(a);
  const keysOf = (value: object): PropertyKey[] => {
    const names = Object.keys(value).filter((name) => !isList || !isIndex(name));
    const symbols = mode === "loose" ? [] : Object.getOwnPropertySymbols(value);
    return [...names, ...symbols.filter((symbol) => isEnumerable(value, symbol))];
  };
  const keys = keysOf(b);
  return mode === "partial" || keysOf(a).length === keys.length ? keys : undefined;
}
const isIndex = (name: string): boolean => String(Number(name) >>> 0) === name && name !== "4294967295";

/** Compares the items of arrays, sets and maps. */
function sameItems(a: object, b: object, mode: Comparison, same: Same): boolean {
  if (Array.isArray(a)) return sameLists(a as unknown[], b as unknown[], mode, same);
  if (types.isSet(a)) return sameSets(a as Set<unknown>, b as Set<unknown>, mode, same);
  if (types.isMap(a)) return sameMaps(a as Map<unknown, unknown>, b as Map<unknown, unknown>, mode, same);
  return true;
}

function sameLists(a: readonly unknown[], b: readonly unknown[], mode: Comparison, same: Same): boolean {
  if (mode === "partial") {
    const [left, right] = [a, b].every(isDense) ? [a, b] : [Object.values(a), Object.values(b)];
    let at = 0;
    return right.every((item) => {
      while (at < left.length && !same(left[at], item)) at++;
      return at++ < left.length;
    });
  }
  for (let at = 0; at < a.length; at++) {
    if (b[at] === undefined && !Object.hasOwn(b, at)) {
      // From the first hole on, the keys that there are must be the same.
      const [left, right] = [Object.keys(a), Object.keys(b)];
      if (left.length !== right.length) return false;
      return right
        .slice(at)
        .every(
          (key) =>
            Object.hasOwn(a, key) && same((a as unknown as Fields)[key], (b as unknown as Fields)[key]),
        );
    }
    if (mode !== "loose" && a[at] === undefined && (b[at] !== undefined || !Object.hasOwn(a, at)))
      return false;
    if (!same(a[at], b[at])) return false;
  }
  return true;
}
const isDense = (list: readonly unknown[]): boolean => {
  for (let at = 0; at < list.length; at++)
    if (list[at] === undefined && !Object.hasOwn(list, at)) return false;
  return true;
};

function sameSets(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>, mode: Comparison, same: Same): boolean {
  const wanted = [...b].filter((item) => !a.has(item));
  if (mode !== "loose" && !wanted.every(isObject)) return false;
  return areFound(
    [...a].filter((item) => !b.has(item)),
    wanted,
    same,
  );
}

function sameMaps(
  a: ReadonlyMap<unknown, unknown>,
  b: ReadonlyMap<unknown, unknown>,
  mode: Comparison,
  same: Same,
): boolean {
  // A key that is no object is looked up.
  const isLookedUp = (key: unknown): boolean =>
    !isObject(key) && a.has(key) && b.has(key) && same(a.get(key), b.get(key));
  const wanted = [...b.keys()].filter((key) => !isLookedUp(key));
  if (mode !== "loose" && !wanted.every(isObject)) return false;
  return areFound(
    [...a.keys()].filter((key) => (isObject(key) || mode === "loose") && !isLookedUp(key)),
    wanted,
    (key, other) => same(key, other) && same(a.get(key), b.get(other)),
  );
}

/** Whether each of what is wanted is the same as another item. */
function areFound(items: readonly unknown[], wanted: unknown[], same: Same): boolean {
  for (const item of items) {
    if (wanted.length === 0) return true;
    const at = wanted.findIndex((other) => same(item, other));
    if (at >= 0) wanted.splice(at, 1);
  }
  return wanted.length === 0;
}
