import { isAsyncFunction, isGeneratorFunction } from "../types.ts";

/** Prototypes whose name counts, whatever their `constructor` is now. */
const WELL_KNOWN = new Map<object, string>(
  [
    Array,
    ArrayBuffer,
    Function,
    Map,
    Set,
    Object,
    RegExp,
    Date,
    DataView,
    Error,
    AggregateError,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    Boolean,
    Number,
    String,
    Promise,
    WeakMap,
    WeakSet,
  ].map(({ prototype, name }) => [prototype, name]),
).set(Object.getPrototypeOf(Uint8Array.prototype) as object, "TypedArray");

/** Returns the name of the constructor that created a value; null if the value has no prototype. What is too deep tells less. */
export function getConstructorName(value: object, isTooDeep = false): string | null {
  let current: object | null = value;
  let first: object | null | undefined;
  while (current !== null) {
    const known = WELL_KNOWN.get(current);
    if (known !== undefined && current !== value) return known;
    // As it is now: a source may have replaced it.
    const made: unknown = Reflect.getOwnPropertyDescriptor(current, "constructor")?.value;
    if (
      typeof made === "function" &&
      typeof made.name === "string" &&
      made.name !== "" &&
      isInstance(value, made)
    ) {
      return made.name;
    }
    current = Object.getPrototypeOf(current) as object | null;
    first ??= current;
  }
  if (first === null || first === undefined) return null;
  if (isTooDeep) return "Object <Complex prototype>";
  return `${Array.isArray(value) ? "Array" : "Object"} <${getConstructorName(first) ?? "[Object: null prototype] {}"}>`;
}

function isInstance(value: object, made: object): boolean {
  const prototype: unknown = (made as { prototype?: unknown }).prototype;
  return (
    (typeof prototype === "object" || typeof prototype === "function") &&
    prototype !== null &&
    Object.prototype.isPrototypeOf.call(prototype, value)
  );
}

/** Returns the text before the brace: constructor, size and tag, with a trailing space. */
export function getPrefix(constructor: string | null, tag: string, fallback: string, size = ""): string {
  if (constructor === null) {
    return tag !== "" && fallback !== tag
      ? `[${fallback}${size}: null prototype] [${tag}] `
      : `[${fallback}${size}: null prototype] `;
  }
  return tag !== "" && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
}

/** The base of a class in parentheses, which the nodes' compiler removes. */
const ANONYMOUS_BASE = /^[\s\w$]*\bextends\s*\((?:class\b|[\w$.]+\)\s*\{)/;

/** Returns a function's text: `[Function: name]`, `[class A extends B]`. */
export function functionText(value: object, constructor: string | null, tag: string): string {
  const source = Function.prototype.toString.call(value);
  if (source.startsWith("class") && source.endsWith("}")) {
    const body = source.slice(5, -1);
    const brace = body.indexOf("{");
    if (
      brace !== -1 &&
      (!body.slice(0, brace).includes("(") || /^\s+[^(]*?\s*\{/.test(body) || ANONYMOUS_BASE.test(body))
    )
      return classText(value, constructor, tag);
  }
  const type = `${isAsyncFunction(value) ? "Async" : ""}${isGeneratorFunction(value) ? "Generator" : ""}Function`;
  const name: unknown = (value as { name?: unknown }).name;
  let text = `[${type}${constructor === null ? " (null prototype)" : ""}${name === "" ? " (anonymous)" : `: ${String(name)}`}]`;
  if (constructor !== null && constructor !== type) text += ` ${constructor}`;
  if (tag !== "" && constructor !== tag) text += ` [${tag}]`;
  return text;
}

function classText(value: object, constructor: string | null, tag: string): string {
  const name = Object.hasOwn(value, "name") && (value as { name?: unknown }).name;
  let text = `class ${name ? String(name) : "(anonymous)"}`;
  if (constructor !== null && constructor !== "Function") text += ` [${constructor}]`;
  if (tag !== "" && constructor !== tag) text += ` [${tag}]`;
  if (constructor === null) text += " extends [null prototype]";
  else {
    const parent = (Object.getPrototypeOf(value) as { name?: unknown } | null)?.name;
    if (typeof parent === "string" && parent !== "") text += ` extends ${parent}`;
  }
  return `[${text}]`;
}
