/**
 * Sources find the same ECMAScript on every version of Node, so that oracle nodes on different ones agree: what the oldest supported Node
 * lacks is removed from newer ones, and what newer ones have dropped from the older. `test/sandbox/intrinsics.test.ts` holds what is left.
 */
const { Date, Intl, Iterator, Map, Uint8Array, WeakMap, WebAssembly } = globalThis as typeof globalThis & {
  readonly Iterator: object;
  readonly WebAssembly: { readonly Memory: { readonly prototype: object } };
};
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;

type Members = readonly (readonly [holder: object, ...names: readonly string[]])[];

/** V8 13.6, of Node 24, has none of these. Node 26 has V8 14.6. */
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

/** Getters from before ECMA-402 made methods of them (`getCalendars` …), which V8 14.6 has dropped. */
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

/** Removes what not every supported version of Node has. To be called before any of the caller's code runs. */
export function removeUnsharedMembers(): void {
  for (const members of [addedAfterNode24, droppedAfterNode24])
    for (const [holder, ...names] of members) for (const name of names) deleteProperty(holder, name);
  moveToEnd(globalThis, "Float16Array");
}

/** V8 13.6 and 14.6 create it at different places, which the order of the global object's names would show. */
function moveToEnd(holder: object, name: string): void {
  const descriptor = getOwnPropertyDescriptor(holder, name) as PropertyDescriptor;
  deleteProperty(holder, name);
  defineProperty(holder, name, descriptor);
}
