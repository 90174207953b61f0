import { checkObject } from "../buffer/errors.ts";
import { isNativeError } from "../types.ts";
import { inspect } from "./util.ts";

/** Begins the message of each operator. */
const LEADS: Readonly<Record<string, string>> = {
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  partialDeepStrictEqual: "Expected values to be partially and strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notIdentical: "Values have same structure but are not reference-equal:",
};
/** Lines shown of a value, and characters shown of one that stands in a sentence. */
const MAX_LINES = 50;
const MAX_CHARS = 512;
/** Lines shown of a text that is a property of an error. */
const MAX_PRINTED_LINES = 10;
/** Equal lines in a row that a difference shows. */
const MAX_EQUAL_LINES = 5;
/** Two short values stand on one line. */
const SHORT_CHARS = 12;
/** Longest two values whose first difference is marked. */
const LINE_CHARS = 80;

export interface AssertionOptions {
  readonly message?: unknown;
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly operator?: string;
  /** Function below which the stack begins. */
  readonly stackStartFn?: unknown;
  readonly stackStartFunction?: unknown;
  /** Several failures at once, instead of one. */
  readonly details?: readonly Readonly<Record<string, unknown>>[];
  /** `full`: nothing of a difference is left out. Default: `simple`. */
  readonly diff?: "simple" | "full" | undefined;
}

/** Node's `AssertionError`. */
export class AssertionError extends Error {
  declare generatedMessage: boolean;
  declare readonly code: string;
  declare actual: unknown;
  declare expected: unknown;
  declare operator: string | undefined;
  declare readonly diff: string;
  constructor(options: AssertionOptions) {
    checkObject(options, "options");
    const { message, operator, details, diff = "simple" } = options;
    let { actual, expected } = options;
    const isGenerated = message === undefined || message === null;
    if (isGenerated && hasStack(actual) && hasStack(expected))
      [actual, expected] = [withoutStack(actual), withoutStack(expected)];
    const isDifference =
      operator === "deepStrictEqual" || operator === "strictEqual" || operator === "partialDeepStrictEqual";
    super(
      isDifference
        ? difference(actual, expected, operator, message, diff)
        : isGenerated
          ? sentence(actual, expected, operator, diff)
          : String(message),
    );
    this.generatedMessage = !message;
    const hidden = { writable: true, enumerable: false, configurable: true };
    Object.defineProperty(this, "name", { value: "AssertionError [ERR_ASSERTION]", ...hidden });
    Object.assign(this, { code: "ERR_ASSERTION", actual, expected, operator });
    if (details !== undefined) {
      this.actual = this.expected = this.operator = undefined;
      for (const [at, { stack, ...fields }] of details.entries()) {
        for (const name of ["message", "actual", "expected", "operator"])
          Object.assign(this, { [`${name} ${at}`]: fields[name] });
        Object.assign(this, { [`stack trace ${at}`]: stack });
      }
    }
    Error.captureStackTrace(this, (options.stackStartFn || options.stackStartFunction) as Work | undefined);
    Object.defineProperty(this, "stack", { value: String(this.stack), ...hidden });
    this.name = "AssertionError";
    Object.assign(this, { diff });
  }
  [Symbol.for("nodejs.util.inspect.custom")](_depth: unknown, options: object): string {
    const { actual, expected } = this;
    Object.assign(this, { actual: cutText(actual), expected: cutText(expected) });
    const shown = inspect(this, { ...options, customInspect: false, depth: 0 });
    Object.assign(this, { actual, expected });
    return shown;
  }
  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

type Work = (...args: unknown[]) => unknown;

/** Cuts a text that is printed as a property. Of a long line, Node itself drops the first 512 characters and keeps the rest. */
function cutText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const lines = value.split("\n");
  if (lines.length > MAX_PRINTED_LINES) return [...lines.slice(0, MAX_PRINTED_LINES), "..."].join("\n");
  return value.length > MAX_CHARS ? `${value.slice(MAX_CHARS)}...` : value;
}

const show = (value: unknown): string =>
  inspect(value, {
    compact: false,
    customInspect: false,
    showHidden: false,
    showProxy: false,
    depth: 1000,
    maxArrayLength: Number.POSITIVE_INFINITY,
    sorted: true,
    getters: true,
  });

const hasStack = (value: unknown): value is Error => value instanceof Error && "stack" in value;

/** Copies an error without its stack, so that what is shown of it depends on the error alone. */
function withoutStack(error: Error): object {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(error) as object), error) as object;
  Object.defineProperty(copy, "message", { value: error.message });
  if (Object.hasOwn(error, "cause")) {
    const { cause } = error;
    Object.defineProperty(copy, "cause", {
      value: isNativeError(cause) ? withoutStack(cause as Error) : cause,
    });
  }
  return copy;
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** The message of an operator that compares loosely, or expects values to differ. */
function sentence(
  actual: unknown,
  expected: unknown,
  operator: string | undefined,
  diff: AssertionOptions["diff"],
): string {
  const isSimple = diff !== "full";
  const shown = show(actual);
  const lead = LEADS[operator ?? ""];
  if (operator === "notDeepStrictEqual" || operator === "notStrictEqual") {
    const isReference = operator === "notStrictEqual" && (isObject(actual) || typeof actual === "function");
    const base = isReference ? LEADS["notStrictEqualObject"] : lead;
    let lines = shown.split("\n");
    if (isSimple && lines.length > MAX_LINES) lines = [...lines.slice(0, MAX_LINES - 4), "..."];
    if (lines.length > 1) return `${base}\n\n${lines.join("\n")}\n`;
    return `${base}${shown.length > 5 ? "\n\n" : " "}${shown}`;
  }
  const cut = (text: string, most: number): string =>
    isSimple && text.length > most ? `${text.slice(0, most - 3)}...` : text;
  const other = show(expected);
  if (operator === "notDeepEqual" && shown === other) return cut(`${lead}\n\n${shown}`, 2 * MAX_CHARS);
  const [left, right] = [cut(shown, MAX_CHARS), cut(other, MAX_CHARS)];
  if (operator === "deepEqual") return `${lead}\n\n${left}\n\nshould loosely deep-equal\n\n${right}`;
  if (operator === "notDeepEqual")
    return `Expected values not to be loosely deep-equal:\n\n${left}\n\nshould not loosely deep-equal\n\n${right}`;
  return `${left} ${operator} ${right}`;
}

