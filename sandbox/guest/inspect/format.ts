import { inspect } from "./inspect.ts";
import type { InspectOptions } from "./inspection.ts";

/**
 * Formats console arguments by Deno's rule: strings as they are, everything else inspected, `%` directives in a leading
 * string replaced.
 */
export function formatArguments(args: readonly unknown[], options: InspectOptions = {}): string {
  const circular = new Map<unknown, number>();
  const show = (value: unknown): string => inspect(value, { circular, ...options });
  return formatText(args, show, (letter, value) => replacement(letter, value, show));
}

/** Formats by the rule of `printf`; a directive for which `replace` returns nothing stays as it is. */
export function formatText(
  args: readonly unknown[],
  show: (value: unknown) => string,
  replace: (letter: string, value: unknown) => string | undefined,
): string {
  let text = "";
  let next = 0;
  if (typeof args[0] === "string" && args.length > 1) {
    next = 1;
    text = args[0].replace(/%([sdifjoOc%])/g, (directive, letter: string) => {
      if (letter === "%") return "%";
      if (next >= args.length) return directive;
      return replace(letter, args[next++]) ?? directive;
    });
  }
  for (let at = next; at < args.length; at++) {
    const value = args[at];
    text += `${at > 0 ? " " : ""}${typeof value === "string" ? value : show(value)}`;
  }
  return text;
}

function replacement(letter: string, value: unknown, show: (value: unknown) => string): string | undefined {
  switch (letter) {
    case "s":
      return String(value);
    case "d":
    case "i":
      return typeof value === "symbol" ? "NaN" : String(leadingInteger(String(value)));
    case "f":
      return typeof value === "symbol" ? "NaN" : String(Number.parseFloat(value as string));
    case "j":
      return jsonText(value);
    case "c":
      return "";
    default:
      return show(value);
  }
}

/** Reads the integer that a text begins with; a long one isn't always the nearest number, as Deno adds up digit by digit. */
function leadingInteger(text: string): number {
  const nearest = Number.parseInt(text);
  if (Number.isNaN(nearest) || Number.isSafeInteger(nearest)) return nearest;
  const hex = /^\s*[+-]?0x([\da-f]+)/i.exec(text)?.[1];
  const digits = hex ?? /\d+/.exec(text)?.[0] ?? "";
  const base = hex === undefined ? 10 : 16;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) sum = sum * base + Number.parseInt(digits[at] as string, base);
  return nearest < 0 ? -sum : sum;
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if ((error as Error).message.includes("circular")) return "[Circular]";
    throw error;
  }
}
