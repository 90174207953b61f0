import * as types from "../types.ts";
import { formatError, isError } from "./error.ts";
import { type Layout, joinEntries } from "./layout.ts";
import { functionText, getConstructorName, getPrefix } from "./names.ts";
import { quoteKey, quoteString, symbolKey, symbolText } from "./quote.ts";

/** Options of `Deno.inspect` that make a difference without a terminal. */
export interface InspectOptions {
  /** Levels of nesting that are shown; `null` or `Infinity` shows all. Default 4. */
  depth?: number | null;
  /** Entries of a list, map or set that are shown. Default 100. */
  iterableLimit?: number;
  /** Characters of a string inside an object that are shown. Default 10,000. */
  strAbbreviateSize?: number;
  /** Line length that is aimed at. Default 80. */
  breakLength?: number;
  /** See `Layout.compact`. Default 3. */
  compact?: boolean | number;
  sorted?: boolean | ((a: string, b: string) => number);
  getters?: boolean;
  showHidden?: boolean;
  trailingComma?: boolean;
  customInspect?: boolean;
  /** Quotes in the order in which they are tried. Default `"`, `'`, `` ` ``. */
  quotes?: readonly string[];
}

/** An inspection under way. */
export interface Inspection extends Layout {
  readonly options: InspectOptions;
  readonly depth: number;
  readonly maxStringLength: number;
  readonly quotes: readonly string[];
  readonly customInspect: boolean;
  readonly showHidden: boolean;
  readonly seen: unknown[];
  circular: Map<unknown, number> | undefined;
}

/** Methods by which an object prints itself, most particular first. */
export const PRIVATE_INSPECT: symbol = Symbol.for("Deno.privateCustomInspect");
const CUSTOM_INSPECT = Symbol.for("Deno.customInspect");
const NODE_INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Text of any value, as `Deno.inspect` gives it without colours. */
export function inspect(value: unknown, options: InspectOptions = {}): string {
  return formatValue(begin(options), value, 0);
}

/** Starts an inspection with Deno's defaults. */
export function begin(options: InspectOptions): Inspection {
  const {
    depth = 4,
    iterableLimit = 100,
    strAbbreviateSize = 10_000,
    breakLength = 80,
    compact = 3,
  } = options;
  return {
    options,
    depth: depth ?? Number.POSITIVE_INFINITY,
    iterableLimit,
    maxStringLength: strAbbreviateSize,
    breakLength,
    compact,
    trailingComma: options.trailingComma ?? false,
    quotes: options.quotes ?? ['"', "'", "`"],
    customInspect: options.customInspect ?? true,
    showHidden: options.showHidden ?? false,
    seen: [],
    circular: undefined,
    currentDepth: 0,
    indentation: 0,
  };
}

/** Formats one value at a depth. `typedArray` marks the buffer of a view, whose bytes are not shown again. */
export function formatValue(state: Inspection, value: unknown, depth: number): string {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return formatPrimitive(state, value);
  if (state.customInspect) {
    const own = customText(state, value, depth);
    if (own !== undefined) return own;
  }
  if (state.seen.includes(value)) {
    state.circular ??= new Map();
    let index = state.circular.get(value);
    if (index === undefined) state.circular.set(value, (index = state.circular.size + 1));
    return `[Circular *${index}]`;
  }
  return formatObject(state, value, depth);
}

function customText(state: Inspection, value: object, depth: number): string | undefined {
  const target = value as Record<symbol, unknown>;
  for (const name of [PRIVATE_INSPECT, CUSTOM_INSPECT, NODE_INSPECT]) {
    const method = target[name];
    if (typeof method !== "function") continue;
    const options = { ...state.options, depth: state.depth - depth };
    if (name !== NODE_INSPECT) {
      // What Deno's own classes print is part of this inspection: same depth, same indentation.
      const nested = (inner: unknown, given?: InspectOptions): string =>
        given === undefined || given === options
          ? formatValue(state, inner, depth)
          : formatValue(
              { ...begin({ ...options, ...given }), seen: state.seen, indentation: state.indentation },
              inner,
              0,
            );
      return String(method.call(value, nested, options));
    }
    const result: unknown = method.call(value, options.depth, options, inspect);
    if (result === value) continue;
    if (typeof result === "string") return result.replaceAll("\n", `\n${" ".repeat(state.indentation)}`);
    return formatValue(state, result, depth);
  }
  return undefined;
}

