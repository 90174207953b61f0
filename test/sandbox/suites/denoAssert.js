// Stands in for `@std/assert` and the helpers of Deno's own tests: the part that they use, on the language alone.
export class AssertionError extends Error {
  name = "AssertionError";
}
export const fail = (message = "failed") => {
  throw new AssertionError(message);
};
const show = (value) => {
  try {
    return typeof value === "object" ? JSON.stringify(value).slice(0, 120) : String(value).slice(0, 120);
  } catch {
    return typeof value;
  }
};
const check = (holds, text, message) => {
  if (!holds) fail(message ?? text);
};

/** Deep equality with the constructors, own enumerable keys, and items of collections. */
export function equal(a, b, seen = new Map()) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (a.constructor !== b.constructor && a.constructor && b.constructor) return false;
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  if (a instanceof Set || a instanceof Map) {
    if (a.size !== b.size) return false;
    const others = [...b];
    for (const item of a) {
      const at = others.findIndex((other) => equal(item, other, seen));
      if (at < 0) return false;
      others.splice(at, 1);
    }
    return true;
  }
  const keys = [...Object.keys(a), ...Object.getOwnPropertySymbols(a)];
  if (keys.length !== Object.keys(b).length + Object.getOwnPropertySymbols(b).length) return false;
  if (Array.isArray(a) && a.length !== b.length) return false;
  return keys.every((key) => key in b && equal(a[key], b[key], seen));
}

export const assert = (value, message) => check(value, `${show(value)} is falsy`, message);
export const assertFalse = (value, message) => check(!value, `${show(value)} is truthy`, message);
export const assertEquals = (a, b, message) => check(equal(a, b), `${show(a)} is not ${show(b)}`, message);
export const assertNotEquals = (a, b, message) => check(!equal(a, b), `both are ${show(a)}`, message);
export const assertStrictEquals = (a, b, message) =>
  check(Object.is(a, b), `${show(a)} is not ${show(b)}`, message);
export const assertNotStrictEquals = (a, b, message) =>
  check(!Object.is(a, b), `both are ${show(a)}`, message);
export const assertStringIncludes = (a, b, message) =>
  check(a.includes(b), `${show(a)} lacks ${show(b)}`, message);
export const assertMatch = (a, b, message) => check(b.test(a), `${show(a)} does not match ${b}`, message);
export const assertGreaterOrEqual = (a, b, message) => check(a >= b, `${a} is less than ${b}`, message);
export const assertGreater = (a, b, message) => check(a > b, `${a} is at most ${b}`, message);
export const assertLess = (a, b, message) => check(a < b, `${a} is at least ${b}`, message);
export const assertAlmostEquals = (a, b, by = 1e-7) => check(Math.abs(a - b) <= by, `${a} is not ${b}`);
export const assertInstanceOf = (a, type) =>
  check(a instanceof type, `${show(a)} is not an instance of ${type.name}`);
export const assertExists = (a) => check(a !== undefined && a !== null, `${a} does not exist`);
export const assertArrayIncludes = (a, items) =>
  check(
    items.every((item) => a.some((other) => equal(item, other))),
    `${show(a)} lacks some of ${show(items)}`,
  );
export function assertIsError(error, type = Error, part = "") {
  check(error instanceof type, `${show(error)} is not an instance of ${type.name}`);
  const parts = part instanceof RegExp ? part.test(error.message) : error.message.includes(part);
  check(parts, `${show(error.message)} lacks ${show(part)}`);
}
export const assertObjectMatch = (a, b) => {
  for (const key of Object.keys(b)) {
    if (typeof b[key] === "object" && b[key] !== null && !Array.isArray(b[key]))
      assertObjectMatch(a[key], b[key]);
    else assertEquals(a[key], b[key]);
  }
};
export function assertThrows(work, ...expected) {
  let thrown;
  try {
    work();
  } catch (error) {
    thrown = { error };
  }
  return checkThrown(thrown, expected);
}
export async function assertRejects(work, ...expected) {
  let thrown;
  try {
    await work();
  } catch (error) {
    thrown = { error };
  }
  return checkThrown(thrown, expected);
}
function checkThrown(thrown, [type, part]) {
  if (thrown === undefined) fail("nothing was thrown");
  if (typeof type === "function") assertIsError(thrown.error, type, part);
  return thrown.error;
}
export const unreachable = () => fail("unreachable");
export const unimplemented = () => fail("unimplemented");
export const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const concat = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
