import type ivm from "isolated-vm";
import { MAX_ERROR_CHARS } from "../messages.ts";
import { compileTypeScript, isTooLongTypeScript, TOO_LONG_TYPESCRIPT } from "./compileTypeScript.ts";
import { describeThrown, SOURCE_NAME, stopError } from "./errors.ts";
import { findImports } from "./findImports.ts";
import { explainSyntax, isMaybeType, type Place, type SyntaxComplaint } from "./syntaxFailure.ts";

/** A caller's source as a module: its default export takes the run's values and returns the async function. */
export interface CompiledSource {
  readonly module: ivm.Module;
  /** Maps a place in the compiled code to its place in the caller's text. */
  readonly placeOf: (place: Place) => Place;
}

const TOO_LONG = `. ${TOO_LONG_TYPESCRIPT}: shorten the source, or write it in JavaScript`;

/**
 * Compiles a caller's source: as JavaScript first, and as TypeScript only if that fails.
 *
 * The source becomes the body of an async arrow function in a module, so that strict mode, `this`, `await` and
 * `return` behave as on the nodes. The code before it is on a line of its own, numbered 0, so lines and columns in
 * errors are the caller's. A source that closes the function early only places its own code at module level.
 * @throws {SourceSyntaxError} If it is neither JavaScript nor TypeScript.
 */
export function compileSource(isolate: ivm.Isolate, source: string): CompiledSource {
  try {
    return { module: compileModule(isolate, source), placeOf: (place) => place };
  } catch (syntaxError) {
    if (stopError(isolate, syntaxError) !== null) throw syntaxError;
    const complaint = complaintOf(syntaxError);
    if (isTooLongTypeScript(source))
      throw new SourceSyntaxError(source, complaint, isMaybeType(complaint.message) ? TOO_LONG : "");
    return compileTyped(isolate, source, complaint, false);
  }
}

/** Compiles a source that isn't JavaScript, as `complaint` says; once more with decorators if they are what is left of TypeScript. */
function compileTyped(
  isolate: ivm.Isolate,
  source: string,
  complaint: SyntaxComplaint,
  withDecorators: boolean,
): CompiledSource {
  const compiled = compileTypeScript(source, withDecorators);
  if ("complaint" in compiled) throw new SourceSyntaxError(source, laterOf(complaint, compiled.complaint));
  const { code, placeOf } = compiled;
  try {
    return { module: compileModule(isolate, code), placeOf };
  } catch (error) {
    if (stopError(isolate, error) !== null) throw error;
    const { message, place } = complaintOf(error);
    if (
      !withDecorators &&
      place !== undefined &&
      code.split("\n")[place.line - 1]?.[place.column - 1] === "@"
    )
      return compileTyped(isolate, source, complaint, true);
    if (!isMaybeType(complaint.message)) throw new SourceSyntaxError(source, complaint);
    throw new SourceSyntaxError(source, { message, place: place && placeOf(place) });
  }
}

function complaintOf(thrown: unknown): SyntaxComplaint {
  const { detail, line, column } = describeThrown(thrown, undefined);
  return {
    message: detail,
    place: line === undefined || column === undefined ? undefined : { line, column },
  };
}

/** Picks V8's error or the TypeScript compiler's, if it is later: V8 already stops at the first type. */
function laterOf(complaint: SyntaxComplaint, other: SyntaxComplaint | null): SyntaxComplaint {
  const first = complaint.place;
  const place = other?.place;
  if (first === undefined || place === undefined || !isMaybeType(complaint.message)) return complaint;
  const isLater = place.line > first.line || (place.line === first.line && place.column > first.column);
  return isLater ? (other as SyntaxComplaint) : complaint;
}

/** A source that is not a function body in JavaScript or TypeScript. */
export class SourceSyntaxError extends Error {
  /** What is wrong, in words for the person who wrote it. */
  readonly detail: string;
  readonly place: Place | undefined;

  /** `hint` is appended to what is wrong. */
  constructor(source: string, complaint: SyntaxComplaint, hint = "") {
    const { detail, place } = explainSyntax(source, complaint);
    super(detail + hint);
    this.name = "SourceSyntaxError";
    this.detail = (detail + hint).slice(0, MAX_ERROR_CHARS);
    this.place = place;
  }
}

/**
 * The nodes' wrapper has names of its own that a source sees: itself as `userScript`, and `result` and
 * `arrayBufferToHex`, which exist but have no value yet while the source runs.
 */
function compileModule(isolate: ivm.Isolate, source: string): ivm.Module {
  const { body, importName } = nameImports(source);
  const run = freeName(body + importName, "$tych$");
  const head = `export default (${run}, ${importName}) => { const { secrets, args, bytesArgs, Functions } = ${run}; const userScript = (async () => {`;
  return isolate.compileModuleSync(
    `${head}\n${body}\n}); return userScript; const result = 0, arrayBufferToHex = 0; };`,
    {
      filename: SOURCE_NAME,
      lineOffset: -1,
    },
  );
}

/** Replaces the keyword of every dynamic `import` by a name of the same length, so that columns stay the same. */
function nameImports(source: string): { body: string; importName: string } {
  const importName = freeName(source, "$impt$");
  if (!source.includes("import")) return { body: source, importName };
  let body = "";
  let end = 0;
  for (const start of findImports(source)) {
    body += source.slice(end, start) + importName;
    end = start + "import".length;
  }
  return { body: body + source.slice(end), importName };
}

/**
 * Returns a six-character identifier that the source does not contain, so that it can neither use nor shadow it.
 */
function freeName(body: string, first: string): string {
  let name = first;
  for (let number = 0; body.includes(name); number++) name = `$${number.toString(36).padStart(5, "_")}`;
  return name;
}
