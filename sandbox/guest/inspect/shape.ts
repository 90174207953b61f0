import * as types from "../types.ts";
import { bufferEntries, listEntries, mapEntries, setEntries, typedArrayEntries } from "./entries.ts";
import { formatError } from "./error.ts";
import { type Inspection, proxies } from "./inspection.ts";
import { areEntries, iteratorEntries, leftIn } from "./iterators.ts";
import { functionText, getPrefix } from "./names.ts";
import { formatPrimitive } from "./primitive.ts";
import type { Kind } from "./property.ts";

/** An object's printed form before its entries and properties are formatted. */
export interface Shape {
  braces: [string, string];
  base: string;
  keys: PropertyKey[];
  kind: Kind;
  /** Entries that aren't properties; undefined if there are none. */
  entries?: (inner: number) => string[];
  /** The complete text, if it is already known. */
  whole?: string;
}

/** Returns the shape of an object, by its type; `constructor` and `tag` are the names shown before the brace. */
export function shapeOf(
  state: Inspection,
  value: object,
  constructor: string | null,
  tag: string,
  inheritsMore = false,
): Shape {
  const shape: Shape = { braces: ["{", "}"], base: "", keys: [], kind: "object" };
  const prefix = (fallback: string, size?: number): string =>
    getPrefix(constructor, tag, fallback, size === undefined ? "" : `(${size})`);
  const done = (whole: string): Shape => ({ ...shape, whole });
  const list = (head: string, entries: (inner: number) => string[]): Shape => ({
    ...shape,
    braces: [`${head}[`, "]"],
    kind: "list",
    entries,
  });

  // What can't be iterated is printed as any object.
  const hasEntries = constructor === null || Symbol.iterator in value;
  if (Array.isArray(value) && hasEntries) {
    const head = constructor !== "Array" || tag !== "" ? prefix("Array", value.length) : "";
    shape.keys = getKeys(state, value, true);
    if (value.length === 0 && shape.keys.length === 0 && !inheritsMore) return done(`${head}[]`);
    return list(head, (inner) => listEntries(state, value, inner));
  }
  const typedArray = types.typedArrayName(value);
  if (typedArray !== undefined && hasEntries) {
    const array = value as Uint8Array;
    const head = prefix(constructor === null ? "" : typedArray, array.length);
    shape.keys = getKeys(state, value, true);
    if (array.length === 0 && shape.keys.length === 0 && !state.showHidden) return done(`${head}[]`);
    return list(head, () => typedArrayEntries(state, array));
  }
  shape.keys = getKeys(state, value);
  const bare = shape.keys.length === 0 && !inheritsMore;
  if (types.isSet(value) && hasEntries) {
    const set = value as Set<unknown>;
    const size = types.sizeOf(value);
    const head = prefix("Set", size);
    if (size === 0 && bare) return done(`${head}{}`);
    return { ...shape, braces: [`${head}{`, "}"], entries: (inner) => setEntries(state, set, inner) };
  }
  if (types.isMap(value) && hasEntries) {
    const map = value as Map<unknown, unknown>;
    const size = types.sizeOf(value);
    const head = prefix("Map", size);
    if (size === 0 && bare) return done(`${head}{}`);
    return { ...shape, braces: [`${head}{`, "}"], entries: (inner) => mapEntries(state, map, inner) };
  }
  const iterator = iteratorShapeOf(state, value, shape);
  if (iterator !== undefined) return iterator;
  if (constructor === "Object") {
    const head = types.isArguments(value) ? "[Arguments] " : tag === "" ? "" : prefix("Object");
    return bare ? done(`${head}{}`) : { ...shape, braces: [`${head}{`, "}"] };
  }
  if (typeof value === "function") {
    shape.base = functionText(value, constructor, tag);
    return bare ? done(state.stylize(shape.base, "special")) : shape;
  }
  return specialShapeOf(state, value, constructor, tag, shape, inheritsMore);
}

