import { readFileSync } from "node:fs";
import { type ImportDeclaration, parse, type Position, type Program } from "acorn";
import { describeOpenEnd, SourceSyntaxError } from "./sourceSyntaxError.ts";

/** Modules that sources may import statically, each a file in this folder that exports exactly one arrow function. */
const MODULES: Readonly<Record<string, { readonly name: string; readonly file: string }>> = {
  "tyche:draw": { name: "createDraw", file: "modules/draw.js" },
};

/** A source whose imports have been resolved. */
export interface LinkedSource {
  /** The imported modules as declarations, then the source with its import statements blanked out, so that columns stay the same. */
  readonly text: string;
  /** Lines before the source's first line. */
  readonly preludeLines: number;
}

/**
 * Resolves the static imports of a preset's source, such as `import { createDraw } from "tyche:draw"`. The text on chain is a function
 * body and imports nothing, so that the oracle's nodes, and anyone who checks a result, need only that text. Throws
 * {@link SourceSyntaxError} for an import of anything else.
 */
export function linkSource(source: string): LinkedSource {
  let prelude = "";
  let body = source;
  for (const statement of findImports(source)) {
    prelude += declare(statement, source);
    const { start, end } = statement;
    body = body.slice(0, start) + source.slice(start, end).replaceAll(/[^\r\n]/g, " ") + body.slice(end);
  }
  return { text: prelude + body, preludeLines: prelude.split("\n").length - 1 };
}

function findImports(source: string): ImportDeclaration[] {
  // Most presets import nothing and don't need a second parser.
  if (!/\bimport\b/.test(source)) return [];
  let program: Program;
  try {
    program = parse(source, {
      ecmaVersion: "latest",
      sourceType: "module",
      locations: true,
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
  } catch (error) {
    // Otherwise esbuild would blame the import, which is left in only because the text could not be parsed to take it out.
    if (STATIC_IMPORT.test(source)) throw describeFailure(error, source);
    return [];
  }
  return program.body.filter((statement) => statement.type === "ImportDeclaration");
}

/** A line that starts like an import statement. */
const STATIC_IMPORT = /^\s*import\s*[\w{*]/m;

/** Parses acorn's error, whose message ends with the place. */
function describeFailure(error: unknown, source: string): SourceSyntaxError {
  const { message, loc, pos = 0 } = error as Error & { readonly loc?: Position; readonly pos?: number };
  if (pos >= source.trimEnd().length) return describeOpenEnd(source, error);
  const place = loc === undefined ? {} : { line: loc.line, column: loc.column + 1 };
  return new SourceSyntaxError(message.replace(/ \(\d+:\d+\)$/, ""), { ...place, cause: error });
}

function declare(statement: ImportDeclaration, source: string): string {
  const specifier = String(statement.source.value);
  const wanted = Object.hasOwn(MODULES, specifier) ? MODULES[specifier] : undefined;
  if (wanted === undefined) {
    const known = Object.keys(MODULES).join(", ");
    throw errorAt(
      statement,
      `a source can import statically from ${known} only; write await import(${JSON.stringify(specifier)}) for another module`,
    );
  }
  const { name, file } = wanted;
  const declarations = statement.specifiers.map((imported) => {
    if (
      imported.type !== "ImportSpecifier" ||
      source.slice(imported.imported.start, imported.imported.end) !== name
    )
      throw errorAt(
        imported,
        `${specifier} exports ${name} and nothing else: import { ${name} } from "${specifier}"`,
      );
    return `const ${imported.local.name} = ${readFunction(file, name)}`;
  });
  return declarations.join("");
}

function readFunction(file: string, name: string): string {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const start = `export const ${name} = `;
  return text.slice(text.indexOf(start) + start.length);
}

function errorAt({ loc }: Pick<ImportDeclaration, "loc">, reason: string): SourceSyntaxError {
  return new SourceSyntaxError(reason, loc ? { line: loc.start.line, column: loc.start.column + 1 } : {});
}
