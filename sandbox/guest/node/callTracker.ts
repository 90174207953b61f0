import { checkInteger, invalidArgument, warnDeprecated } from "../buffer/errors.ts";
import { AssertionError } from "./assertionError.ts";

type Work = (...args: unknown[]) => unknown;
interface Tracked {
  readonly name: string;
  readonly expected: number;
  readonly stack: Error;
  calls: object[];
}
const MAX_COUNT = 2 ** 32 - 1;

/** Node's deprecated counter of the calls of functions. */
export class CallTracker {
  readonly #tracked = new Map<unknown, Tracked>();
  #find(tracked: unknown): Tracked {
    const found = this.#tracked.get(tracked);
    if (found === undefined) throw invalidArgument("tracked", tracked, "is not a tracked function");
    return found;
  }
  reset(tracked: unknown): void {
    for (const one of tracked === undefined ? this.#tracked.values() : [this.#find(tracked)]) one.calls = [];
  }
  getCalls(tracked: unknown): readonly object[] {
    return Object.freeze([...this.#find(tracked).calls]);
  }
  calls(given: unknown, count: unknown = 1): Work {
    const work = typeof given === "function" ? (given as Work) : (): void => {};
    const expected = checkInteger(typeof given === "number" ? given : count, "expected", 1, MAX_COUNT);
    const entry: Tracked = {
      name: typeof given === "function" ? given.name || "calls" : "calls",
      expected,
      stack: new Error(),
      calls: [],
    };
    const tracked = new Proxy(work, {
      __proto__: null,
      apply(target: Work, thisArg: unknown, args: unknown[]) {
        entry.calls.push(Object.freeze({ thisArg, arguments: Object.freeze([...args]) }));
        return Reflect.apply(target, thisArg, args);
      },
    } as ProxyHandler<Work>);
    this.#tracked.set(tracked, entry);
    return tracked;
  }
  report(): { readonly message: string }[] {
    return [...this.#tracked.values()]
      .filter(({ calls, expected }) => calls.length !== expected)
      .map(({ name, expected, calls: { length: actual }, stack }) => ({
        message: `Expected the ${name} function to be executed ${expected} time(s) but was executed ${actual} time(s).`,
        actual,
        expected,
        operator: name,
        stack,
      }));
  }
  verify(): void {
    const [first, ...more] = this.report();
    if (first === undefined) return;
    const message =
      more.length === 0 ? first.message : "Functions were not called the expected number of times";
    throw new AssertionError({ message });
  }
}
/** The class as the module has it: behind a function, as what Deno calls deprecated is. */
export const deprecatedTracker = function (this: unknown, ...args: []): CallTracker {
  warnDeprecated("DEP0173", "assert.CallTracker is deprecated.");
  if (new.target === undefined)
    throw new TypeError("Class constructor CallTracker cannot be invoked without 'new'");
  return Reflect.construct(CallTracker, args, new.target);
};
Object.setPrototypeOf(deprecatedTracker, CallTracker);
deprecatedTracker.prototype = CallTracker.prototype;