/** The message that shows where two values differ. */
function difference(
  actual: unknown,
  expected: unknown,
  operator: string,
  message: unknown,
  diff: AssertionOptions["diff"],
): string {
  const [left, right] = [show(actual).split("\n"), show(expected).split("\n")];
  let name = operator;
  if (
    operator === "strictEqual" &&
    ((isObject(actual) && isObject(expected)) ||
      (typeof actual === "function" && typeof expected === "function"))
  )
    name = "strictEqualObject";
  let header = "+ actual - expected";
  let body: string;
  let isCut = false;
  const isSimple = left.length === 1 && right.length === 1 && !(isObject(actual) && isObject(expected));
  if (isSimple) {
    const length = [actual, expected].reduce<number>(
      (sum, value) => sum - (typeof value === "string" ? 2 : 0),
      left[0]!.length + right[0]!.length,
    );
    const isShort = length <= SHORT_CHARS && (actual !== 0 || expected !== 0);
    if (isShort) header = "";
    body = isShort ? `${left[0]} !== ${right[0]}` : stacked(left[0]!, right[0]!);
  } else if (left.join("\n") === right.join("\n")) {
    name = "notIdentical";
    header = "";
    isCut = diff !== "full" && left.length > MAX_LINES;
    body = isCut ? `${left.slice(0, MAX_LINES).join("\n")}\n...}` : left.join("\n");
  } else {
    const shown = showEdits(diffLines(left, right, isObject(actual)));
    ({ isCut } = shown);
    body = `\n${shown.text}`;
  }
  return `${message ? (message as string) : LEADS[name]}\n${header}${isCut ? "\n... Skipped lines" : ""}\n${body}\n`;
}

function stacked(left: string, right: string): string {
  const text = `\n+ ${left}\n- ${right}`;
  if (left.length + right.length > LINE_CHARS) return text;
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at > 2 && at < left.length ? `${text}\n${" ".repeat(at + 2)}^` : text;
}

interface Edit {
  readonly sign: " " | "+" | "-";
  readonly line: string;
}

/** Finds the fewest lines to add and remove (E. Myers, "An O(ND) Difference Algorithm and Its Variations"). */
function diffLines(actual: readonly string[], expected: readonly string[], ignoresCommas: boolean): Edit[] {
  const equal = (a: string, b: string): boolean =>
    a === b || (ignoresCommas && (`${a},` === b || a === `${b},`));
  const zero = actual.length + expected.length;
  const rounds: Int32Array[] = [];
  /** How far each diagonal reaches in the first list; diagonal 0 stands at `zero`. */
  const reached = new Int32Array(2 * zero + 2);
  const stepsDown = (k: number, d: number, from: Int32Array): boolean =>
    k === -d || (k !== d && from[zero + k - 1]! < from[zero + k + 1]!);
  for (let d = 0; ; d++) {
    rounds.push(reached.slice());
    for (let k = -d; k <= d; k += 2) {
      let x = stepsDown(k, d, reached) ? reached[zero + k + 1]! : reached[zero + k - 1]! + 1;
      while (x < actual.length && x - k < expected.length && equal(actual[x]!, expected[x - k]!)) x++;
      reached[zero + k] = x;
      if (x >= actual.length && x - k >= expected.length) return traceBack(d);
    }
  }

  function traceBack(last: number): Edit[] {
    const edits: Edit[] = [];
    let [x, y] = [actual.length, expected.length];
    for (let d = last; d >= 0; d--) {
      const from = rounds[d]!;
      const k = x - y;
      const before = stepsDown(k, d, from) ? k + 1 : k - 1;
      const startX = from[zero + before]!;
      const startY = startX - before;
      while (x > startX && y > startY) {
        const line = actual[--x]!;
        y--;
        edits.push({ sign: " ", line: ignoresCommas && !line.endsWith(",") ? expected[y]! : line });
      }
      if (d > 0)
        edits.push(x > startX ? { sign: "+", line: actual[--x]! } : { sign: "-", line: expected[--y]! });
    }
    return edits.toReversed();
  }
}

/** Shows edits, and of many equal lines in a row only the first and the last. */
function showEdits(edits: readonly Edit[]): { readonly text: string; readonly isCut: boolean } {
  const lines: string[] = [];
  let isCut = false;
  let equal: string[] = [];
  const endRow = (): void => {
    const hidden = equal.slice(MAX_EQUAL_LINES);
    lines.push(...equal.slice(0, MAX_EQUAL_LINES));
    if (hidden.length > 2) {
      lines.push("...", hidden.at(-1)!);
      isCut = true;
    } else lines.push(...hidden);
    equal = [];
  };
  for (const { sign, line } of edits) {
    if (sign === " ") equal.push(`  ${line}`);
    else {
      if (equal.length > 0) endRow();
      lines.push(`${sign} ${line}`);
    }
  }
  lines.push(...equal.slice(0, MAX_EQUAL_LINES));
  return { text: lines.join("\n").trimEnd(), isCut };
}
