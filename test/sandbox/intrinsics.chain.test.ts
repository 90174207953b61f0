import { afterAll, expect, test } from "vitest";
import { createSandboxPool } from "../../sandbox/index.ts";

const pool = createSandboxPool({ concurrency: 1 });
afterAll(() => pool.close());

/**
 * Walks everything reachable from ECMAScript's own globals and syntax, without the platform's names. It skips `length` and `name` of
 * functions, which go with the function; in some versions of V8, WebAssembly's functions have `arguments` and `caller`, which nothing can
 * remove.
 */
const WALK = String.raw`
const names = "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Int16Array Int32Array Int8Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval isFinite isNaN parseFloat parseInt unescape";
const prototypeOf = Object.getPrototypeOf;
const queue = names.split(" ").filter((name) => name in globalThis).map((name) => [name, globalThis[name]]);
const found = queue.map(([name]) => name);
queue.push(
  ["%AsyncFunction%", (async () => {}).constructor],
  ["%GeneratorFunction%", (function* () {}).constructor],
  ["%AsyncGeneratorFunction%", (async function* () {}).constructor],
  ["%TypedArray%", prototypeOf(Uint8Array)],
  ["%ArrayIterator%", prototypeOf([].values())],
  ["%StringIterator%", prototypeOf(""[Symbol.iterator]())],
  ["%MapIterator%", prototypeOf(new Map().values())],
  ["%SetIterator%", prototypeOf(new Set().values())],
  ["%RegExpStringIterator%", prototypeOf("".matchAll(/./g))],
  ["%WrapForValidIterator%", prototypeOf(Iterator.from({ next() {} }))],
  ["%IteratorHelper%", prototypeOf([].values().map((x) => x))],
  ["%Segments%", prototypeOf(new Intl.Segmenter().segment(""))],
);
const seen = new Set([globalThis, ...queue.map(([, value]) => value)]);
for (const [path, value] of queue) {
  for (const key of Reflect.ownKeys(value)) {
    if (["length", "name", "arguments", "caller"].includes(key) && typeof value === "function") continue;
    const member = path + (typeof key === "symbol" ? "[" + key.description + "]" : "." + key);
    found.push(member);
    const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key);
    for (const next of [held, get, set]) {
      if ((typeof next !== "object" && typeof next !== "function") || next === null || seen.has(next)) continue;
      seen.add(next);
      queue.push([member, next]);
    }
  }
}
return Functions.encodeString([...new Set(found)].sort().join("\n") + "\n");`;

test("sources find the same ECMAScript on every version of Node", async () => {
  const result = await pool.run({ source: WALK, limits: { maxResponseBytes: 1_000_000 } });
  expect(result.ok).toBe(true);
  const { bytes } = result as { readonly bytes: Uint8Array };
  await expect(new TextDecoder().decode(bytes)).toMatchFileSnapshot("intrinsics.txt");
});

test("the global object's names have one order on every version of Node", async () => {
  const source = `const names = Reflect.ownKeys(globalThis).map(String);
return Functions.encodeString(names.filter((name) => /^(?:isNaN|console|.*(?:Stack|onunhandledrejection|Float16Array|SharedArrayBuffer|SuppressedError|WebAssembly|Window))$/.test(name)).join(" "))`;
  const result = await pool.run({ source });
  const { bytes } = result as { readonly bytes: Uint8Array };
  expect(new TextDecoder().decode(bytes)).toBe(
    "isNaN console onunhandledrejection SuppressedError DisposableStack AsyncDisposableStack Float16Array SharedArrayBuffer WebAssembly Window",
  );
});
