import * as types from "../types.ts";

/**
 * `loose` and `strict` as in `assert`'s functions; `structural`: `strict`, but of any classes; `partial`: what the second value has must be
 * in the first.
 */
export type Comparison = "loose" | "strict" | "structural" | "partial";
type Same = (a: unknown, b: unknown) => boolean;
type Fields = Record<PropertyKey, unknown>;

/** Compares deeply, as Node's `assert` and `util` do. */
export function isDeepEqual(a: unknown, b: unknown, mode: Comparison, seen = new Set<unknown>()): boolean {
  if (a === b) return a !== 0 || mode === "loose" || Object.is(a, b);
  const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
  if (!isObject(a) || !isObject(b)) {
    if (Number.isNaN(a) && Number.isNaN(b)) return true;
    // eslint-disable-next-line eqeqeq
    return mode === "loose" && !isObject(a) && !isObject(b) && a == b;
  }
  if (mode === "strict" && !sameClass(a, b)) return false;
  const tag = (value: object): string => Object.prototype.toString.call(value);
  if (tag(a) !== tag(b) || !sameSlots(a, b, mode, (left, right) => isDeepEqual(left, right, mode, seen)))
    return false;
  // Within a cycle, both have been met before, or neither has.
  const { size } = seen;
  seen.add(a).add(b);
  if (seen.size !== size + 2 && a !== b) return seen.size === size;
  const same: Same = (left, right) => isDeepEqual(left, right, mode, seen);
  try {
    return sameKeys(a, b, mode, same) && sameItems(a, b, mode, same);
  } finally {
    seen.delete(a);
    seen.delete(b);
  }
}

/** Compares the constructors, and the prototypes of objects that have a constructor of their own, or none. */
function sameClass(a: object, b: object): boolean {
  const { constructor } = a;
  const isInherited = constructor !== undefined && !Object.hasOwn(a, "constructor");
  return isInherited ? constructor === b.constructor : Object.getPrototypeOf(a) === Object.getPrototypeOf(b);
}

/** Compares what an object is, apart from its properties. */
function sameSlots(a: object, b: object, mode: Comparison, same: Same): boolean {
  const both = (is: (value: unknown) => boolean): boolean | undefined =>
    is(a) ? is(b) : is(b) ? false : undefined;
  const isPartial = mode === "partial";
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && (isPartial ? a.length >= b.length : a.length === b.length);
  const isDate = both(types.isDate);
  if (isDate !== undefined) return isDate && Object.is((a as Date).getTime(), (b as Date).getTime());
  const isRegExp = both(types.isRegExp);
  if (isRegExp !== undefined) {
    const [left, right] = [a as RegExp, b as RegExp];
    return (
      isRegExp &&
      left.source === right.source &&
      left.flags === right.flags &&
      left.lastIndex === right.lastIndex
    );
  }
  const isError = both((value) => types.isNativeError(value) || value instanceof Error);
  if (isError !== undefined) {
    const left = a as Fields;
    const right = b as Fields;
    return (
      isError &&
      left["message"] === right["message"] &&
      left["name"] === right["name"] &&
      ["cause", "errors"].every(
        (name) => Object.hasOwn(a, name) === Object.hasOwn(b, name) && same(left[name], right[name]),
      )
    );
  }
  const isView = both(types.isArrayBufferView);
  if (isView !== undefined) {
    if (!isView || types.typedArrayName(a) !== types.typedArrayName(b)) return false;
    if (mode === "loose" && types.typedArrayName(a)?.startsWith("Float")) {
      const [left, right] = [a as Float64Array, b as Float64Array];
      return left.length === right.length && left.every((value, at) => value === right[at]);
    }
    return sameBytes(bytesOf(a as ArrayBufferView), bytesOf(b as ArrayBufferView));
  }
  const isBuffer = both(types.isAnyArrayBuffer);
  if (isBuffer !== undefined)
    return isBuffer && sameBytes(new Uint8Array(a as ArrayBuffer), new Uint8Array(b as ArrayBuffer));
  const isBoxed = both(types.isBoxedPrimitive);
  if (isBoxed !== undefined)
    return (
      isBoxed &&
      typeof (a as Boxed).valueOf() === typeof (b as Boxed).valueOf() &&
      Object.is((a as Boxed).valueOf(), (b as Boxed).valueOf())
    );
  const isCollection = both(types.isSet) ?? both(types.isMap);
  if (isCollection !== undefined) {
    const [left, right] = [(a as Set<unknown>).size, (b as Set<unknown>).size];
    return isCollection && types.isSet(a) === types.isSet(b) && (isPartial ? left >= right : left === right);
  }
  if (a instanceof URL) return b instanceof URL && a.href === b.href;
  return !types.isWeakMap(a) && !types.isWeakSet(a) && !types.isPromise(a);
}

interface Boxed {
  valueOf(): unknown;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** Compares enumerable properties, without the indexes of lists. */
function sameKeys(a: object, b: object, mode: Comparison, same: Same): boolean {
  const isList = Array.isArray(a) || types.isTypedArray(a);
  const keysOf = (value: object): PropertyKey[] => {
    const names = Object.keys(value).filter((name) => !isList || !/^(?:0|[1-9]\d*)$/.test(name));
    const symbols = mode === "loose" ? [] : Object.getOwnPropertySymbols(value);
    return [
      ...names,
      ...symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol)),
    ];
  };
  const keys = keysOf(b);
  if (mode !== "partial" && keysOf(a).length !== keys.length) return false;
  return keys.every(
    (key) =>
      Object.prototype.propertyIsEnumerable.call(a, key) && same((a as Fields)[key], (b as Fields)[key]),
  );
}

/** Compares the items of arrays, sets and maps. */
function sameItems(a: object, b: object, mode: Comparison, same: Same): boolean {
  if (Array.isArray(a)) {
    const [left, right] = [a as unknown[], b as unknown[]];
    if (mode === "partial") {
      let at = 0;
      return [...right.keys()].every((index) => {
        while (at < left.length && (at in left !== index in right || !same(left[at], right[index]))) at++;
        return at++ < left.length;
      });
    }
    return [...left.keys()].every(
      (at) => (mode === "loose" || at in left === at in right) && same(left[at], right[at]),
    );
  }
  if (!types.isSet(a) && !types.isMap(a)) return true;
  // A key that is no object is looked up first, so that each of the others finds its own.
  const left = [...(a as Iterable<unknown>)];
  const isPrimitive = (item: unknown): boolean => {
    const key: unknown = types.isMap(a) ? (item as [unknown])[0] : item;
    return typeof key !== "object" || key === null;
  };
  const right = [...(b as Iterable<unknown>)].sort((x, y) => Number(isPrimitive(y)) - Number(isPrimitive(x)));
  return right.every((item) => {
    const at = left.findIndex((other) => same(other, item));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
