import { MIMEParams, MIMEType } from "./mime.ts";
import { checkObject, invalidArgument, outOfRange, wrongArgument, wrongType } from "../buffer/errors.ts";
import { COLORS, STYLES, stylizeNoColor } from "../inspect/colors.ts";
import { formatText } from "../inspect/format.ts";
import { inspect as denoInspect } from "../inspect/inspect.ts";
import { type InspectOptions, proxies } from "../inspect/inspection.ts";
import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { callSites, isOurs } from "./callSites.ts";
import { isDeepEqual } from "./deepEqual.ts";

type Callback = (error: unknown, ...values: unknown[]) => void;
type AnyFunction = (...args: unknown[]) => unknown;
export type NodeOptions = InspectOptions & {
  maxArrayLength?: number | null;
  maxStringLength?: number | null;
};

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const PROMISIFY = Symbol.for("nodejs.util.promisify.custom");

const DEFAULTS = {
  indentationLvl: 0,
  currentDepth: 0,
  stylize: stylizeNoColor,
  showHidden: false,
  depth: 2,
  colors: false,
  showProxy: false,
  breakLength: 80,
  escapeSequences: true,
  compact: 3,
  sorted: false,
  getters: false,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  customInspect: true,
  quotes: ["'", '"', "`"],
  iterableLimit: Number.POSITIVE_INFINITY,
  trailingComma: false,
  inspect: undefined as unknown,
  indentLevel: 0,
};
/** Node's `util.inspect`: two levels deep, single quotes preferred. */
export function inspect(value: unknown, options?: NodeOptions | boolean | null, ...more: unknown[]): string {
  const [depth, colors] = more as [depth?: number | null, colors?: unknown];
  const given: NodeOptions =
    typeof options === "object" && options !== null
      ? { ...changed, ...options }
      : {
          ...changed,
          ...(options !== undefined && { showHidden: options === true }),
          ...(depth !== undefined && { depth }),
          ...(colors !== undefined && { colors: Boolean(colors) }),
        };
  const { maxArrayLength = DEFAULTS.maxArrayLength, maxStringLength = DEFAULTS.maxStringLength } = given;
  return denoInspect(
    value,
    {
      depth: 2,
      iterableLimit: DEFAULTS.iterableLimit,
      quotes: DEFAULTS.quotes,
      ...given,
      given,
      listLimit: Math.max(0, Math.trunc(maxArrayLength ?? Number.POSITIVE_INFINITY)),
      maxStringLength: Math.max(0, Math.trunc(maxStringLength ?? Number.POSITIVE_INFINITY)),
    },
    inspect,
  );
}
/** What a source has set of `inspect.defaultOptions`. */
let changed: NodeOptions = {};
Object.defineProperties(inspect, {
  name: { value: "inspect" },
  length: { value: 2 },
  defaultOptions: {
    get: () =>
      new Proxy(
        { ...DEFAULTS, inspect, ...changed },
        {
          set(target, key, value) {
            changed = { ...changed, [key]: value as unknown };
            return Reflect.set(target, key, value);
          },
        },
      ),
    set(options: unknown) {
      checkObject(options, "options");
      changed = { ...changed, ...options };
    },
  },
});
Object.assign(inspect, { colors: COLORS, styles: STYLES, custom: CUSTOM });

/** Whether an object's text comes from one of the language's own classes. */
function hasBuiltInToString(value: object): boolean {
  if (typeof value.toString !== "function") return true;
  if (Object.hasOwn(value, "toString")) return false;
  let holder: object | null = value;
  do holder = Object.getPrototypeOf(holder) as object | null;
  while (holder !== null && !Object.hasOwn(holder, "toString"));
  const type: unknown = holder && Object.getOwnPropertyDescriptor(holder, "constructor")?.value;
  return typeof type === "function" && BUILT_IN.has(type.name);
}
const BUILT_IN = new Set(
  Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][a-zA-Z0-9]+$/.test(name)),
);

