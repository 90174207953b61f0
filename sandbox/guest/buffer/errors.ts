import { quoteString } from "../inspect/quote.ts";

/** Node's errors, worded as in Deno's Node modules. */

/** The functions below, for code that reaches them through the chunk of Node's modules. */
export interface NodeErrors {
  readonly nodeError: typeof nodeError;
  readonly wrongType: typeof wrongType;
}

/** What Deno's Node modules throw as a plain `Error`: each code but OpenSSL's has a class of its own. */
class NodeError extends Error {
  declare readonly code: string;
  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

/** Prototypes of plain errors by their code. */
const prototypes = new Map<string, object>();

function prototypeOf(code: string): object {
  if (code.startsWith("ERR_OSSL_")) return NodeError.prototype;
  const known = prototypes.get(code);
  if (known !== undefined) return known;
  const { [code]: Coded } = { [code]: class extends NodeError {} };
  prototypes.set(code, Coded!.prototype);
  return Coded!.prototype;
}

/**
 * Creates an error with Node's `code`, shaped as in Deno: `code`, `name` and, except on a plain `Error`, `toString` are enumerable. The
 * stack begins with the code, except for a check of arguments that Deno `hides` from it.
 */
export function nodeError(
  code: string,
  message: string,
  Type: ErrorConstructor = Error,
  hides = false,
): Error {
  const error = new Type(message);
  const { name, stack } = error;
  Object.assign(error, { code, name });
  if (!hides && stack !== undefined) error.stack = `${name} [${code}]${stack.slice(name.length)}`;
  if (Type === Error) return Object.setPrototypeOf(error, prototypeOf(code)) as Error;
  error.toString = function (this: NodeError) {
    return NodeError.prototype.toString.call(this);
  };
  return error;
}

/** Creates an `ERR_OUT_OF_RANGE` error. */
export function outOfRange(name: string, range: string, value: unknown): Error {
  const text =
    typeof value === "bigint"
      ? `${withUnderscores(String(value))}n`
      : typeof value === "number" && Number.isInteger(value) && Math.abs(value) > 2 ** 32
        ? withUnderscores(String(value))
        : String(value);
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${text}`;
  return nodeError("ERR_OUT_OF_RANGE", message, RangeError);
}

/** `ERR_BUFFER_OUT_OF_BOUNDS`: where to begin or end isn't in the buffer. */
export const outOfBounds = (name: string): Error =>
  nodeError("ERR_BUFFER_OUT_OF_BOUNDS", `"${name}" is outside of buffer bounds`, RangeError);

/** Checks an integer from `min` to `max`, `undefined` included only with a fallback. */
export function checkInteger(
  value: unknown,
  name: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
  range = `>= ${min} && <= ${max}`,
): number {
  if (typeof value !== "number") throw wrongType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, range, value);
  return value;
}

/** Creates an `ERR_INVALID_ARG_TYPE` error for an argument that isn't of the given primitive type. */
export function wrongType(name: string, expected: string, value: unknown): Error {
  return wrongArgument(name, `of type ${expected}`, value);
}

/** The default of options: inherits nothing that a source adds to all objects. */
export const NO_OPTIONS: object = { __proto__: null };

/** Checks an object that isn't an array. */
export function checkObject(value: unknown, name: string): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrongType(name, "object", value);
}

/** Creates an `ERR_INVALID_ARG_TYPE` error; `expected` follows "must be", and a `name` like "first argument" isn't quoted. */
export function wrongArgument(name: string, expected: string, value: unknown): Error {
  const kind = name.includes(".") ? "property" : "argument";
  const subject = name.endsWith(" argument") ? name : `"${name}" ${kind}`;
  const message = `The ${subject} must be ${expected}. Received ${describe(value)}`;
  const hides = /^of type (?:function|number|object)$|AbortSignal$/.test(expected);
  return nodeError("ERR_INVALID_ARG_TYPE", message, TypeError, hides);
}

type Util = Readonly<Record<"inspect" | "format", (...values: unknown[]) => string>>;
let findUtil: () => Util;
let findProcess: () => { emitWarning(text: string, type: string, code: string): void };
/** Says where this chunk's errors find `node:util`, which shows their values, and its warnings the process. */
export function showValuesWith(load: (chunk: string) => Readonly<Record<string, unknown>>): void {
  findUtil = () => load("node")["util"] as Util;
  findProcess = () => load("platform")["process"] as ReturnType<typeof findProcess>;
}

const warned = new Set<string>();
export const hasWarned = (code: string): boolean => warned.has(code);
/** Warns once of what is deprecated. */
export function warnDeprecated(code: string, text: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  findProcess().emitWarning(text, "DeprecationWarning", code);
}

/** Creates an `ERR_INVALID_ARG_VALUE` error; `expected` follows the name. */
export function invalidArgument(name: string, value: unknown, expected = "is invalid"): Error {
  const kind = name.includes(".") ? "property" : "argument";
  const text = findUtil().inspect(value);
  const shown = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}...` : text;
  return nodeError(
    "ERR_INVALID_ARG_VALUE",
    `The ${kind} '${name}' ${expected}. Received ${shown}`,
    TypeError,
  );
}
const MAX_SHOWN_CHARS = 128;
/** Longest value after `Received`. */
const MAX_RECEIVED_CHARS = 25;
const QUOTES = ["'", '"', "`"];

/** Creates an `ERR_UNKNOWN_ENCODING` error; `readable-stream` calls it with `new`. */
export function unknownEncoding(encoding: unknown): Error {
  return nodeError("ERR_UNKNOWN_ENCODING", findUtil().format("Unknown encoding: %s", encoding), TypeError);
}

/** Creates a function that says that it, e.g. `util: diff`, is not available. */
export const missing = (name: string) => (): never => {
  throw new Error(`node:${name} is not available in this sandbox`);
};

/** The part of an `AbortSignal` that Node's modules use. */
export interface SignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void, options?: object): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** Checks a signal. */
export function checkSignal(value: unknown, name: string): SignalLike {
  if (typeof value === "object" && value !== null && "aborted" in value) return value as SignalLike;
  throw wrongArgument(name, "an instance of AbortSignal", value);
}

/** The error of what a signal has ended. */
export class AbortError extends Error {
  readonly code = "ABORT_ERR";
  override readonly name = "AbortError";
  constructor(options?: ErrorOptions) {
    super("The operation was aborted", options);
  }
}

/** Describes a value as Node does after `Received`. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") {
    const name = (value.constructor as { name?: string } | undefined)?.name;
    if (name) return `an instance of ${name}`;
    const isPlain = Object.getPrototypeOf(value) !== null;
    if (Object.keys(value).length > 0) return isPlain ? "[Object]" : "[Object: null prototype]";
    return isPlain ? "{}" : "[Object: null prototype] {}";
  }
  const text =
    typeof value === "string"
      ? quoteString(value, QUOTES)
      : typeof value === "bigint"
        ? `${value}n`
        : Object.is(value, -0)
          ? "-0"
          : String(value);
  return `type ${typeof value} (${text.length > MAX_RECEIVED_CHARS ? `${text.slice(0, MAX_RECEIVED_CHARS)}...` : text})`;
}

function withUnderscores(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, "_");
}
