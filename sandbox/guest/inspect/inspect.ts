import * as types from "../types.ts";
import { stylizeNoColor, stylizeWithColor } from "./colors.ts";
import { type InspectOptions, type Inspection, proxies } from "./inspection.ts";
import { joinEntries } from "./layout.ts";
import { getConstructorName, getPrefix } from "./names.ts";
import { formatPrimitive } from "./primitive.ts";
import { formatProperty, inheritedProperties } from "./property.ts";
import { shapeOf } from "./shape.ts";

/** Methods by which an object prints itself, in order of precedence. */
const PRIVATE_INSPECT = Symbol.for("Deno.privateCustomInspect");
const CUSTOM_INSPECT = Symbol.for("Deno.customInspect");
const NODE_INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * Returns the text of any value, as `Deno.inspect` does; coloured only if `stylize` says how. An object's own method for Node's `util.inspect` is given `own` to call.
 */
export function inspect(
  value: unknown,
  options: InspectOptions = {},
  own: Inspection["inspect"] = inspect,
): string {
  return formatValue(begin({ __proto__: null, ...options } as InspectOptions, own), value, 0);
}

/** Starts an inspection with Deno's defaults. */
function begin(options: InspectOptions, own: Inspection["inspect"]): Inspection {
  const { breakLength = 80, compact = 3, iterableLimit, maxArrayLength, strAbbreviateSize } = options;
  const depth = "depth" in options ? options.depth : 4;
  return {
    options,
    depth: depth ?? Number.POSITIVE_INFINITY,
    iterableLimit:
      options.listLimit ?? limit(iterableLimit === undefined ? maxArrayLength : iterableLimit, 100),
    collectionLimit: iterableLimit ?? 100,
    inspect: own,
    maxStringLength: limit(
      strAbbreviateSize === undefined ? options.maxStringLength : strAbbreviateSize,
      10_000,
    ),
    breakLength,
    compact,
    trailingComma: options.trailingComma ?? false,
    stylize: options.stylize ?? (options.colors ? stylizeWithColor : stylizeNoColor),
    escapeSequences: options.escapeSequences ?? true,
    quotes: options.quotes ?? ['"', "'", "`"],
    customInspect: options.customInspect ?? true,
    showHidden: options.showHidden ?? false,
    seen: options.seen?.slice() ?? [],
    circular: options.circular,
    format: formatValue,
    currentDepth: 0,
    indentation: options.indentationLvl ?? 0,
  };
}

/** A limit of null is none. */
const limit = (value: number | null | undefined, usual: number): number =>
  value === null ? Number.POSITIVE_INFINITY : (value ?? usual);

/** Formats one value, `depth` levels below the outermost. */
function formatValue(state: Inspection, given: unknown, depth: number): string {
  if ((typeof given !== "object" && typeof given !== "function") || given === null)
    return formatPrimitive(state, given);
  let value = given;
  for (let parts = proxies.partsOf(value); parts !== undefined; parts = proxies.partsOf(value)) {
    const [target, handler] = parts;
    if (target === undefined) throw new TypeError("Cannot inspect a proxy that has been revoked");
    if (state.options.showProxy) return formatProxy(state, [target, handler], depth);
    value = target;
  }
  if (state.customInspect) {
    const own = customText(state, value, depth);
    if (own !== undefined) return own;
  }
  if (state.seen.includes(value)) {
    state.circular ??= new Map();
    let index = state.circular.get(value);
    if (index === undefined) state.circular.set(value, (index = state.circular.size + 1));
    return state.stylize(`[Circular *${index}]`, "special");
  }
  return formatObject(state, value, depth);
}

/** Formats a proxy's target and handler. */
function formatProxy(state: Inspection, parts: readonly unknown[], depth: number): string {
  if (depth > state.depth) return state.stylize("Proxy [Array]", "special");
  state.indentation += 2;
  state.currentDepth = depth + 1;
  const entries = parts.map((part) => formatValue(state, part, depth + 1));
  state.indentation -= 2;
  return joinEntries(state, { entries, base: "", braces: ["Proxy [", "]"], depth: depth + 1 });
}

