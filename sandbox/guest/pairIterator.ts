/** Returns the pairs that a platform class iterates over; called again at every step, as the list is live. */
type Pairs = () => readonly (readonly [string, unknown])[];
type Pick = (pair: readonly [string, unknown]) => unknown;

/**
 * Adds `entries`, `keys`, `values` and `[Symbol.iterator]` to a class. The iterators follow Web IDL: they are tagged
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
      value(this: object): IteratorResult<unknown> {
        const state = states.get(this);
        if (state === undefined) throw new TypeError(`Value of this must be of type ${name}Iterator`);
        const pair = state.pairs()[state.at++];
        return pair === undefined
          ? { value: undefined, done: true }
          : { value: state.pick(pair), done: false };
      },
      enumerable: true,
      configurable: true,
      writable: true,
    },
    [Symbol.toStringTag]: { value: title, configurable: true },
    [Symbol.for("Deno.privateCustomInspect")]: {
      configurable: true,
      value(this: object, inspect: (value: unknown) => string): string {
        const state = states.get(this);
        const left = state === undefined ? [] : state.pairs().slice(state.at).map(state.pick);
        return `${title} { ${left.map((item) => inspect(item)).join(", ")} }`;
      },
    },
  }) as object;
  const picks: Readonly<Record<string, Pick>> = {
    entries: ([key, value]) => [key, value],
    keys: ([key]) => key,
    values: ([, value]) => value,
  };
  for (const [key, pick] of Object.entries(picks)) {
    const method = {
      [key](this: never): object {
        const pairs = (): ReturnType<Pairs> => pairsOf(this);
        // A call on the wrong object fails here rather than at the first step.
        pairs();
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
}
