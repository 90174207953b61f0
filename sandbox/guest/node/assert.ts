import { inspect } from "./util.ts";
import { isDeepEqual } from "./deepEqual.ts";

/** Creates `node:assert`. */
export function createAssert(): Readonly<Record<string, unknown>> {
  class AssertionError extends Error {
    readonly code = "ERR_ASSERTION";
    readonly actual: unknown;
    readonly expected: unknown;
    readonly operator: string;
    readonly generatedMessage: boolean;
    constructor(options: { message?: unknown; actual?: unknown; expected?: unknown; operator?: string }) {
      const { message, actual, expected, operator = "fail" } = options;
      super(message === undefined ? `${inspect(actual)} ${operator} ${inspect(expected)}` : String(message));
      this.name = "AssertionError";
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
      this.generatedMessage = message === undefined;
    }
  }
  const check = (
    holds: boolean,
    text: string,
    operator: string,
    message: unknown,
    actual?: unknown,
    expected?: unknown,
  ): void => {
    if (holds) return;
    if (message instanceof Error) throw message;
    throw new AssertionError({ message: message ?? text, actual, expected, operator });
  };
  const pair = (lead: string, actual: unknown, expected: unknown): string =>
    `${lead}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
  type Check = (actual: unknown, expected: unknown, message?: unknown) => void;
  const equality =
    (operator: string, lead: string, holds: (a: unknown, b: unknown) => boolean): Check =>
    (actual, expected, message) =>
      check(holds(actual, expected), pair(lead, actual, expected), operator, message, actual, expected);

  const ok = (value: unknown, message?: unknown): void =>
    check(Boolean(value), "The expression evaluated to a falsy value", "==", message, value, true);
  const matches = (error: unknown, expected: unknown): boolean => {
    if (expected === undefined) return true;
    if (types(expected, "RegExp")) return (expected as RegExp).test(String(error));
    if (typeof expected === "function") {
      const type = expected as { prototype?: object };
      if (type.prototype !== undefined && error instanceof (expected as new () => object)) return true;
      return type.prototype === undefined && (expected as (error: unknown) => unknown)(error) === true;
    }
    return Object.entries(expected as object).every(([key, value]) =>
      types(value, "RegExp")
        ? (value as RegExp).test(String((error as Record<string, unknown>)[key]))
        : isDeepEqual((error as Record<string, unknown>)[key], value, true),
    );
  };
  const assert = Object.assign((value: unknown, message?: unknown) => ok(value, message), {
    AssertionError,
    ok,
    equal: equality("==", "Expected values to be loosely equal:", isLooselyEqual),
    notEqual: equality("!=", 'Expected "actual" to be loosely unequal to:', (a, b) => !isLooselyEqual(a, b)),
    strictEqual: equality("strictEqual", "Expected values to be strictly equal:", Object.is),
    notStrictEqual: equality(
      "notStrictEqual",
      'Expected "actual" to be strictly unequal to:',
      (a, b) => !Object.is(a, b),
    ),
    deepEqual: equality("deepEqual", "Expected values to be loosely deep-equal:", (a, b) =>
      isDeepEqual(a, b, false),
    ),
    notDeepEqual: equality(
      "notDeepEqual",
      'Expected "actual" not to be loosely deep-equal to:',
      (a, b) => !isDeepEqual(a, b, false),
    ),
    deepStrictEqual: equality("deepStrictEqual", "Expected values to be strictly deep-equal:", (a, b) =>
      isDeepEqual(a, b, true),
    ),
    notDeepStrictEqual: equality(
      "notDeepStrictEqual",
      'Expected "actual" not to be strictly deep-equal to:',
      (a, b) => !isDeepEqual(a, b, true),
    ),
    match: (text: string, pattern: RegExp, message?: unknown) =>
      check(
        pattern.test(text),
        `The input did not match the regular expression ${String(pattern)}. Input:\n\n${inspect(text)}\n`,
        "match",
        message,
        text,
        pattern,
      ),
    doesNotMatch: (text: string, pattern: RegExp, message?: unknown) =>
      check(
        !pattern.test(text),
        `The input was expected to not match the regular expression ${String(pattern)}. Input:\n\n${inspect(text)}\n`,
        "doesNotMatch",
        message,
        text,
        pattern,
      ),
    fail: (message: unknown = "Failed"): never => {
      throw message instanceof Error ? message : new AssertionError({ message });
    },
    ifError: (value: unknown): void => {
      if (value !== null && value !== undefined)
        throw value instanceof Error
          ? value
          : new AssertionError({ message: `ifError got unwanted exception: ${String(value)}` });
    },
    throws(work: () => unknown, expected?: unknown, message?: unknown): void {
      try {
        work();
      } catch (error) {
        if (!matches(error, typeof expected === "string" ? undefined : expected)) throw error;
        return;
      }
      check(
        false,
        "Missing expected exception.",
        "throws",
        message ?? (typeof expected === "string" ? expected : undefined),
      );
    },
    async rejects(
      work: Promise<unknown> | (() => Promise<unknown>),
      expected?: unknown,
      message?: unknown,
    ): Promise<void> {
      try {
        await (typeof work === "function" ? work() : work);
      } catch (error) {
        if (!matches(error, typeof expected === "string" ? undefined : expected)) throw error;
        return;
      }
      check(false, "Missing expected rejection.", "rejects", message);
    },
    doesNotThrow: (work: () => unknown): void => {
      work();
    },
  });
  const strict = Object.assign((value: unknown, message?: unknown) => ok(value, message), assert, {
    equal: assert.strictEqual,
    notEqual: assert.notStrictEqual,
    deepEqual: assert.deepStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual,
  });
  Object.assign(strict, { strict });
  const whole = Object.assign(assert, { strict });
  return { ...Object.fromEntries(Object.entries(whole)), default: whole };
}

const isLooselyEqual = (a: unknown, b: unknown): boolean =>
  // eslint-disable-next-line eqeqeq
  a == b || (Number.isNaN(a) && Number.isNaN(b));

const types = (value: unknown, tag: string): boolean =>
  Object.prototype.toString.call(value) === `[object ${tag}]`;
