import type * as Acorn from "acorn";

/** A place in a text; line and column count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A parser's complaint about a source that it can't read. */
export interface SyntaxComplaint {
  readonly message: string;
  readonly place: Place | undefined;
}

/** Explains what is wrong with a source that doesn't parse, and where, in words for its author. */
export function explainSyntax(
  source: string,
  { message, place }: SyntaxComplaint,
): {
  readonly detail: string;
  readonly place: Place | undefined;
} {
  const text = textOf(message);
  if (place === undefined) return { detail: text, place };
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
  const line = lines[place.line - 1];
  // V8 complains about our own text after the source: the source ends too early, or closes what it didn't
  // open.
  if (line === undefined || place.column > line.length) return explainEnd(source, lines, text);
  const statement = findModuleStatement(lines, place);
  if (statement !== undefined) return statement;
  const rest = line.slice(place.column - 1);
  const opened = NO_TOKEN.test(text) ? /^(?:["'`]|\/\*)/.exec(rest)?.[0] : undefined;
  if (opened !== undefined)
    return { detail: `this ${opened === "/*" ? "comment" : "string"} is not closed`, place };
  const token = /^(?:[\w$]+|.)/su.exec(rest)?.[0] ?? "";
  return { detail: VAGUE.test(text) ? `unexpected \`${token}\`` : text, place };
}

/** Whether V8 may have stopped at what only TypeScript has. */
export function isMaybeType(message: string): boolean {
  const text = textOf(message);
  return (VAGUE.test(text) && !NO_TOKEN.test(text)) || text.endsWith("reserved word");
}

const textOf = (message: string): string => message.replace(/^(?:Uncaught )?SyntaxError: /, "");

/** V8 names only the place. */
const VAGUE =
  /^(?:Invalid or u|U)nexpected (?:token|identifier|string|number)|^Missing initializer in const|^missing \) after/;
/** A stray character, or a text or comment that isn't closed. */
const NO_TOKEN = /^Invalid or unexpected token/;

/** Finds `import … from` and `export`, where V8 complains about what follows the first word and the TypeScript compiler about the word. */
function findModuleStatement(
  lines: readonly string[],
  { line, column }: Place,
): ReturnType<typeof explainSyntax> | undefined {
  const text = lines[line - 1] ?? "";
  const before = /(?<![^;}\s])import\s*$/.exec(text.slice(0, column - 1));
  const start = before?.index ?? (/^import\b(?!\s*[(.])/.test(text.slice(column - 1)) ? column - 1 : -1);
  if (start !== -1) {
    const rest = [text.slice(start), ...lines.slice(line, line + 50)].join("\n");
    const specifier = /^import(?:[^"'`;()]*?\bfrom)?\s*(["'])([^"'\n]*)\1/.exec(rest)?.[2] ?? "npm:…";
    const detail = `a static import isn't possible here: write \`await import(${JSON.stringify(specifier)})\``;
    return { detail, place: { line, column: start + 1 } };
  }
  if (!/^export\b/.test(text.slice(column - 1))) return undefined;
  return {
    detail: "`export` isn't possible here: the source is a function's body, `return` its result",
    place: { line, column },
  };
}

function explainEnd(
  source: string,
  lines: readonly string[],
  text: string,
): { readonly detail: string; readonly place: Place } {
  const end = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  const { parse } = require("acorn") as typeof Acorn;
  try {
    parse(source, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
  } catch (error) {
    const { pos, loc } = error as { readonly pos?: number; readonly loc?: Acorn.Position };
    if (pos !== undefined && loc !== undefined && source.slice(pos).trim() !== "") {
      const isComment = source.startsWith("/*", pos);
      const detail = isComment ? "this comment is not closed" : `unexpected \`${source[pos] ?? ""}\``;
      return { detail, place: { line: loc.line, column: loc.column + 1 } };
    }
  }
  return {
    detail: /^(?:Invalid|Unterm)/.test(text) ? text : "the source ends too early: something is not closed",
    place: end,
  };
}