/** Formats a value that is no object. */
export function formatPrimitive(state: Inspection, value: unknown): string {
  switch (typeof value) {
    case "string":
      return formatString(state, value);
    case "number":
      return Object.is(value, -0) ? "-0" : `${value}`;
    case "bigint":
      return `${value}n`;
    case "symbol":
      return symbolText(value, state.quotes);
    default:
      return String(value);
  }
}

function formatString(state: Inspection, value: string): string {
  let text = value;
  let trailer = "";
  if (text.length > state.maxStringLength) {
    const left = text.length - state.maxStringLength;
    text = text.slice(0, state.maxStringLength);
    trailer = `... ${left} more character${left > 1 ? "s" : ""}`;
  }
  text = text.toWellFormed();
  if (state.compact !== true && text.length > 16 && text.length > state.breakLength - state.indentation - 4) {
    const lines = text.split(/(?<=\n)/).map((line) => quoteString(line, state.quotes));
    return lines.join(` +\n${" ".repeat(state.indentation + 2)}`) + trailer;
  }
  return quoteString(text, state.quotes) + trailer;
}

type Kind = "object" | "list";

interface Shape {
  braces: [string, string];
  base: string;
  keys: PropertyKey[];
  kind: Kind;
  /** Entries that are no properties; undefined: none. */
  entries?: (inner: number) => string[];
  /** The text is already whole. */
  whole?: string;
}

function formatObject(state: Inspection, value: object, depth: number): string {
  const constructor = getConstructorName(value);
  let tag: unknown;
  try {
    tag = (value as Record<symbol, unknown>)[Symbol.toStringTag];
  } catch {
    tag = "";
  }
  const tagText = typeof tag === "string" ? tag : "";
  const shape = describe(state, value, constructor, tagText);
  if (shape.whole !== undefined) return shape.whole;
  if (depth > state.depth) {
    const name = getPrefix(constructor, tagText, "Object").slice(0, -1);
    return constructor === null ? name : `[${name}]`;
  }
  const inner = depth + 1;
  state.seen.push(value);
  state.currentDepth = inner;
  let output: string[];
  try {
    output = shape.entries?.(inner) ?? [];
    for (const key of shape.keys) output.push(formatProperty(state, value, inner, key, shape.kind));
  } finally {
    state.seen.pop();
  }
  const index = state.circular?.get(value);
  let { base } = shape;
  if (index !== undefined) base = base === "" ? `<ref *${index}>` : `<ref *${index}> ${base}`;
  const { sorted } = state.options;
  if (sorted !== undefined && sorted !== false) {
    const order = typeof sorted === "function" ? sorted : undefined;
    if (shape.kind === "object") output.sort(order);
    else output.push(...output.splice(output.length - shape.keys.length).sort(order));
  }
  return joinEntries(state, {
    entries: output,
    base,
    braces: shape.braces,
    depth: inner,
    ...(shape.kind === "list" && { list: value as never }),
  });
}

function getKeys(state: Inspection, value: object, listOnly = false): PropertyKey[] {
  const names = state.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value).filter(
    (symbol) => state.showHidden || Object.prototype.propertyIsEnumerable.call(value, symbol),
  );
  const kept = listOnly ? names.filter((name) => !isIndex(name)) : names;
  return [...kept, ...symbols];
}