function customText(state: Inspection, value: object, depth: number): string | undefined {
  const target = value as Record<symbol, unknown>;
  for (const name of [CUSTOM_INSPECT, PRIVATE_INSPECT, NODE_INSPECT]) {
    const method = target[name];
    if (typeof method !== "function") continue;
    if (name !== NODE_INSPECT) {
      // An inspection of its own, from its own depth; the options that it is given say what it is inside of.
      const shown = (inner: unknown, given: InspectOptions = {}): string =>
        formatValue(begin(given, state.inspect), inner, 0);
      return String(method.call(value, shown, ownOptions(state, shown)));
    }
    const depthLeft = state.options.depth === null ? null : state.depth - depth;
    const result: unknown = method.call(value, depthLeft, nodeOptions(state), state.inspect);
    if (result === value) continue;
    if (typeof result === "string") return result.replaceAll("\n", `\n${" ".repeat(state.indentation)}`);
    return formatValue(state, result, depth);
  }
  return undefined;
}

/** The options that Node's `util.inspect` passes to an object's own method. */
function nodeOptions(state: Inspection): object {
  const { breakLength, compact, customInspect, showHidden, stylize, options } = state;
  const known = {
    stylize,
    showHidden,
    depth: "depth" in options ? options.depth : 4,
    colors: options.colors ?? false,
    customInspect,
    showProxy: options.showProxy ?? false,
    maxArrayLength: state.iterableLimit,
    maxStringLength: state.maxStringLength,
    breakLength,
    compact,
    sorted: options.sorted ?? false,
    getters: options.getters ?? false,
    numericSeparator: options.numericSeparator,
  };
  const others = Object.entries(options.given ?? {}).filter(([name]) => !Object.hasOwn(known, name));
  return { ...known, ...Object.fromEntries(others) };
}

/** The options that Deno passes to an object's own method. */
function ownOptions(state: Inspection, inspect: (inner: unknown, given?: InspectOptions) => string): object {
  const { indentation, currentDepth, escapeSequences, trailingComma, collectionLimit, quotes, seen } = state;
  return {
    ...nodeOptions(state),
    indentationLvl: indentation,
    currentDepth,
    indentLevel: 0,
    escapeSequences,
    trailingComma,
    iterableLimit: collectionLimit,
    quotes,
    seen,
    budget: {},
    inspect,
  };
}

/** Returns the name of the class of an object that has no prototype. */
function kindOf(value: object): string {
  const known = types.typedArrayName(value) ?? KINDS.find(([is]) => is(value))?.[1];
  return known ?? Object.prototype.toString.call(value).slice(8, -1);
}
const KINDS: readonly (readonly [(value: unknown) => boolean, string])[] = [
  [types.isMap, "Map"],
  [types.isSet, "Set"],
  [types.isWeakMap, "WeakMap"],
  [types.isWeakSet, "WeakSet"],
  [types.isArrayBuffer, "ArrayBuffer"],
  [types.isDataView, "DataView"],
];

function formatObject(state: Inspection, value: object, depth: number): string {
  const constructor = getConstructorName(value, depth > state.depth);
  let tag: unknown;
  try {
    tag = (value as Record<symbol, unknown>)[Symbol.toStringTag];
  } catch {
    tag = "";
  }
  const tagText = typeof tag === "string" ? tag : "";
  const inherited = state.showHidden && depth <= state.depth ? inheritedProperties(state, value, depth) : [];
  const shape = shapeOf(state, value, constructor, tagText, inherited.length > 0);
  if (shape.whole !== undefined) return shape.whole;
  if (depth > state.depth) {
    if (types.isRegExp(value)) return state.stylize(shape.base, "regexp");
    const name = getPrefix(constructor, tagText, kindOf(value)).slice(0, -1);
    return state.stylize(constructor === null ? name : `[${name}]`, "special");
  }
  const inner = depth + 1;
  state.seen.push(value);
  state.currentDepth = inner;
  let output: string[];
  try {
    output = shape.entries?.(inner) ?? [];
    for (const key of shape.keys) output.push(formatProperty(state, value, inner, key, shape.kind));
    output.push(...inherited);
  } finally {
    state.seen.pop();
  }
  const index = state.circular?.get(value);
  let { base } = shape;
  const { braces } = shape;
  if (index !== undefined) {
    const mark = state.stylize(`<ref *${index}>`, "special");
    if (state.compact === true) braces[0] = `${mark} ${braces[0]}`;
    else base = base === "" ? mark : `${mark} ${base}`;
  }
  const { sorted } = state.options;
  if (sorted) {
    const order = typeof sorted === "function" ? sorted : undefined;
    if (shape.kind === "object") output.sort(order);
    else output.push(...output.splice(output.length - shape.keys.length).sort(order));
  }
  return joinEntries(state, {
    entries: output,
    base,
    braces,
    depth: inner,
    ...(shape.kind === "list" && { list: value as never }),
  });
}
