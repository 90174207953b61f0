/**
 * Gives sources the same ECMAScript on every version of Node, so that oracle nodes on different versions agree: removes
 * from newer versions what the oldest supported one lacks, and from older versions what newer ones have dropped.
 * `test/sandbox/intrinsics.chain.test.ts` pins what is left.
 */
const { Date, Intl, Iterator, Map, Uint8Array, WeakMap, WebAssembly } = globalThis as typeof globalThis & {
  readonly Iterator: object;
  readonly WebAssembly: { readonly Memory: { readonly prototype: object } };
};
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
const { isExtensible } = Object;

type Members = readonly (readonly [holder: object, ...names: readonly string[]])[];

/** Missing in V8 13.6 (Node 24). Node 26 has V8 14.6. */
const addedAfterNode24: Members = [
  [globalThis, "Temporal"],
  [Date.prototype, "toTemporalInstant"],
  [Iterator, "concat"],
  [Map.prototype, "getOrInsert", "getOrInsertComputed"],
  [WeakMap.prototype, "getOrInsert", "getOrInsertComputed"],
  [Uint8Array, "fromBase64", "fromHex"],
  [Uint8Array.prototype, "setFromBase64", "setFromHex", "toBase64", "toHex"],
  [WebAssembly.Memory.prototype, "toFixedLengthBuffer", "toResizableBuffer"],
];

/** Getters that ECMA-402 later turned into methods (`getCalendars` …); V8 14.6 has dropped them. */
const droppedAfterNode24: Members = [
  [
    Intl.Locale.prototype,
    "calendars",
    "collations",
    "hourCycles",
    "numberingSystems",
    "textInfo",
    "timeZones",
    "weekInfo",
  ],
];

/** Removes what some supported version of Node lacks. Must be called before any of the caller's code runs. */
export function removeUnsharedMembers(): void {
  for (const members of [addedAfterNode24, droppedAfterNode24])
    for (const [holder, ...names] of members) for (const name of names) deleteProperty(holder, name);
  // V8 13.6 and 14.6 create it at different places, which the order of the global object's names would reveal.
  const moved = getOwnPropertyDescriptor(globalThis, "Float16Array") as PropertyDescriptor;
  deleteProperty(globalThis, "Float16Array");
  defineProperty(globalThis, "Float16Array", moved);
  deleteProperty(Intl, "v8BreakIterator");
  defineProperty(Symbol, "metadata", { value: Symbol("Symbol.metadata") });
}

/**
 * Disables `Object.prototype.__proto__`, as Deno does: it reads as undefined, and writing it makes an ordinary property. Must be called
 * before any of the caller's code runs.
 */
export function disableProto(): void {
  const accessor = {
    get: function (): undefined {
      return undefined;
    },
    set: function (this: object, value: unknown): void {
      if (!isExtensible(this)) return;
      defineProperty(this, "__proto__", {
        __proto__: null,
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      } as PropertyDescriptor);
    },
  };
  for (const part of ["get", "set"] as const)
    defineProperty(accessor[part], "name", { value: "__proto__", configurable: true });
  defineProperty(Object.prototype, "__proto__", { ...accessor, enumerable: false, configurable: true });
}