const isIndex = (name: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(name);

function describe(state: Inspection, value: object, constructor: string | null, tag: string): Shape {
  const shape: Shape = { braces: ["{", "}"], base: "", keys: [], kind: "object" };
  const prefix = (fallback: string, size?: number): string =>
    getPrefix(constructor, tag, fallback, size === undefined ? "" : `(${size})`);
  const done = (whole: string): Shape => ({ ...shape, whole });

  if (Array.isArray(value)) {
    const head = constructor !== "Array" || tag !== "" ? prefix("Array", value.length) : "";
    shape.keys = getKeys(state, value, true);
    if (value.length === 0 && shape.keys.length === 0) return done(`${head}[]`);
    return {
      ...shape,
      braces: [`${head}[`, "]"],
      kind: "list",
      entries: (inner) => listEntries(state, value, inner),
    };
  }
  const typedArray = types.typedArrayName(value);
  if (typedArray !== undefined) {
    const array = value as Uint8Array;
    const head = prefix(typedArray, array.length);
    shape.keys = getKeys(state, value, true);
    if (array.length === 0 && shape.keys.length === 0) return done(`${head}[]`);
    return {
      ...shape,
      braces: [`${head}[`, "]"],
      kind: "list",
      entries: () => typedArrayEntries(state, array),
    };
  }
  shape.keys = getKeys(state, value);
  const bare = shape.keys.length === 0;
  if (types.isSet(value)) {
    const set = value as Set<unknown>;
    const head = prefix("Set", set.size);
    if (set.size === 0 && bare) return done(`${head}{}`);
    return { ...shape, braces: [`${head}{`, "}"], entries: (inner) => setEntries(state, set, inner) };
  }
  if (types.isMap(value)) {
    const map = value as Map<unknown, unknown>;
    const head = prefix("Map", map.size);
    if (map.size === 0 && bare) return done(`${head}{}`);
    return { ...shape, braces: [`${head}{`, "}"], entries: (inner) => mapEntries(state, map, inner) };
  }
  if (constructor === "Object" && !types.isBoxedPrimitive(value) && !isError(value)) {
    const head = types.isArguments(value) ? "[Arguments] " : tag === "" ? "" : prefix("Object");
    return bare ? done(`${head}{}`) : { ...shape, braces: [`${head}{`, "}"] };
  }
  if (typeof value === "function") {
    shape.base = functionText(value, constructor, tag);
    return bare ? done(shape.base) : shape;
  }
  return describeSpecial(state, value, constructor, tag, shape);
}

function describeSpecial(
  state: Inspection,
  value: object,
  constructor: string | null,
  tag: string,
  shape: Shape,
): Shape {
  const prefix = (fallback: string): string => getPrefix(constructor, tag, fallback);
  const bare = shape.keys.length === 0;
  const done = (whole: string): Shape => ({ ...shape, whole });
  const withBase = (base: string): Shape => (bare ? done(base) : { ...shape, base });
  const open = (fallback: string): [string, string] => [`${prefix(fallback)}{`, "}"];
  if (types.isRegExp(value)) {
    const head = prefix("RegExp");
    return withBase(`${head === "RegExp " ? "" : head}${RegExp.prototype.toString.call(value)}`);
  }
  if (types.isDate(value)) {
    const time = Date.prototype.getTime.call(value);
    const text = Number.isNaN(time) ? "Invalid Date" : Date.prototype.toISOString.call(value);
    const head = prefix("Date");
    return withBase(`${head === "Date " ? "" : head}${text}`);
  }
  if (tag.startsWith("Temporal.")) return done(String(value));
  if (isError(value)) {
    const base = formatError(state, value as Error, constructor, tag, shape.keys, (inner) =>
      formatValue(state, inner, Number.NaN),
    );
    return shape.keys.length === 0 ? done(base) : { ...shape, base };
  }
  if (types.isAnyArrayBuffer(value)) {
    const braces = open(types.isArrayBuffer(value) ? "ArrayBuffer" : "SharedArrayBuffer");
    shape.keys.unshift("byteLength");
    return { ...shape, braces, entries: () => bufferEntries(state, value as ArrayBuffer) };
  }
  if (types.isDataView(value)) {
    shape.keys.unshift("byteLength", "byteOffset", "buffer");
    return { ...shape, braces: open("DataView") };
  }
  // Whether a promise is settled is not to be had from JavaScript; most that are printed are pending.
  if (types.isPromise(value)) return { ...shape, braces: open("Promise"), entries: () => ["<pending>"] };
  if (tag === "Intl.Locale") {
    shape.keys.unshift(...LOCALE_KEYS);
    return { ...shape, braces: open("Intl.Locale") };
  }
  if (types.isWeakSet(value))
    return { ...shape, braces: open("WeakSet"), entries: () => ["<items unknown>"] };
  if (types.isWeakMap(value))
    return { ...shape, braces: open("WeakMap"), entries: () => ["<items unknown>"] };
  if (types.isModuleNamespace(value)) return { ...shape, braces: ["[Module: null prototype] {", "}"] };
  if (types.isBoxedPrimitive(value)) {
    const base = boxedText(state, value, shape.keys, constructor, tag);
    return shape.keys.length === 0 ? done(base) : { ...shape, base };
  }
  const head = prefix("Object");
  return bare ? done(`${head}{}`) : { ...shape, braces: [`${head}{`, "}"] };
}

const LOCALE_KEYS = [
  "baseName",
  "calendar",
  "caseFirst",
  "collation",
  "hourCycle",
  "language",
  "numberingSystem",
  "numeric",
  "region",
  "script",
];

function boxedText(
  state: Inspection,
  value: object,
  keys: PropertyKey[],
  constructor: string | null,
  tag: string,
): string {
  const [name, method] = types.isNumberObject(value)
    ? ["Number", Number.prototype.valueOf]
    : types.isStringObject(value)
      ? ["String", String.prototype.valueOf]
      : types.isBooleanObject(value)
        ? ["Boolean", Boolean.prototype.valueOf]
        : types.isBigIntObject(value)
          ? ["BigInt", BigInt.prototype.valueOf]
          : (["Symbol", Symbol.prototype.valueOf] as const);
  const primitive = Reflect.apply(method, value, []) as unknown;
  if (name === "String") keys.splice(0, (primitive as string).length);
  const text = formatPrimitive({ ...state, maxStringLength: Number.POSITIVE_INFINITY }, primitive);
  const made = constructor === name ? "" : constructor === null ? " (null prototype)" : ` (${constructor})`;
  return `[${name}${made}: ${text}]${tag !== "" && tag !== constructor ? ` [${tag}]` : ""}`;
}

const more = (left: number): string => `... ${left} more item${left > 1 ? "s" : ""}`;

function listEntries(state: Inspection, list: readonly unknown[], depth: number): string[] {
  const output: string[] = [];
  const limit = Math.min(Math.max(0, state.iterableLimit), list.length);
  let index = 0;
  while (index < list.length && output.length < limit) {
    if (Object.hasOwn(list, index)) {
      output.push(formatProperty(state, list, depth, index, "list", true));
      index++;
      continue;
    }
    const start = index;
    while (index < list.length && !Object.hasOwn(list, index)) index++;
    output.push(`<${index - start} empty item${index - start > 1 ? "s" : ""}>`);
  }
  if (index < list.length) output.push(more(list.length - index));
  return output;
}

function typedArrayEntries(state: Inspection, array: Uint8Array): string[] {
  const shown = Math.min(Math.max(0, state.iterableLimit), array.length);
  const output = Array.from({ length: shown }, (_, at) => formatPrimitive(state, array[at]));
  if (array.length > shown) output.push(more(array.length - shown));
  return output;
}

function setEntries(state: Inspection, set: Set<unknown>, depth: number): string[] {
  state.indentation += 2;
  const values = [...Set.prototype.values.call(set)];
  const output = values.slice(0, state.iterableLimit).map((entry) => formatValue(state, entry, depth));
  if (values.length > output.length) output.push(more(values.length - output.length));
  state.indentation -= 2;
  return output;
}

function mapEntries(state: Inspection, map: Map<unknown, unknown>, depth: number): string[] {
  state.indentation += 2;
  const pairs = [...Map.prototype.entries.call(map)];
  const output = pairs
    .slice(0, state.iterableLimit)
    .map(([key, entry]) => `${formatValue(state, key, depth)} => ${formatValue(state, entry, depth)}`);
  if (pairs.length > output.length) output.push(more(pairs.length - output.length));
  state.indentation -= 2;
  return output;
}

function bufferEntries(state: Inspection, buffer: ArrayBuffer): string[] {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(buffer);
  } catch {
    return ["(detached)"];
  }
  const shown = Math.min(Math.max(0, state.iterableLimit), bytes.length);
  let text = Array.from(bytes.subarray(0, shown), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const left = bytes.length - shown;
  if (left > 0) text += ` ... ${left} more byte${left > 1 ? "s" : ""}`;
  return [`[Uint8Contents]: <${text}>`];
}

function formatProperty(
  state: Inspection,
  value: object,
  depth: number,
  key: PropertyKey,
  kind: Kind,
  isElement = false,
): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key) ?? {
    value: (value as Record<PropertyKey, unknown>)[key],
    enumerable: true,
  };
  let text: string;
  if (descriptor.value !== undefined) {
    const step = state.compact !== true || kind === "list" ? 2 : 3;
    state.indentation += step;
    text = formatValue(state, descriptor.value, depth);
    state.indentation -= step;
  } else if (descriptor.get !== undefined) {
    const label = descriptor.set === undefined ? "Getter" : "Getter/Setter";
    text =
      state.options.getters === true
        ? evaluatedGetter(state, value, descriptor.get, label, depth)
        : `[${label}]`;
  } else text = descriptor.set === undefined ? "undefined" : "[Setter]";
  if (isElement) return text;
  const name = typeof key === "symbol" ? symbolKey(key) : quoteKey(String(key), state.quotes);
  return `${descriptor.enumerable === false ? `[${name}]` : name}: ${text}`;
}

function evaluatedGetter(
  state: Inspection,
  value: object,
  get: () => unknown,
  label: string,
  depth: number,
): string {
  try {
    const result = get.call(value);
    if (typeof result === "object" && result !== null)
      return `[${label}] ${formatValue(state, result, depth)}`;
    return `[${label}: ${formatPrimitive(state, result)}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${(error as Error).message})>]`;
  }
}
