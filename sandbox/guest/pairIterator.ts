import { withCode } from "./convert.ts";
import { printWith } from "./webIdl.ts";

/** Returns the pairs that a platform class iterates over; called again at every step, as the list is live. */
type Pairs = () => readonly Pair[];
type Pair = readonly [string, unknown];
type Pick = (pair: Pair) => unknown;

/**
 * Adds `entries`, `keys`, `values`, `forEach` and `[Symbol.iterator]` to a class. The iterators follow Web IDL: they are tagged
 * `Name Iterator`, are live, and print the remaining items.
 */
export function makeIterable(
  type: { readonly prototype: object },
  name: string,
  pairsOf: (self: never) => ReturnType<Pairs>,
): void {
  const states = new WeakMap<object, { readonly pairs: Pairs; readonly pick: Pick; at: number }>();
  const title = `${name} Iterator`;
  const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;
  const iteratorPrototype = Object.create(IteratorPrototype, {
    next: {
      value: {
        next(this: object): IteratorResult<unknown> {
          const state = states.get(this);
          if (state === undefined)
            throw withCode(
              new TypeError(`Value of "this" must be of type ${name}Iterator`),
              "ERR_INVALID_THIS",
            );
          const pairs = state.pairs();
          return state.at < pairs.length
            ? { value: state.pick(pairs[state.at++] as Pair), done: false }
            : { value: undefined, done: true };
        },
      }.next,
      enumerable: true,
      configurable: true,
      writable: true,
    },
    [Symbol.toStringTag]: { value: title, configurable: true },
  }) as object;
  printWith(iteratorPrototype, (self, inspect, options) => {
    const state = states.get(self);
    const items = state === undefined ? [] : state.pairs().slice(state.at).map(state.pick);
    const shown = items.map((item) => inspect(item, options));
    const line = `${title} { ${shown.join(", ")} }`;
    return line.length > ((options.breakLength as number | undefined) ?? 80)
      ? `${title} {\n  ${shown.join(",\n  ")} }`
      : line;
  });
  const picks: Readonly<Record<string, Pick>> = {
    entries: ([key, value]) => [key, value],
    keys: ([key]) => key,
    values: ([, value]) => value,
  };
  /** Refuses a call on the wrong object. */
  function assertOwn(self: never): void {
    try {
      pairsOf(self);
    } catch {
      throw withCode(new TypeError(`Value of "this" must be of type ${name}`), "ERR_INVALID_THIS");
    }
  }
  for (const [key, pick] of Object.entries(picks)) {
    const method = {
      [key](this: never): object {
        const pairs = (): ReturnType<Pairs> => pairsOf(this);
        assertOwn(this);
        const iterator = Object.create(iteratorPrototype) as object;
        states.set(iterator, { pairs, pick, at: 0 });
        return iterator;
      },
    }[key];
    Object.defineProperty(type.prototype, key, {
      value: method,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    if (key === "entries") {
      Object.defineProperty(type.prototype, Symbol.iterator, {
        value: method,
        writable: true,
        configurable: true,
      });
    }
  }
  Object.defineProperty(type.prototype, "forEach", {
    value: {
      forEach(this: never, callback: unknown, thisArg: unknown = undefined): void {
        assertOwn(this);
        if (typeof callback !== "function") {
          const shown = callback === null ? "null" : typeof callback;
          throw withCode(
            new TypeError(`The "callback" argument must be of type function. Received ${shown}`),
            "ERR_INVALID_ARG_TYPE",
          );
        }
        for (let at = 0; at < pairsOf(this).length; at++) {
          const [key, value] = pairsOf(this)[at] as Pair;
          Reflect.apply(callback, thisArg, [value, key, this]);
        }
      },
    }.forEach,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
