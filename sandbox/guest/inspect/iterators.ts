/** Formats what is left in an iterator of a map or set. */

import type { Inspection } from "./inspection.ts";
import { joinEntries } from "./layout.ts";

const nextOf = (iterator: object): (() => IteratorResult<unknown>) =>
  (Object.getPrototypeOf(iterator) as Iterator<unknown>).next as () => IteratorResult<unknown>;
const NEXT = {
  Map: nextOf(new Map().keys()),
  Set: nextOf(new Set().keys()),
} as const;

/** What is left in iterators that were shown: they can only be shown by taking it, so they have a `next` of their own that gives it. */
const shown = new WeakMap<object, unknown[]>();

function takeAll(kind: keyof typeof NEXT, iterator: object): unknown[] {
  const left: unknown[] = [];
  const next = (): IteratorResult<unknown> => Reflect.apply(NEXT[kind], iterator, []);
  for (let result = next(); result.done !== true; result = next()) left.push(result.value);
  return left;
}

/** Returns what is left in an iterator; undefined if that can't be known without a trace. */
export function leftIn(kind: keyof typeof NEXT, iterator: object): readonly unknown[] | undefined {
  const known = shown.get(iterator);
  if (known !== undefined) return known;
  if (!Object.isExtensible(iterator) || Object.hasOwn(iterator, "next")) return undefined;
  let left: unknown[];
  try {
    left = takeAll(kind, iterator);
  } catch {
    // It only says that it is one.
    return undefined;
  }
  shown.set(iterator, left);
  if (left.length > 0)
    Object.defineProperty(iterator, "next", {
      value: function next(this: object): IteratorResult<unknown> {
        return left.length > 0 ? { value: left.shift(), done: false } : Reflect.apply(NEXT[kind], this, []);
      },
      writable: true,
      configurable: true,
    });
  return left;
}

/** Whether these are an iterator's entries rather than keys or values: each a list of two, in a set twice the same. Of none, as most often. */
export const areEntries = (kind: keyof typeof NEXT, left: readonly unknown[]): left is [unknown, unknown][] =>
  (left.length > 0 || kind === "Map") &&
  left.every(
    (item) => Array.isArray(item) && item.length === 2 && (kind === "Map" || Object.is(item[0], item[1])),
  );

/** Formats what is left; `depth` is that of its values. */
export function iteratorEntries(
  state: Inspection,
  kind: keyof typeof NEXT,
  left: readonly unknown[],
  depth: number,
): string[] {
  const isPairs = areEntries(kind, left);
  const limit = Math.min(Math.max(0, state.iterableLimit), left.length);
  state.indentation += 2;
  const output = left.slice(0, limit).map((item) => {
    if (!isPairs) return state.format(state, item, depth);
    const entries = (item as unknown[]).map((part) => state.format(state, part, depth));
    return joinEntries(state, { entries, base: "", braces: ["[", "]"], list: item as unknown[], depth });
  });
  state.indentation -= 2;
  if (left.length > limit)
    output.push(`... ${left.length - limit} more item${left.length - limit > 1 ? "s" : ""}`);
  return output;
}