function specialShapeOf(
  state: Inspection,
  value: object,
  constructor: string | null,
  tag: string,
  shape: Shape,
  inheritsMore: boolean,
): Shape {
  const prefix = (fallback: string): string => getPrefix(constructor, tag, fallback);
  const bare = shape.keys.length === 0 && !inheritsMore;
  const done = (whole: string): Shape => ({ ...shape, whole });
  const withBase = (base: string, style: string): Shape =>
    bare ? done(state.stylize(base, style)) : { ...shape, base };
  const open = (fallback: string): [string, string] => [`${prefix(fallback)}{`, "}"];
  if (types.isRegExp(value)) {
    const head = prefix("RegExp");
    return withBase(`${head === "RegExp " ? "" : head}${types.regExpText(value)}`, "regexp");
  }
  if (types.isDate(value)) {
    const time = Date.prototype.getTime.call(value);
    const text = Number.isNaN(time) ? "Invalid Date" : Date.prototype.toISOString.call(value);
    const head = prefix("Date");
    return withBase(`${head === "Date " ? "" : head}${text}`, "date");
  }
  if (types.isAnyError(value)) {
    const base = formatError(state, value as Error, constructor, tag, shape.keys, (inner) =>
      state.format(state, inner, Number.NaN),
    );
    return shape.keys.length === 0 && !inheritsMore ? done(base) : { ...shape, base };
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
  if (types.isPromise(value))
    return { ...shape, braces: open("Promise"), entries: (inner) => promiseEntries(state, value, inner) };
  if (tag === "Intl.Locale") {
    shape.keys.unshift(...LOCALE_KEYS);
    return { ...shape, braces: open("Intl.Locale") };
  }
  const weak = types.isWeakSet(value) ? "WeakSet" : types.isWeakMap(value) ? "WeakMap" : undefined;
  if (weak !== undefined)
    return { ...shape, braces: open(weak), entries: () => [state.stylize("<items unknown>", "special")] };
  if (types.isModuleNamespace(value)) return { ...shape, braces: ["[Module: null prototype] {", "}"] };
  if (types.isBoxedPrimitive(value)) {
    const base = boxedText(state, value, shape.keys, constructor, tag);
    const kind = /^\[(\w+)/.exec(base)![1]!.toLowerCase();
    return shape.keys.length === 0 ? done(state.stylize(base, kind)) : { ...shape, base };
  }
  const head = prefix("Object");
  return bare ? done(`${head}{}`) : { ...shape, braces: [`${head}{`, "}"] };
}

/** Returns the shape of an iterator of a map or set. */
function iteratorShapeOf(state: Inspection, value: object, shape: Shape): Shape | undefined {
  const kind = types.isMapIterator(value) ? "Map" : types.isSetIterator(value) ? "Set" : undefined;
  const left = kind && leftIn(kind, value);
  if (kind === undefined || left === undefined) return undefined;
  const name = `${kind} ${areEntries(kind, left) ? "Entries" : "Iterator"}`;
  const entries = (inner: number): string[] => iteratorEntries(state, kind, left, inner);
  const keys = shape.keys.filter((key) => key !== "next");
  return { ...shape, keys, braces: [`[${name}] {`, "}"], entries };
}

/** Formats what became of a promise, if that is known; most others that are printed are pending. */
function promiseEntries(state: Inspection, promise: object, depth: number): string[] {
  const settled = proxies.stateOf(promise);
  if (settled === undefined) return [state.stylize("<pending>", "special")];
  state.indentation += 2;
  const text = state.format(state, settled.value, depth);
  state.indentation -= 2;
  return [settled.isRejected ? `${state.stylize("<rejected>", "special")} ${text}` : text];
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

const LOCALE_KEYS =
  "baseName calendar caseFirst collation hourCycle language numberingSystem numeric region script".split(" ");

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
  const text = formatPrimitive(
    { ...state, maxStringLength: Number.POSITIVE_INFINITY, stylize: (plain) => plain },
    primitive,
  );
  const made = constructor === name ? "" : constructor === null ? " (null prototype)" : ` (${constructor})`;
  return `[${name}${made}: ${text}]${tag !== "" && tag !== constructor ? ` [${tag}]` : ""}`;
}
