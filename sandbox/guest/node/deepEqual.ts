import * as types from "../types.ts";

/** Compares deeply, as Node's `assert` and `util` do: `strict` also compares types and prototypes, and uses `Object.is`. */
export function isDeepEqual(
  a: unknown,
  b: unknown,
  strict: boolean,
  seen = new Map<unknown, unknown>(),
): boolean {
  // eslint-disable-next-line eqeqeq
  if (strict ? Object.is(a, b) : a == b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  const same = (left: unknown, right: unknown): boolean => isDeepEqual(left, right, strict, seen);
  if (types.isDate(a) || types.isDate(b)) {
    if (!types.isDate(a) || !types.isDate(b) || !Object.is((a as Date).getTime(), (b as Date).getTime()))
      return false;
  }
  if (types.isRegExp(a) || types.isRegExp(b)) {
    if (
      !types.isRegExp(a) ||
      !types.isRegExp(b) ||
      RegExp.prototype.toString.call(a) !== RegExp.prototype.toString.call(b)
    )
      return false;
  }
  if (types.isNativeError(a) || types.isNativeError(b)) {
    if ((a as Error).message !== (b as Error).message || (a as Error).name !== (b as Error).name)
      return false;
  }
  if (
    types.isBoxedPrimitive(a) &&
    !Object.is((a as { valueOf(): unknown }).valueOf(), (b as { valueOf(): unknown }).valueOf())
  )
    return false;
  if (types.isSet(a) || types.isMap(a)) return sameCollections(a, b, same);
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

function sameCollections(a: object, b: object, same: (left: unknown, right: unknown) => boolean): boolean {
  if (types.isSet(a) !== types.isSet(b) || types.isMap(a) !== types.isMap(b)) return false;
  const left = [...(a as Iterable<unknown>)];
  const right = [...(b as Iterable<unknown>)];
  if (left.length !== right.length) return false;
  return left.every((item) => {
    const at = right.findIndex((other) => same(item, other));
    if (at >= 0) right.splice(at, 1);
    return at >= 0;
  });
}
