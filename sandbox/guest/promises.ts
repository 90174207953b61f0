const { Object: BuiltIn, Promise, Proxy, Reflect, WeakMap } = globalThis;
const { apply, has } = Reflect;
const { get, set } = WeakMap.prototype;

/** What became of a promise, as far as it is known. */
export interface PromiseState {
  readonly isRejected: boolean;
  readonly value: unknown;
}
export interface PromiseStates {
  readonly stateOf: (promise: object) => PromiseState | undefined;
  readonly note: (promise: object, state: PromiseState) => void;
}
type Settle = (this: unknown, value?: unknown) => object;

/**
 * Makes `Promise.resolve` and `Promise.reject` remember what they made, which JavaScript can't ask a promise. `stateOf` finds it, and what was
 * noted; it returns undefined for other promises, most of which are pending when they are shown.
 */
export function recordPromises(): PromiseStates {
  const known = new WeakMap<object, PromiseState>();
  const isPlain = (value: unknown): boolean => BuiltIn(value) !== value || !has(value as object, "then");
  for (const name of ["resolve", "reject"] as const) {
    const isRejected = name === "reject";
    const original = Promise[name] as Settle;
    const handler = {
      __proto__: null,
      apply(settle: Settle, type: unknown, args: [unknown]): object {
        const promise = apply(settle, type, args);
        if (isRejected || isPlain(args[0])) apply(set, known, [promise, { isRejected, value: args[0] }]);
        return promise;
      },
    };
    BuiltIn.defineProperty(Promise, name, {
      value: new Proxy(original, handler as ProxyHandler<Settle>),
      writable: true,
      configurable: true,
    });
  }
  return {
    stateOf: (promise) => apply(get, known, [promise]) as PromiseState | undefined,
    note: (promise, state) => void apply(set, known, [promise, state]),
  };
}
