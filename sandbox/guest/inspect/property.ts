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
        ? evaluatedGetter(state, value, descriptor.get, label, depth)
        : state.stylize(`[${label}]`, "special");
  } else
    text =
      descriptor.set === undefined
        ? state.stylize("undefined", "undefined")
        : state.stylize("[Setter]", "special");
  if (isElement) return text;
  const plain = typeof key === "symbol" ? symbolKey(key) : quoteKey(String(key), state.quotes);
  const name = state.stylize(plain, typeof key === "symbol" ? "symbol" : plain === key ? "name" : "string");
  return `${descriptor.enumerable === false ? `[${name}]` : name}:${gap}${text}`;
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
      return `${state.stylize(`[${label}]`, "special")} ${state.format(state, result, depth)}`;
    return `${state.stylize(`[${label}:`, "special")} ${formatPrimitive(state, result)}${state.stylize("]", "special")}`;
  } catch (error) {
    return `[${label}: <Inspection threw (${(error as Error).message})>]`;
  }
}
