import {
  describe,
  invalidArgument,
  nodeError,
  warnDeprecated,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { isAnyError, isPromise, isRegExp } from "../types.ts";
import { AssertionError, type AssertionOptions } from "./assertionError.ts";
import { deprecatedTracker } from "./callTracker.ts";
import { type Comparison, isDeepEqual } from "./deepEqual.ts";
import { inspect } from "./util.ts";

type Exports = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;
type Check = (this: unknown, ...args: never[]) => unknown;
/** Under this key an `Assert` keeps its options. */
const OPTIONS = Symbol("options");
const NOTHING_THROWN = Symbol("nothing thrown");

type InstanceOptions = Pick<AssertionOptions, "diff"> & { readonly skipPrototype?: unknown };
/** Returns the options of an `Assert` whose check is called. */
const optionsOf = (self: unknown): InstanceOptions | undefined =>
  (self as { readonly [OPTIONS]?: InstanceOptions } | undefined)?.[OPTIONS];

/** Throws the message if it is an error, otherwise an {@link AssertionError}. */
function fail(options: AssertionOptions, isGenerated?: boolean): never {
  if (isAnyError(options.message)) throw options.message;
  const error = new AssertionError(options);
  if (isGenerated !== undefined) error.generatedMessage = isGenerated;
  throw error;
}

/** Creates a check of two values. */
function comparing(
  operator: string,
  holds: (a: unknown, b: unknown, skipsPrototypes: boolean) => boolean,
  shown = operator,
): Check {
  const checks: Record<string, Check> = {
    [operator](this: unknown, ...args: unknown[]): void {
      if (args.length < 2)
        throw nodeError(
          "ERR_MISSING_ARGS",
          'The "actual" and "expected" arguments must be specified',
          TypeError,
        );
      const [actual, expected, message] = args;
      const options = optionsOf(this);
      if (holds(actual, expected, Boolean(options?.skipPrototype))) return;
      fail({
        actual,
        expected,
        message,
        operator: shown,
        diff: options?.diff,
        stackStartFn: checks[operator],
      });
    },
  };
  return Object.defineProperty(checks[operator]!, "length", { value: 3 });
}
const deep = (operator: string, mode: Comparison, isWanted = true): Check =>
  comparing(
    operator,
    (a, b, skipsPrototypes) =>
      isDeepEqual(a, b, mode === "strict" && skipsPrototypes ? "structural" : mode) === isWanted,
  );

const isLooselyEqual = (a: unknown, b: unknown): boolean =>
  // eslint-disable-next-line eqeqeq
  a == b || (Number.isNaN(a) && Number.isNaN(b));

function matching(operator: "match" | "doesNotMatch"): Check {
  const isMatch = operator === "match";
  const check = Object.defineProperty(
    (text: unknown, pattern: unknown, message: unknown): void => {
      if (!isRegExp(pattern)) throw wrongArgument("regexp", "an instance of RegExp", pattern);
      if (typeof text === "string" && ((pattern as RegExp).exec(text) !== null) === isMatch) return;
      const generated =
        typeof text === "string"
          ? `The input ${isMatch ? "did not" : "was expected to not"} match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
          : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
      const options = { actual: text, expected: pattern, operator, stackStartFn: check };
      fail({ ...options, message: message || generated }, !message);
    },
    "name",
    { value: operator },
  );
  return check;
}

/** What two errors are compared by. */
class Compared {
  [name: string]: unknown;
  constructor(from: Fields, keys: readonly string[], actual?: Fields) {
    for (const key of keys) {
      if (!(key in from)) continue;
      const isMatched =
        actual !== undefined &&
        typeof actual[key] === "string" &&
        isRegExp(from[key]) &&
        (from[key] as RegExp).test(actual[key]);
      this[key] = isMatched ? actual[key] : from[key];
    }
  }
}
Object.defineProperty(Compared, "name", { value: "Comparison" });

/** Compares what was thrown with an object's properties. */
function checkProperties(actual: unknown, expected: object, message: unknown, stackStartFn: Check): void {
  const operator = stackStartFn.name;
  if (typeof actual !== "object" || actual === null) {
    const error = new AssertionError({
      actual,
      expected,
      message,
      operator: "deepStrictEqual",
      stackStartFn,
    });
    error.operator = operator;
    throw error;
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push("name", "message");
  else if (keys.length === 0)
    throw nodeError(
      "ERR_INVALID_ARG_VALUE",
      `The argument 'error' may not be an empty object. Received ${inspect(expected)}`,
      TypeError,
    );
  const [given, wanted] = [actual as Fields, expected as Fields];
  for (const key of keys) {
    if (typeof given[key] === "string" && isRegExp(wanted[key]) && (wanted[key] as RegExp).test(given[key]))
      continue;
    if (key in given && isDeepEqual(given[key], wanted[key], "strict")) continue;
    if (message) fail({ actual, expected, message, operator, stackStartFn });
    const error = new AssertionError({
      actual: new Compared(given, keys),
      expected: new Compared(wanted, keys, given),
      operator: "deepStrictEqual",
      stackStartFn,
    });
    throw Object.assign(error, { actual, expected, operator });
  }
}

/** Checks what was thrown: a class, a pattern, a function or properties. */
function checkThrown(actual: unknown, expected: unknown, message: unknown, stackStartFn: Check): void {
  let generated: string;
  if (typeof expected !== "function") {
    if (!isRegExp(expected)) return checkProperties(actual, expected as object, message, stackStartFn);
    const text = String(actual);
    if ((expected as RegExp).exec(text) !== null) return;
    generated = `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n`;
  } else {
    const type = expected as ((error: unknown) => unknown) & { readonly prototype?: object };
    if (type.prototype !== undefined && actual instanceof type) return;
    if (Object.prototype.isPrototypeOf.call(Error, type)) {
      generated = `The error is expected to be an instance of "${type.name}". Received `;
      if (isAnyError(actual)) {
        const { constructor, name, message: text } = actual as Error;
        const found = (constructor as typeof constructor | undefined)?.name || name;
        generated +=
          found === type.name ? "an error with identical name but a different prototype." : `"${found}"`;
        if (text) generated += `\n\nError message:\n\n${text}`;
      } else generated += `"${inspect(actual, { depth: -1 })}"`;
    } else {
      const answer = Reflect.apply(type, {}, [actual]);
      if (answer === true) return;
      generated = `The ${type.name ? `"${type.name}" ` : ""}validation function is expected to return "true". Received ${inspect(answer)}`;
      if (isAnyError(actual)) generated += `\n\nCaught error:\n\n${String(actual)}`;
    }
  }
  const error = new AssertionError({
    actual,
    expected,
    message: message || generated,
    operator: stackStartFn.name,
    stackStartFn,
  });
  throw Object.assign(error, { generatedMessage: !message });
}

/** Checks that something was thrown, as `throws` and `rejects` do. */
function expectThrown(stackStartFn: Check, actual: unknown, args: readonly unknown[]): void {
  const operator = stackStartFn.name;
  let [expected, message] = args;
  if (typeof expected === "string") {
    if (args.length > 1)
      throw wrongArgument("error", "of type function or an instance of Error, RegExp, or Object", expected);
    const thrown = (actual as { message?: unknown } | null)?.message;
    const isSame = typeof actual === "object" ? thrown === expected : actual === expected;
    if (isSame)
      throw nodeError(
        "ERR_AMBIGUOUS_ARGUMENT",
        `The "error/message" argument is ambiguous. The error ${typeof actual === "object" ? "message " : ""}"${expected}" is identical to the message.`,
        TypeError,
      );
    [expected, message] = [undefined, expected];
  } else if (expected !== undefined && expected !== null && !["object", "function"].includes(typeof expected))
    throw wrongArgument("error", "of type function or an instance of Error, RegExp, or Object", expected);
  if (actual === NOTHING_THROWN) {
    const { name } = (expected ?? {}) as { name?: string };
    const details = `${name ? ` (${name})` : ""}${message ? `: ${String(message)}` : "."}`;
    const what = operator === "rejects" ? "rejection" : "exception";
    fail({ expected, operator, message: `Missing expected ${what}${details}`, stackStartFn });
  }
  if (expected) checkThrown(actual, expected, message, stackStartFn);
}

/** Checks that nothing was thrown, or nothing of a kind. */
function expectNothing(stackStartFn: Check, actual: unknown, args: readonly unknown[]): void {
  const operator = stackStartFn.name;
  if (actual === NOTHING_THROWN) return;
  const [expected, message] = (typeof args[0] === "string" ? [undefined, args[0]] : args) as [
    unknown,
    string?,
  ];
  if (!expected || isOfKind(actual, expected)) {
    const what = operator === "doesNotReject" ? "rejection" : "exception";
    fail({
      actual,
      expected,
      operator,
      stackStartFn,
      message: `Got unwanted ${what}${message ? `: ${message}` : "."}\nActual message: "${(actual as Error | null)?.message}"`,
    });
  }
  throw actual;
}

function isOfKind(actual: unknown, expected: unknown): boolean {
  if (isRegExp(expected)) return (expected as RegExp).exec(String(actual)) !== null;
  if (typeof expected !== "function")
    throw wrongArgument("expected", "of type function or an instance of RegExp", expected);
  const type = expected as ((error: unknown) => unknown) & { readonly prototype?: object };
  if (type.prototype !== undefined && actual instanceof type) return true;
  return !Object.prototype.isPrototypeOf.call(Error, type) && Reflect.apply(type, {}, [actual]) === true;
}

function thrownBy(work: unknown): unknown {
  if (typeof work !== "function") throw wrongType("fn", "function", work);
  try {
    work();
  } catch (error) {
    return error;
  }
  return NOTHING_THROWN;
}
async function rejectionOf(work: unknown): Promise<unknown> {
  let promise: unknown = work;
  if (typeof work === "function") {
    promise = work();
    if (!isThenable(promise))
      throw nodeError(
        "ERR_INVALID_RETURN_VALUE",
        `Expected instance of Promise to be returned from the "promiseFn" function but got ${describe(promise)}.`,
        TypeError,
      );
  } else if (!isThenable(work))
    throw wrongArgument("promiseFn", "of type function or an instance of Promise", work);
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return NOTHING_THROWN;
}
const isThenable = (value: unknown): boolean =>
  isPromise(value) ||
  (typeof value === "object" &&
    value !== null &&
    typeof (value as Fields)["then"] === "function" &&
    typeof (value as Fields)["catch"] === "function");

function ifError(this: unknown, value: unknown): void {
  if (value === null || value === undefined) return;
  const { message, constructor, stack } = value as Error;
  let text = inspect(value);
  if (typeof value === "object" && typeof message === "string")
    text = message === "" && constructor ? constructor.name : message;
  const error = new AssertionError({
    actual: value,
    expected: null,
    operator: "ifError",
    message: `ifError got unwanted exception: ${text}`,
    stackStartFn: ifError,
    diff: optionsOf(this)?.diff,
  });
  const start = typeof stack === "string" ? stack.indexOf("\n    at") : -1;
  if (start >= 0) {
    // Frames that both have are shown once, with those of the given error.
    const frames = stack!.slice(start + 1).split("\n");
    const own = error.stack!.split("\n");
    const shared = frames.map((frame) => own.indexOf(frame)).find((at) => at >= 0);
    error.stack = [...own.slice(0, shared), ...frames].join("\n");
  }
  throw error;
}

/** Creates `node:assert`. */
export function createAssert({ native, sourceLine }: Internals): Exports {
  /** Deno quotes the call where it can read it. */
  const quoteCall = (): string | undefined => {
    const { stackTraceLimit } = Error;
    // The caller's frame, after that of the function that calls `ok`.
    Error.stackTraceLimit = 2;
    const place: { readonly stack?: string } = {};
    Error.captureStackTrace(place, ok);
    Error.stackTraceLimit = stackTraceLimit;
    const [, line, column] =
      /^[^\n]*(?:\n[^\n]*\btyche:[^\n]*)?\n[^\n]*\bsource\.js:(\d+):(\d+)/.exec(String(place.stack)) ?? [];
    if (line === undefined) return undefined;
    const call = native("callAt", { line: sourceLine(Number(line)), column: Number(column) - 1 });
    // eslint-disable-next-line no-control-regex
    const shown = String(call).replace(/[\0-\x08\v\f\x0e-\x1f]/g, (sign) =>
      JSON.stringify(sign).slice(1, -1),
    );
    return `The expression evaluated to a falsy value:\n\n  ${shown}\n`;
  };
  function ok(...args: unknown[]): void {
    const [value, message] = args;
    if (value) return;
    const isGenerated = message === undefined || message === null;
    const generate = () => (args.length === 0 ? "No value argument passed to `assert.ok()`" : quoteCall());
    const options = { actual: value, expected: true, operator: "==", stackStartFn: ok };
    fail({ ...options, message: isGenerated ? generate() : message }, isGenerated);
  }
  const checks = {
    fail(this: unknown, ...args: unknown[]): never {
      const [actual, expected, message, operator = args.length > 2 ? "fail" : "!=", below = checks.fail] =
        args;
      const options = { diff: optionsOf(this)?.diff, stackStartFn: below || checks.fail };
      if (args.length < 2)
        fail({ message: actual ?? "Failed", operator: "fail", ...options }, !actual && actual !== "");
      warnDeprecated(
        "DEP0094",
        "assert.fail() with more than one argument is deprecated. Please use assert.strictEqual() instead or only pass a message.",
      );
      return fail({ actual, expected, message, operator: operator as string, ...options });
    },
    equal: comparing("equal", isLooselyEqual, "=="),
    notEqual: comparing("notEqual", (a, b) => !isLooselyEqual(a, b), "!="),
    deepEqual: deep("deepEqual", "loose"),
    notDeepEqual: deep("notDeepEqual", "loose", false),
    deepStrictEqual: deep("deepStrictEqual", "strict"),
    notDeepStrictEqual: deep("notDeepStrictEqual", "strict", false),
    strictEqual: comparing("strictEqual", Object.is),
    notStrictEqual: comparing("notStrictEqual", (a, b) => !Object.is(a, b)),
    partialDeepStrictEqual: deep("partialDeepStrictEqual", "partial"),
    match: matching("match"),
    doesNotMatch: matching("doesNotMatch"),
    throws: (work: unknown, ...args: unknown[]) => expectThrown(checks.throws, thrownBy(work), args),
    rejects: async (work: unknown, ...args: unknown[]) =>
      expectThrown(checks.rejects, await rejectionOf(work), args),
    doesNotThrow: (work: unknown, ...args: unknown[]) =>
      expectNothing(checks.doesNotThrow, thrownBy(work), args),
    doesNotReject: async (work: unknown, ...args: unknown[]) =>
      expectNothing(checks.doesNotReject, await rejectionOf(work), args),
    ifError,
    Assert,
    AssertionError,
    CallTracker: deprecatedTracker,
  };
  const strictChecks = {
    equal: checks.strictEqual,
    deepEqual: checks.deepStrictEqual,
    notEqual: checks.notStrictEqual,
    notDeepEqual: checks.notDeepStrictEqual,
  };
  /** Checks with options of their own. */
  function Assert(this: Fields, options: object): void {
    if (new.target === undefined)
      throw nodeError(
        "ERR_CONSTRUCT_CALL_REQUIRED",
        "Class constructor Assert cannot be invoked without `new`",
        TypeError,
      );
    const { diff, strict, skipPrototype } = { strict: true, ...options } as Record<string, unknown>;
    if (diff !== undefined && diff !== "simple" && diff !== "full")
      throw invalidArgument("options.diff", diff, "must be one of: 'simple', 'full'");
    this["AssertionError"] = AssertionError;
    Object.defineProperty(this, OPTIONS, { value: { diff, skipPrototype } });
    if (strict) Object.assign(this, strictChecks);
  }
  const methods = Object.entries(checks).filter(([name]) => /^[a-np-z]/.test(name));
  const { fail: failing, ...others } = Object.fromEntries(methods);
  function okOf(...args: unknown[]): void {
    ok(...args);
  }
  Object.defineProperty(okOf, "name", { value: "ok" });
  Object.assign(Assert.prototype, { fail: failing, ok: okOf, ...others });
  Object.defineProperty(ok, "name", { value: "assert" });
  // Node's are functions that `new` calls, too.
  const callable = () =>
    Object.defineProperty(
      function (...args: unknown[]): void {
        ok(...args);
      },
      "name",
      { value: "assert", configurable: true },
    );
  const assert = callable();
  const strict = callable();
  const names = { ...checks, ok: assert, strict };
  Object.assign(assert, names);
  Object.assign(
    strict,
    Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1))),
    strictChecks,
  );
  return { ...names, default: assert };
}
