import { wrongType } from "../buffer/errors.ts";
import { inspect as denoInspect } from "../inspect/inspect.ts";
import type { InspectOptions } from "../inspect/inspection.ts";
import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { isDeepEqual } from "./deepEqual.ts";

type Callback = (error: unknown, value?: unknown) => void;
type AnyFunction = (...args: unknown[]) => unknown;

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const PROMISIFY = Symbol.for("nodejs.util.promisify.custom");

/** Node's `util.inspect`: two levels deep, single quotes preferred. */
export function inspect(value: unknown, options: InspectOptions | boolean = {}): string {
  const given = typeof options === "object" ? options : { showHidden: options };
  return denoInspect(value, { depth: 2, quotes: ["'", '"', "`"], strAbbreviateSize: 10_000, ...given });
}
inspect.custom = CUSTOM;
inspect.defaultOptions = {};

/** Node's `util.format`. */
export function format(...args: unknown[]): string {
  let next = 0;
  let text = "";
  if (typeof args[0] === "string") {
    next = 1;
    text =
      args.length === 1
        ? args[0]
        : args[0].replace(/%([sdifjoOc%])/g, (directive, letter: string) => {
            if (letter === "%") return "%";
            if (next >= args.length) return directive;
            return replaceDirective(letter, args[next++]);
          });
  }
  for (let at = next; at < args.length; at++) {
    const value = args[at];
    text += `${at > 0 ? " " : ""}${typeof value === "string" ? value : inspect(value)}`;
  }
  return text;
}

function replaceDirective(letter: string, value: unknown): string {
  switch (letter) {
    case "s":
      if (typeof value === "bigint") return `${value}n`;
      if (Object.is(value, -0)) return "-0";
      return typeof value === "object" && value !== null ? inspect(value, { depth: 0 }) : String(value);
    case "d":
      return typeof value === "bigint"
        ? `${value}n`
        : typeof value === "symbol"
          ? "NaN"
          : String(Number(value));
    case "i":
      return typeof value === "bigint"
        ? `${value}n`
        : typeof value === "symbol"
          ? "NaN"
          : String(Number.parseInt(value as string));
    case "f":
      return typeof value === "symbol" ? "NaN" : String(Number.parseFloat(value as string));
    case "j":
      return JSON.stringify(value) ?? "undefined";
    case "o":
      return inspect(value, { showHidden: true, depth: 4 });
    case "O":
      return inspect(value);
    default:
      return "";
  }
}

/** Creates `node:util`. */
export function createUtil({ load }: Internals): Readonly<Record<string, unknown>> {
  const { TextEncoder, TextDecoder } = load("text");

  const promisify = Object.assign(
    (original: AnyFunction & { [PROMISIFY]?: unknown }): unknown => {
      if (typeof original !== "function") throw wrongType("original", "function", original);
      if (original[PROMISIFY] !== undefined) return original[PROMISIFY];
      return function promised(this: unknown, ...args: unknown[]) {
        return new Promise((resolve, reject) => {
          const done: Callback = (error, value) => (error ? reject(error) : resolve(value));
          Reflect.apply(original, this, [...args, done]);
        });
      };
    },
    { custom: PROMISIFY },
  );
  const callbackify = (original: AnyFunction) =>
    function called(this: unknown, ...args: unknown[]): void {
      const callback = args.pop() as Callback;
      Promise.resolve(Reflect.apply(original, this, args)).then(
        (value) => callback(null, value),
        (error: unknown) => callback(error),
      );
    };
  const inherits = (type: { prototype: object; super_?: unknown }, parent: { prototype: object }): void => {
    Object.defineProperty(type, "super_", { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf(type.prototype, parent.prototype);
  };
  const deprecate = <T extends AnyFunction>(original: T): T => original;
  const kinds = {
    ...types,
    isProxy: () => false,
    isExternal: () => false,
    isNumberObject: types.isNumberObject,
    isUint8Array: (value: unknown) => types.typedArrayName(value) === "Uint8Array",
    isUint16Array: (value: unknown) => types.typedArrayName(value) === "Uint16Array",
    isUint32Array: (value: unknown) => types.typedArrayName(value) === "Uint32Array",
    isInt8Array: (value: unknown) => types.typedArrayName(value) === "Int8Array",
    isInt32Array: (value: unknown) => types.typedArrayName(value) === "Int32Array",
    isFloat64Array: (value: unknown) => types.typedArrayName(value) === "Float64Array",
    isBigInt64Array: (value: unknown) => types.typedArrayName(value) === "BigInt64Array",
  };
  const util = {
    inspect,
    format,
    promisify,
    callbackify,
    inherits,
    deprecate,
    types: kinds,
    TextEncoder,
    TextDecoder,
    isDeepStrictEqual: (a: unknown, b: unknown): boolean => isDeepEqual(a, b, true),
    formatWithOptions: (_options: object, ...args: unknown[]) => format(...args),
    debuglog: () => Object.assign(() => {}, { enabled: false }),
    isArray: Array.isArray,
    stripVTControlCharacters: (text: string): string =>
      // eslint-disable-next-line no-control-regex
      text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ""),
    toUSVString: (text: unknown): string => String(text).toWellFormed(),
    styleText: (_format: unknown, text: string): string => text,
    _extend: (target: object, source: object | null): object => Object.assign(target, source),
  };
  return { ...util, default: util };
}