/** Node's `util.format`. */
export function format(...args: unknown[]): string {
  return formatWith({}, args);
}

export const formatWith = (options: NodeOptions, args: readonly unknown[]): string =>
  formatText(
    args,
    (value) => inspect(value, options),
    (letter, value) => replaceDirective(letter, value, options),
  );

const numberText = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));

function replaceDirective(letter: string, value: unknown, options: NodeOptions): string {
  switch (letter) {
    case "s":
      if (typeof value === "number") return numberText(value);
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "object" && value !== null && hasBuiltInToString(value)
        ? inspect(value, { ...options, depth: 0, colors: false, compact: 3 })
        : String(value);
    case "d":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" ? "NaN" : numberText(Number(value));
    case "i":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" ? "NaN" : numberText(Number.parseInt(value as string));
    case "f":
      return typeof value === "symbol" ? "NaN" : numberText(Number.parseFloat(value as string));
    case "j":
      try {
        return JSON.stringify(value) ?? "undefined";
      } catch (error) {
        if ((error as Error).message.includes("circular structure")) return "[Circular]";
        throw error;
      }
    case "o":
      return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    case "O":
      return inspect(value, options);
    default:
      return "";
  }
}

/** Gives a function the other's prototype and properties. */
function resemble<T extends object>(target: T, original: object): T {
  Object.setPrototypeOf(target, Object.getPrototypeOf(original) as object | null);
  return Object.defineProperties(target, Object.getOwnPropertyDescriptors(original));
}

function assertFunction(value: unknown, name: string): asserts value is AnyFunction {
  if (typeof value !== "function") throw wrongType(name, "function", value);
}

function promisify(original: unknown): unknown {
  assertFunction(original, "original");
  const run: AnyFunction = original;
  const custom = (original as unknown as Record<symbol, unknown>)[PROMISIFY];
  if (custom) {
    if (typeof custom !== "function") throw wrongType("util.promisify.custom", "function", custom);
    return Object.defineProperty(custom, PROMISIFY, { value: custom, configurable: true });
  }
  function promised(this: unknown, ...args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, ...values) => (error ? reject(error) : resolve(values[0]));
      Reflect.apply(run, this, [...args, done]);
    });
  }
  resemble(promised, original);
  return Object.defineProperty(promised, PROMISIFY, { value: promised, configurable: true });
}
Object.assign(promisify, { custom: PROMISIFY });

