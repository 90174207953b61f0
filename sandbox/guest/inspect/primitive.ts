import type { Inspection } from "./inspection.ts";
import { quoteString, symbolText } from "./quote.ts";

/** Formats a value that isn't an object. */
export function formatPrimitive(state: Inspection, value: unknown): string {
  if (typeof value === "string") return formatString(state, value);
  return state.stylize(plainText(state, value), value === null ? "null" : typeof value);
}

function plainText(state: Inspection, value: unknown): string {
  switch (typeof value) {
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
    const lines = text
      .split(/(?<=\n)/)
      .map((line) => state.stylize(quoteString(line, state.quotes, state.escapeSequences), "string"));
    return lines.join(` +\n${" ".repeat(state.indentation + 2)}`) + trailer;
  }
  return state.stylize(quoteString(text, state.quotes, state.escapeSequences), "string") + trailer;
}
