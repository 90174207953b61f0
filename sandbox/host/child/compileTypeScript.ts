import type { Options, TransformOutput } from "@swc/wasm-typescript";
import type { SourceMap, SourceMapPayload } from "node:module";
import type { ChildParts } from "../childParts.ts";
import type { Place, SyntaxComplaint } from "./syntaxFailure.ts";

/** Wraps a source, so that `await` and `return` are allowed in it, as they are in the run. */
const HEAD = "async () => {\n";
const TAIL = "\n}";
/** The same as the compiler prints it. */
const PRINTED_HEAD = "async ()=>{";
const PRINTED_TAIL = "};\n";

/** A compiler as `build/buildChild.ts` bundles it: creates an instance. */
type CreateCompiler<CompilerOptions> = (program: Uint8Array) => {
  /** @throws {CompilerComplaint} If the source isn't TypeScript; a RangeError or RuntimeError if it is too deep or too large. */
  readonly transformSync: (source: string, options: CompilerOptions) => TransformOutput;
};

/** As in Deno, a member of an enum is read when it is used: a source may replace it. */
const TRANSFORM = { tsEnumIsMutable: true };
const TYPES = {
  mode: "transform",
  module: true,
  filename: "source.ts",
  sourceMap: true,
  transform: TRANSFORM,
} as const;
const DECORATORS = {
  isModule: true,
  filename: "source.ts",
  sourceMaps: true,
  swcrc: false,
  jsc: {
    target: "esnext",
    parser: { syntax: "typescript", decorators: true },
    transform: { ...TRANSFORM, decoratorVersion: "2022-03" },
  },
} as const;

/** How the compiler's helper gives a decorator access to a member. */
const ACCESS = /ctx\.access = get && set[^;]*;/;
/** What Deno makes of it: access to a public member takes the object, and has `has`. */
const DENO_ACCESS = `const own = { get, set };
if (get && !isPrivate) get = function (target) { return own.get.call(arguments.length === 0 ? this : target) };
if (set && !isPrivate) set = function (target, value) { return arguments.length === 1 ? own.set.call(this, target) : own.set.call(target, value) };
ctx.access = { ...(!isPrivate && { has: (target) => name in target }), ...(get && { get }), ...(set && { set }) };`;

/**
 * Longest text that is compiled as TypeScript, in bytes of UTF-8: the oracle network accepts no longer source. JavaScript has no such limit, because V8
 * stops parsing when the source's time or memory is used up, and the TypeScript compiler only ends with the process.
 */
const MAX_TYPESCRIPT_BYTES = 30_720;
export const TOO_LONG_TYPESCRIPT = `TypeScript of more than ${MAX_TYPESCRIPT_BYTES.toLocaleString("en")} bytes isn't compiled`;
export const isTooLongTypeScript = (text: string): boolean => Buffer.byteLength(text) > MAX_TYPESCRIPT_BYTES;

let programs: ChildParts["compilers"];

/** Keeps the compilers' programs; a process that is confined can't read them any more. */
export function takeCompilers(compilers: ChildParts["compilers"]): void {
  programs = compilers;
}

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
 * Compiles a TypeScript source to JavaScript with swc, as Deno does, or returns why it isn't TypeScript. The usual compiler leaves decorators
 * as they are; that with decorators is six times as large, and its first use takes a fifth of a second.
 * Runs outside every isolate, so only the parent's timer and its watch on memory bound it. Each source gets a new instance: one whose
 * stack has overflowed fails at every later source.
 */
export function compileTypeScript(
  source: string,
  withDecorators: boolean,
): CompiledTypeScript | TypeScriptFailure {
  try {
    const { code, map = "" } = transform(HEAD + source + TAIL, withDecorators);
    const head = code.indexOf(PRINTED_HEAD);
    if (head < 0 || (head > 0 && !withDecorators) || !code.endsWith(PRINTED_TAIL)) return { complaint: null };
    // Begins with the line feed behind the head, or what decorators need before it, so that its lines are those of the map.
    return {
      code:
        code.slice(0, head).replace(ACCESS, sameLines) +
        code.slice(head + PRINTED_HEAD.length, -PRINTED_TAIL.length),
      placeOf: placesIn(map),
    };
  } catch (error) {
    return { complaint: isComplaint(error) ? toComplaint(source, error) : null };
  }
}

/** What an overflow throws has no place. */
const isComplaint = (error: unknown): error is CompilerComplaint =>
  Object.hasOwn(Object(error) as object, "startLine");

/** Returns what replaces a text with as many lines. */
function sameLines(replaced: string): string {
  const lines = DENO_ACCESS.split("\n");
  return lines.join("\n") + "\n".repeat(replaced.split("\n").length - lines.length);
}

/** Replaces the types of a module by blanks, or compiles it, as `stripTypeScriptTypes` of `node:module` does. */
export function stripTypes(code: string, mode: "strip" | "transform"): string {
  if (isTooLongTypeScript(code)) throw new SyntaxError(TOO_LONG_TYPESCRIPT);
  const createCompiler = require("@swc/wasm-typescript") as CreateCompiler<Options>;
  try {
    const options = { mode: mode === "strip" ? "strip-only" : mode, module: true } as const;
    return createCompiler(programs.types).transformSync(code, options).code;
  } catch (error) {
    if (!isComplaint(error)) throw new SyntaxError("The code is too deep or too large");
    const { message, startLine, startColumn } = error;
    throw new SyntaxError(`${message} at file:///stripTypeScriptTypes.ts:${startLine}:${startColumn + 1}`);
  }
}

function transform(source: string, withDecorators: boolean): TransformOutput {
  if (withDecorators) {
    const createCompiler = require("@swc/wasm") as CreateCompiler<typeof DECORATORS>;
    return createCompiler(programs.decorators).transformSync(source, DECORATORS);
  }
  const createCompiler = require("@swc/wasm-typescript") as CreateCompiler<Options>;
  return createCompiler(programs.types).transformSync(source, TYPES);
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