/** Creates `node:util`. */
export function createUtil({
  load,
  native,
  nextTick,
  proxyParts,
  promiseState,
}: Internals): Readonly<Record<string, unknown>> {
  proxies.partsOf = proxyParts;
  proxies.stateOf = promiseState;
  const { TextEncoder, TextDecoder } = load("text");
  const emitWarning = (message: string, code: string | undefined): void => {
    const { process } = load("platform") as { process: { emitWarning?: (...args: unknown[]) => void } };
    process.emitWarning?.(message, "DeprecationWarning", code);
  };

  /** Calls a function of the host's `node:util`. */
  function call(name: string, ...args: readonly unknown[]): unknown {
    return (JSON.parse(native("util", { name, args }) as string) as { readonly value?: unknown }).value;
  }
  function convertProcessSignalToExitCode(name: string): number {
    const { signals } = JSON.parse(native("osConstants", {}) as string) as {
      signals: Record<string, number>;
    };
    const number = Object.hasOwn(signals, name) ? signals[name] : undefined;
    if (number !== undefined) return 128 + number;
    const names = Object.keys(signals).map((known) => `'${known}'`);
    throw invalidArgument("signalCode", name, `must be one of: ${names.join(", ")}`);
  }

  function callbackify(original: unknown): AnyFunction {
    assertFunction(original, "original");
    function callbackified(this: unknown, ...args: unknown[]): void {
      const callback = args.pop();
      if (typeof callback !== "function") throw wrongArgument("last argument", "of type function", callback);
      const answer = (...answers: unknown[]) =>
        nextTick(() => void Reflect.apply(callback as AnyFunction, this, answers));
      (Reflect.apply(original as AnyFunction, this, args) as Promise<unknown>).then(
        (value) => answer(null, value),
        (reason: unknown) => answer(reason || new NodeFalsyValueRejectionError(reason)),
      );
    }
    const descriptors = Object.getOwnPropertyDescriptors(original) as Record<string, PropertyDescriptor>;
    const { name, length } = descriptors;
    if (typeof length?.value === "number") length.value++;
    if (typeof name?.value === "string") name.value += "Callbackified";
    return Object.defineProperties(callbackified, descriptors);
  }
  function inherits(type: unknown, parent: unknown): void {
    if (type === undefined || type === null) throw wrongType("ctor", "function", type);
    if (parent === undefined || parent === null) throw wrongType("superCtor", "function", parent);
    const { prototype } = parent as { prototype?: object };
    if (prototype === undefined) throw wrongType("superCtor.prototype", "object", prototype);
    if (typeof type !== "function") throw new TypeError("Object.defineProperty called on non-object");
    Object.defineProperty(type, "super_", { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf((type as unknown as { prototype: object }).prototype, prototype);
  }
  const warned = new Set<string>();
  function deprecate(original: unknown, message: string, code?: string): unknown {
    if (code !== undefined && typeof code !== "string") throw wrongType("code", "string", code);
    let isWarned = false;
    function deprecated(this: unknown, ...args: unknown[]): unknown {
      if (!isWarned) {
        isWarned = true;
        if (code === undefined || !warned.has(code)) emitWarning(message, code);
        if (code !== undefined) warned.add(code);
      }
      return new.target
        ? (Reflect.construct(original as new () => object, args, new.target) as object)
        : Reflect.apply(original as AnyFunction, this, args);
    }
    Object.setPrototypeOf(deprecated, original as object);
    // eslint-disable-next-line typescript/prefer-destructuring -- what has no properties is refused in V8's words
    const prototype = (original as { prototype?: object }).prototype;
    if (prototype !== undefined) deprecated.prototype = prototype;
    const length = Object.getOwnPropertyDescriptor(original, "length");
    return length === undefined ? deprecated : Object.defineProperty(deprecated, "length", length);
  }
  function formatWithOptions(options: unknown, ...args: unknown[]): string {
    if (typeof options !== "object" || options === null) throw wrongType("inspectOptions", "object", options);
    return formatWith(options, args);
  }
  function debuglog(_name: string): AnyFunction {
    function logger(): void {}
    return Object.defineProperty(logger, "enabled", {
      get: () => false,
      configurable: true,
      enumerable: true,
    });
  }
  /** Calls one of them that takes a text. */
  const callWith =
    (name: string, argument: string, type = "string") =>
    (value: unknown): unknown => {
      if (typeof value !== type) throw wrongType(argument, type, value);
      return call(name, value);
    };
  /** Of an error number that the system doesn't know, Deno has neither name nor message. */
  function knownError(name: string, code: unknown): unknown {
    if (typeof code === "number" && !Number.isFinite(code))
      throw outOfRange("err", "a negative integer", code);
    const text = callWith(name, "err", "number")(code);
    return String(text).startsWith("Unknown system error") ? undefined : text;
  }
  const parseArgs = (config: object = {}): object => {
    if (config === null) throw new TypeError("Cannot convert undefined or null to object");
    const { allowNegative, ...given } = config as { readonly allowNegative?: unknown };
    const answer = call("parseArgs", { args: [], ...given, allowNegative: Boolean(allowNegative) });
    const { values, tokens, ...rest } = answer as {
      readonly values: object;
      readonly tokens?: readonly {
        readonly kind: string;
        readonly name?: string;
        readonly rawName?: string;
      }[];
    };
    /** Deno names a negated option as it is written. */
    const nameOf = ({ name, rawName }: { readonly name?: string; readonly rawName?: string }): object =>
      allowNegative && rawName === `--no-${name}` ? { name: `no-${name}` } : {};
    return {
      values: Object.assign(Object.create(null) as object, values),
      ...rest,
      // JSON has no undefined: an option without a value.
      ...(tokens && {
        tokens: tokens.map((token) =>
          token.kind === "option" ? { ...token, ...noValue, ...token, ...nameOf(token) } : token,
        ),
      }),
    };
  };
  function styleText(
    style: unknown,
    text: unknown,
    options: { validateStream?: unknown; stream?: unknown } = {},
  ): unknown {
    if (typeof text !== "string") throw wrongType("text", "string", text);
    checkObject(options, "options");
    const { stream } = options;
    const validateStream = options.validateStream ?? true;
    if (typeof validateStream !== "boolean")
      throw wrongType("options.validateStream", "boolean", validateStream);
    if (validateStream && stream !== undefined && typeof Object(stream).write !== "function")
      throw wrongArgument("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    // Deno has no colours by number; what isn't a text is no style.
    const [unknown] = [style]
      .flat()
      .filter((name) => typeof name !== "string" || name.startsWith("#"))
      .map((name) => inspect(name));
    let styled: unknown;
    try {
      styled = call("styleText", unknown === undefined ? style : "?", text, { validateStream: false });
    } catch (error) {
      // Deno names no style twice.
      (error as Error).message = (error as Error).message
        .replace(/, 'grey', .*(?=\. Received)/, "")
        .replace(/'\?'$/, () => unknown ?? "'?'");
      throw error;
    }
    // The standard output here shows no colours.
    return validateStream && Object(stream).isTTY !== true ? text : styled;
  }
  async function aborted(signal: AbortSignal, resource: unknown): Promise<void> {
    if (!(signal instanceof (load("events")["AbortSignal"] as typeof AbortSignal)))
      throw wrongArgument("signal", "an instance of AbortSignal", signal);
    checkObject(resource, "resource");
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  const arrays = Object.fromEntries(
    "Uint8Array Uint8ClampedArray Uint16Array Uint32Array Int8Array Int16Array Int32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array"
      .split(" ")
      .map((name) => [`is${name}`, (value: unknown) => types.typedArrayName(value) === name]),
  );
  const checks: Readonly<Record<string, unknown>> = {
    ...types,
    isArgumentsObject: types.isArguments,
    isCryptoKey: (value: unknown) => value instanceof (load("crypto")["CryptoKey"] as typeof CryptoKey),
    isKeyObject: (value: unknown) => value instanceof (load("nodeCrypto")["KeyObject"] as new () => object),
    isModuleNamespaceObject: types.isModuleNamespace,
    isMapIterator: types.isMapIterator,
    isProxy: (value: unknown) => Object(value) === value && proxyParts(value as object) !== undefined,
    isSetIterator: types.isSetIterator,
  };
  const kinds = {
    ...Object.fromEntries(
      "AnyArrayBuffer ArgumentsObject ArrayBuffer ArrayBufferView AsyncFunction BigIntObject BooleanObject BoxedPrimitive CryptoKey DataView Date GeneratorFunction GeneratorObject KeyObject Map MapIterator ModuleNamespaceObject NativeError NumberObject Promise Proxy RegExp Set SetIterator SharedArrayBuffer StringObject SymbolObject TypedArray WeakMap WeakSet"
        .split(" ")
        .map((name) => [`is${name}`, checks[`is${name}`]]),
    ),
    ...arrays,
  };
  const util = {
    inspect,
    format,
    formatWithOptions,
    promisify,
    callbackify,
    inherits,
    deprecate,
    types: kinds,
    TextEncoder,
    TextDecoder,
    aborted,
    parseArgs,
    styleText,
    isDeepStrictEqual: (a: unknown, b: unknown, skipsPrototypes?: unknown): boolean =>
      isDeepEqual(a, b, skipsPrototypes ? "structural" : "strict"),
    debuglog,
    debug: debuglog,
    isArray: Array.isArray,
    stripVTControlCharacters: callWith("stripVTControlCharacters", "str"),
    diff: (a: unknown, b: unknown) => (a === b ? [] : call("diff", texts(a, "actual"), texts(b, "expected"))),
    parseEnv: (text: unknown) => ({
      __proto__: null,
      ...(callWith("parseEnv", "content")(text) as object),
    }),
    getSystemErrorName: (code: unknown) => knownError("getSystemErrorName", code),
    getSystemErrorMessage: (code: unknown) => knownError("getSystemErrorMessage", code),
    getSystemErrorMap: () =>
      new Map(
        (JSON.parse(native("systemErrors", {}) as string) as [number, [string, string]][]).filter(
          ([, [name]]) => !UNKNOWN_ERRORS.includes(name),
        ),
      ),
    toUSVString: (text: unknown): unknown =>
      String.prototype.isWellFormed.call(text) ? text : String.prototype.toWellFormed.call(text),
    _extend(target: Record<string, unknown>, source: unknown): unknown {
      if (typeof source === "object" && source !== null)
        for (const [name, value] of Object.entries(source).toReversed()) target[name] = value;
      return target;
    },
    MIMEType,
    MIMEParams,
    convertProcessSignalToExitCode,
    getCallSites,
    // Deno's own does nothing.
    queryObjects() {},
    log: (...args: unknown[]): void => {
      const [day, time] = new Date().toISOString().split(/[T.]/) as [string, string];
      const month = new Date(day).toLocaleString("en", { month: "short", timeZone: "UTC" });
      (load("console")["console"] as Console).log(`${day.slice(8)} ${month} ${time} - ${format(...args)}`);
    },
    setTraceSigInt(enabled: unknown): void {
      if (typeof enabled !== "boolean") throw wrongType("enabled", "boolean", enabled);
    },
    transferableAbortController: () => new (load("events")["AbortController"] as typeof AbortController)(),
    transferableAbortSignal: (signal: { aborted?: unknown } | null) => {
      if (typeof signal !== "object" || typeof signal?.aborted !== "boolean")
        throw wrongArgument("signal", "an instance of AbortSignal", signal);
      return signal;
    },
  };
  return { ...util, default: util };
}

const MAX_FRAMES = 200;
/** Returns where the source's functions were called, the innermost first; the place in compiled code, if it is TypeScript. */
function getCallSites(frameCount: unknown = 8, options: unknown = {}): object[] {
  if (typeof frameCount !== "number") throw wrongType("frameCount", "number", frameCount);
  if (!(frameCount >= 0 && frameCount <= MAX_FRAMES))
    throw outOfRange("frameCount", `>= 0 && <= ${MAX_FRAMES}`, frameCount);
  checkObject(options, "options");
  return callSites()
    .filter((site) => !isOurs(site))
    .slice(0, frameCount)
    .map((site) => ({
      functionName: site.getFunctionName() ?? "",
      scriptId: "0",
      scriptName: site.getFileName() === null ? null : "/source.ts",
      lineNumber: site.getLineNumber(),
      column: site.getColumnNumber(),
      columnNumber: site.getColumnNumber(),
    }));
}

const noValue = { value: undefined, inlineValue: undefined };

/** Errors of the system that Deno doesn't list. */
const UNKNOWN_ERRORS = ["EOVERFLOW", "ESOCKTNOSUPPORT", "ENODATA", "EUNATCH", "ENOEXEC"];

/** Checks a text, or a list of them. */
function texts(value: unknown, name: string): unknown {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  list.forEach((text, at) => {
    if (typeof text !== "string")
      throw wrongType(Array.isArray(value) ? `${name}[${at}]` : name, "string", text);
  });
  return value;
}

/** What `callbackify` calls back with in place of a reason that is falsy. */
class NodeFalsyValueRejectionError extends Error {
  readonly code = "ERR_FALSY_VALUE_REJECTION";
  readonly reason: unknown;
  constructor(reason: unknown) {
    super("Promise was rejected with falsy value");
    this.reason = reason;
  }
}
