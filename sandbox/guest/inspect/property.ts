import type { Inspection } from "./inspection.ts";
import { withoutCodes } from "./layout.ts";
import { formatPrimitive } from "./primitive.ts";
import { quoteKey, symbolKey } from "./quote.ts";

/** The layout of a value; a list's elements are shown without their keys. */
export type Kind = "object" | "list";

/** Formats one property as `name: value`, or only the value of a list element. */
export function formatProperty(
  state: Inspection,
  value: object,
  depth: number,
  key: PropertyKey,
  kind: Kind,
  isElement = false,
  main = value,
): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key) ?? {
    value: (value as Record<PropertyKey, unknown>)[key],
    enumerable: true,
  };
  let text: string;
  let gap = " ";
  if (descriptor.value !== undefined) {
    const step = state.compact !== true || kind === "list" ? 2 : 3;
    state.indentation += step;
    text = state.format(state, descriptor.value, depth);
    if (step === 3 && state.breakLength < withoutCodes(text).length)
      gap = `\n${" ".repeat(state.indentation)}`;
    state.indentation -= step;
  } else if (descriptor.get !== undefined) {
    const label = descriptor.set === undefined ? "Getter" : "Getter/Setter";
    const { getters } = state.options;
    text =
      (getters && typeof getters !== "string") || getters === (descriptor.set === undefined ? "get" : "set")
        ? evaluatedGetter(state, main, descriptor.get, label, depth)
        : state.stylize(`[${label}]`, "special");
  } else
    text =
      descriptor.set === undefined
        ? state.stylize("undefined", "undefined")
        : state.stylize("[Setter]", "special");
  if (isElement) return text;
  const plain =
    typeof key === "symbol" ? symbolKey(key) : quoteKey(String(key), state.quotes, state.escapeSequences);
  const name = state.stylize(plain, typeof key === "symbol" ? "symbol" : plain === key ? "name" : "string");
  return `${descriptor.enumerable === false ? `[${name}]` : name}:${gap}${text}`;
}

/** Layers of prototypes whose properties are shown. */
const MAX_LAYERS = 3;

/** Formats the properties that an object inherits from classes of the source, which are shown with what is hidden. */
export function inheritedProperties(state: Inspection, value: object, depth: number): string[] {
  const output: string[] = [];
  const shown = new Set<PropertyKey>();
  const first = Object.getPrototypeOf(value) as object | null;
  let at = Object.hasOwn(value, "constructor") && isMadeBy(value, value) ? null : first;
  state.seen.push(value);
  for (let layer = 0; at !== null && layer < MAX_LAYERS; layer++) {
    const made: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof made === "function" && isBuiltIn(made)) break;
    for (const key of Reflect.ownKeys(at)) {
      if (key === "constructor" || Object.hasOwn(value, key) || shown.has(key)) continue;
      if (typeof key === "string") shown.add(key);
      if (typeof Object.getOwnPropertyDescriptor(at, key)?.value === "function") continue;
      const text = formatProperty(state, at, depth, key, "object", false, value);
      output.push(state.options.colors ? `\u001b[2m${text}\u001b[22m` : text);
    }
    at = Object.getPrototypeOf(at) as object | null;
  }
  state.seen.pop();
  return output;
}

function isMadeBy(value: object, at: object): boolean {
  const made: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
  return typeof made === "function" && made.name !== "" && value instanceof made;
}

/** Whether a class is a built-in that has a global name. */
const isBuiltIn = (made: { readonly name: string }): boolean =>
  !/.Function$/.test(made.name) && Function.prototype.toString.call(made).endsWith("{ [native code] }");

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
      return `${state.stylize(`[${label}]`, "special")} ${state.format(state, result, depth)}`;
    return `${state.stylize(`[${label}:`, "special")} ${formatPrimitive(state, result)}${state.stylize("]", "special")}`;
  } catch (error) {
    const threw = `<Inspection threw (${(error as Error).message})>`;
    return `${state.stylize(`[${label}:`, "special")} ${threw}${state.stylize("]", "special")}`;
  }
}
