import type * as Acorn from "acorn";
import type { Native } from "./native.ts";

/** The platform's UTF-8, and a search in a line of code. */
export const textNatives: Readonly<Record<string, Native>> = {
  /** `{fatal, ignoreBOM}` and bytes → text. */
  decodeUtf8: ({ fatal, ignoreBOM }, body) =>
    new TextDecoder("utf-8", { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(body),
  /** `{line, column}` → the call at the column, from 0, of a line of code. */
  callAt: ({ line, column }) => findCall(String(line), Number(column)),
};

/**
 * Returns the call at a column as Deno quotes it: from the object whose method is called to the closing parenthesis, a semicolon or the
 * end of the line. Deno's compiler ends lines after the brace or bracket that begins a block or a literal, and prints arrows without
 * spaces.
 */
function findCall(line: string, column: number): string {
  const { tokenizer, tokTypes } = require("acorn") as typeof Acorn;
  let first: number | undefined;
  let last: Acorn.Token | undefined;
  let depth = 0;
  const quote = (end: number): string => line.slice(first ?? column, end).replaceAll(" => ", "=>");
  try {
    for (const token of tokenizer(line, { ecmaVersion: "latest", sourceType: "module" })) {
      const { type, start, end } = token;
      if (start < column) {
        const isAccess =
          type === tokTypes.dot ||
          type === tokTypes.questionDot ||
          type === tokTypes.bracketL ||
          type === tokTypes.bracketR;
        const isName = type === tokTypes.name || type === tokTypes.string || type === tokTypes.num;
        if (isAccess && first === undefined && last?.type === tokTypes.name) first = last.start;
        else if (!isAccess && !isName && type.keyword === undefined) first = undefined;
        last = token;
      } else if (type === tokTypes.parenL) depth++;
      else if (type === tokTypes.parenR && --depth === 0) return quote(end);
      else if (type === tokTypes.semi) return quote(start);
      else if (
        (type === tokTypes.braceL || type === tokTypes.bracketL) &&
        !/^\s*[\]}]/.test(line.slice(end))
      ) {
        const before = line.slice(0, start).trimEnd();
        if (type === tokTypes.braceL || !/[\w$)\]]$/.test(before)) return quote(end);
      }
    }
  } catch {
    // The line ends within a template or a comment, which the next lines end.
  }
  return quote(line.length);
}
