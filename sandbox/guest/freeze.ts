const { Object, Reflect } = globalThis;
const { freeze, getOwnPropertyDescriptor, getPrototypeOf, isFrozen } = Object;
const { ownKeys } = Reflect;

/**
 * Freezes the global object, every built-in object that can be reached from it or by syntax, and `more`. A context that many runs
 * use takes this: what is shown of their source says that they would not write to any of these, and here they could not.
 */
export function freezeIntrinsics(more: object): void {
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

function visitMembers(value: object, open: unknown[]): void {
  const keys = ownKeys(value);
  for (let at = 0; at < keys.length; at++) {
    const member = getOwnPropertyDescriptor(value, keys[at] as string) as PropertyDescriptor;
    open[open.length] = member.value;
    open[open.length] = member.get;
    open[open.length] = member.set;
  }
}

/** Objects that no property of the global object leads to: those behind functions and iterators. */
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
