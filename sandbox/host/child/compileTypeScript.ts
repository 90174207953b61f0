import type { Options, TransformOutput } from "@swc/wasm-typescript";
import type { SourceMap, SourceMapPayload } from "node:module";
import type { Place, SyntaxComplaint } from "./syntaxFailure.ts";

/** Wraps a source, so that `await` and `return` are allowed in it, as they are in the run. */
const HEAD = "async () => {\n";
const TAIL = "\n}";
/** The same as the compiler prints it. */
const PRINTED_HEAD = "async ()=>{";
const PRINTED_TAIL = "};\n";

/** `@swc/wasm-typescript` as `host/build.ts` bundles it: creates an instance of the compiler. */
type CreateCompiler = () => {
  /** @throws {CompilerComplaint} If the source isn't TypeScript; a RangeError or RuntimeError if it is too deep or too large. */
  readonly transformSync: (source: string, options: Options) => TransformOutput;
};

/** What the compiler throws at a source that isn't TypeScript; lines count from 1, columns from 0. */
interface CompilerComplaint {
  readonly message: string;
  readonly startLine: number;
  readonly startColumn: number;
}

/** The JavaScript that a TypeScript source is compiled to. */
export interface CompiledTypeScript {
  readonly code: string;
  /** Maps a place in `code` to its place in the caller's text. */
  readonly placeOf: (place: Place) => Place;
}

/** Why a source isn't TypeScript, in V8's words where it has some; null if unknown. */
export interface TypeScriptFailure {
  readonly complaint: SyntaxComplaint | null;
}

/**
 * Compiles a TypeScript source to JavaScript with swc, as Deno does, or returns why it isn't TypeScript.
 * Runs outside every isolate, so only the parent's timer and its watch on memory bound it. Each source gets a new instance: one whose
 * stack has overflowed fails at every later source.
 */
export function compileTypeScript(source: string): CompiledTypeScript | TypeScriptFailure {
  const createCompiler = require("@swc/wasm-typescript") as CreateCompiler;
  try {
    const { code, map = "" } = createCompiler().transformSync(HEAD + source + TAIL, {
      mode: "transform",
      module: true,
      filename: "source.ts",
      sourceMap: true,
      // As in Deno, a member of an enum is read when it is used: a source may replace it.
      transform: { tsEnumIsMutable: true },
    });
    if (!code.startsWith(PRINTED_HEAD) || !code.endsWith(PRINTED_TAIL)) return { complaint: null };
    // Begins with the line feed behind the head, so that its lines are those of the map.
    return { code: code.slice(PRINTED_HEAD.length, -PRINTED_TAIL.length), placeOf: placesIn(map) };
  } catch (error) {
    // What an overflow throws has no place.
    const isComplaint = Object.hasOwn(Object(error) as object, "startLine");
    return { complaint: isComplaint ? toComplaint(source, error as CompilerComplaint) : null };
  }
}

function toComplaint(
  source: string,
  { message, startLine, startColumn }: CompilerComplaint,
): SyntaxComplaint {
  const line = startLine - 1;
  const text = source.split(/\r\n|[\n\r]/)[line - 1] ?? "";
  return {
    message: message
      .replace(/^Unterminated.*/s, "Invalid or unexpected token")
      .replace(/^(?:Expected|Unexpected|Expression expected).*/s, "Unexpected token")
      .replace(/\.$/, ""),
    place: { line, column: 1 + indexAt(text, startColumn) },
  };
}

function placesIn(map: string): CompiledTypeScript["placeOf"] {
  let sourceMap: SourceMap | undefined;
  return (place) => {
    sourceMap ??= new (process.getBuiltinModule("node:module").SourceMap)(
      JSON.parse(map) as SourceMapPayload,
    );
    const entry = sourceMap.findEntry(place.line - 1, place.column - 1);
    if (!("originalLine" in entry)) return place;
    const { generatedColumn, originalLine, originalColumn } = entry;
    // The head is line 0 of the map.
    return { line: originalLine, column: originalColumn + place.column - generatedColumn };
  };
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Returns the index of a column of the compiler, which counts four for a tab, none for a mark, one more for a wide character. */
function indexAt(text: string, column: number): number {
  let index = 0;
  let left = column;
  for (const character of text) {
    if (left <= 0) break;
    if (character === "\t") left -= 4;
    else if (WIDE.test(character)) left -= character.length + 1;
    else if (!/[\p{M}\p{Cf}]/u.test(character)) left -= character.length;
    index += character.length;
  }
  return index;
}
