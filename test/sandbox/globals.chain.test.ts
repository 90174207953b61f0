import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { namesGlobals, replacesBuiltIns } from "../../sandbox/host/child/namesGlobals.ts";

let pool: SandboxPool;
beforeAll(async () => {
  pool = createSandboxPool({ concurrency: 1 });
  await pool.ready();
});
afterAll(() => pool.close());

const show = async (expression: string) => {
  const result = await pool.run({ source: `return Functions.encodeString(String(${expression}))` });
  return result.ok ? Buffer.from(result.bytes).toString() : result.error.message;
};
/** Reaches the global object in ways that can't be detected in the text. */
const HIDDEN = "(() => {})['con' + 'structor']('return th' + 'is')()";

test("a source that names none of Deno's globals is recognized, one that names one is too", () => {
  const none = [
    "return Functions.encodeUint256(1)",
    "const a = x.name + x.self + x?.fetch; return a",
    "let prefetch, _URL, fetches",
    "[...args]",
  ];
  expect(none.map(namesGlobals)).toEqual(none.map(() => false));
  const some = [
    "fetch('x')",
    "new URL(x)",
    "[...name]",
    "x = { fetch }",
    "globalThis.x",
    "f\\u0065tch()",
    "(0,eval)('1')",
    "x.constructor",
    "typeof Deno",
    "`${self}`",
    "await import(x)",
  ];
  expect(some.map(namesGlobals)).toEqual(some.map(() => true));
});

test("what may replace a built-in is noticed, constants and defaults of the source's own are not", () => {
  const some = [
    "Array.isArray = x",
    "if (true) { Array.isArray = x }",
    "(Array.from = x)",
    "f(), Array['from'] = x",
    "Math\n[k] = 1",
    "Map = X",
    "(Map = X)",
    "{ Map = X }",
    "f(), Map = X",
    "Map &&= X",
  ];
  expect(some.map(replacesBuiltIns)).toEqual(some.map(() => true));
  const none = [
    "let A = 1, B = 2",
    "const { A = 1 } = x",
    "(Limit = 10) => Limit",
    "({ Map, Set }) => Map",
    "class A { static Map = 1 }",
    "Array.from(x) === y",
    "Map.size <= 1",
    "x.Map = 1",
    "Map ??= X",
  ];
  expect(none.map(replacesBuiltIns)).toEqual(none.map(() => false));
});

test("what replaces a built-in is found at the end of a long source, and of one four times as long", () => {
  const found = (length: number) =>
    [" ", "define", "A ", "A.b ", ",", "( "].map((piece) => {
      const long = `Buffer.from("x") //A${piece.repeat(length)}`;
      return [replacesBuiltIns(long), replacesBuiltIns(`${long}\nMap = X`)];
    });
  expect(found(120_000)).toEqual(found(30_000));
  expect(found(30_000)).toEqual(Array.from({ length: 6 }, () => [false, true]));
});

test("a global object that is reached unseen has the names", async () => {
  expect(await show(`typeof ${HIDDEN}['fet' + 'ch']`)).toBe("function");
  expect(await show(`'UR' + 'L' in ${HIDDEN}`)).toBe("true");
  expect(await show(`Object.getPrototypeOf(${HIDDEN})[Symbol.toStringTag]`)).toBe("Window");
  expect(
    await show(`(() => {})['con' + 'structor']('return typeof conso' + 'le.log + typeof setTime' + 'out')()`),
  ).toBe("functionfunction");
});

test("what nothing has stays undefined, and inherited members stay", async () => {
  expect(await show("typeof nothingOfThatName")).toBe("undefined");
  expect(await show("nothingOfThatName")).toBe("nothingOfThatName is not defined");
  expect(await show(`${HIDDEN}['to' + 'String']()`)).toMatch(/^\[object \w+\]$/);
  expect(await show(`Reflect.ownKeys(${HIDDEN}).includes('Array')`)).toBe("true");
});

test("makeHttpRequest finds what it needs", async () => {
  const result = await pool.run({
    source:
      "const r = await Functions.makeHttpRequest({ url: 'http://127.0.0.1:1/' }); return Functions.encodeString(String(r.error) + r.message)",
  });
  expect(result.ok && Buffer.from(result.bytes).toString()).toMatch(
    /^true(?!ReferenceError|TypeError: .* is not)/,
  );
});

test("assigning to an undeclared name fails, at its own place", async () => {
  const result = await pool.run({ source: "let a = 1;\n  typo = a; return new Uint8Array(1)" });
  expect(result).toMatchObject({ ok: false, error: { message: "typo is not defined", line: 2 } });
});
