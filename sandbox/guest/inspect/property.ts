import type { Inspection } from "./inspection.ts";
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
  if (descriptor.value !== undefined) {
    const step = state.compact !== true || kind === "list" ? 2 : 3;
    state.indentation += step;
    text = state.format(state, descriptor.value, depth);
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
      return `[${label}] ${state.format(state, result, depth)}`;
    return `[${label}: ${formatPrimitive(state, result)}]`;
  } catch (error) {
    return `[${label}: <Inspection threw (${(error as Error).message})>]`;
  }
}
