const { Object, Reflect } = globalThis;
const { freeze, getOwnPropertyDescriptor, getPrototypeOf, isFrozen } = Object;
const { deleteProperty, ownKeys } = Reflect;

/**
 * Freezes the global object, every built-in object reachable from it or through syntax, and `more`. It is used for a
 * context that many runs share: their source is proved not to write to any of these objects, and frozen objects refuse
 * it anyway.
 */
export function freezeIntrinsics(more: object): void {
  removeLegacyStatics();
  const open: unknown[] = [more, ...syntaxObjects()];
  visitMembers(globalThis, open);
  freeze(globalThis);
  for (let at = 0; at < open.length; at++) {
    const value = open[at];
    if ((typeof value !== "object" && typeof value !== "function") || value === null) continue;
    if (value === globalThis || isFrozen(value)) continue;
    freeze(value);
    open[open.length] = getPrototypeOf(value);
    visitMembers(value, open);
  }
}

/** Removes `RegExp.$1`, `RegExp.lastMatch` and the like: they keep what the last match found, and freezing doesn't stop that. */
function removeLegacyStatics(): void {
  const keys = ownKeys(RegExp);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    // The `get` of Symbol.species has no state.
    if (typeof key === "string" && getOwnPropertyDescriptor(RegExp, key)?.get !== undefined)
      deleteProperty(RegExp, key);
  }
}

function visitMembers(value: object, open: unknown[]): void {
  const keys = ownKeys(value);
  for (let at = 0; at < keys.length; at++) {
    const member = getOwnPropertyDescriptor(value, keys[at] as string) as PropertyDescriptor;
    open[open.length] = member.value;
    open[open.length] = member.get;
    open[open.length] = member.set;
  }
}

/** Returns objects whose prototypes no property of the global object leads to: those of functions and iterators. */
function syntaxObjects(): unknown[] {
  return [
    async () => {},
    function* () {},
    async function* () {},
    (function* () {})(),
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    "".matchAll(/./g),
    Iterator.from({ next: () => ({ done: true, value: undefined }) }),
    [].values().map(() => 0),
  ];
}
