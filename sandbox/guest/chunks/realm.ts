import { removeUnsharedMembers } from "../ecmaScript.ts";
import { shareFormats } from "../intl.ts";
import type { Ending, Names, Realm, RealmParts } from "../realmTypes.ts";
import observe from "./observe.ts";

/**
 * Runs in the new context, before any code of the source. `evaluate` is for the host: called from another context, V8's `eval` does
 * nothing.
 */
export default {
  setUp,
  evaluate: (code: string): Ending => {
    try {
      return { value: evaluate(code) as unknown };
    } catch (error) {
      return { error };
    }
  },
};
// eslint-disable-next-line no-eval -- that is what the module is for
const evaluate = eval;

function setUp({ names, root, globals, touch }: RealmParts): Realm {
  removeUnsharedMembers();
  shareFormats();
  observe({ touch });
  const own = globalThis as unknown as Names;
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(own, name, { value, writable: true, configurable: true });
  const first = new Map<PropertyKey, PropertyDescriptor | undefined>(
    Reflect.ownKeys(own).map((key) => [key, Object.getOwnPropertyDescriptor(own, key)]),
  );
  /** The getters that stand for properties of the object. */
  const linked = new Map<PropertyKey, () => unknown>();
  function link(key: PropertyKey): void {
    if (Object.getOwnPropertyDescriptor(own, key)?.configurable === false) return;
    const get = (): unknown => names[key];
    const set = (value: unknown): void => {
      Reflect.set(names, key, value);
      linkAll();
    };
    const enumerable = Object.getOwnPropertyDescriptor(names, key)?.enumerable === true;
    Object.defineProperty(own, key, { get, set, enumerable, configurable: true });
    linked.set(key, get);
  }
  function linkAll(): void {
    for (let from: object | null = names; from !== null && from !== root; from = Object.getPrototypeOf(from))
      for (const key of Reflect.ownKeys(from)) if (!linked.has(key)) link(key);
  }
  function enter(): void {
    for (const key of linked.keys()) {
      if (key in names) continue;
      linked.delete(key);
      delete own[key];
      const before = first.get(key);
      if (before !== undefined) Object.defineProperty(own, key, before);
    }
    linkAll();
  }
  function leave(): void {
    for (const key of linked.keys()) {
      if (Object.hasOwn(own, key)) continue;
      linked.delete(key);
      Reflect.deleteProperty(names, key);
    }
    for (const key of Reflect.ownKeys(own)) {
      const now = Object.getOwnPropertyDescriptor(own, key) as PropertyDescriptor;
      const before = first.get(key);
      if (now.get !== undefined && linked.get(key) === now.get) continue;
      if (before !== undefined && before.get === now.get && Object.is(before.value, now.value)) continue;
      Reflect.defineProperty(names, key, now);
      if (now.configurable) link(key);
      else first.set(key, now);
    }
  }
  const outside = new Proxy(names, {
    get: (_, key) => (key in names ? names : own)[key],
    has: (_, key) => key in names || key in own,
  });
  return {
    within: (work) => {
      enter();
      try {
        const value = work();
        return value === own ? outside : value;
      } finally {
        leave();
      }
    },
    adopt: ({ name, message }) => {
      const Type = first.get(name)?.value as unknown;
      return typeof Type === "function" ? new (Type as ErrorConstructor)(message) : new Error(message);
    },
  };
}
