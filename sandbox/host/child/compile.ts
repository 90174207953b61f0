import type ivm from "isolated-vm";
import { MAX_ERROR_CHARS } from "../messages.ts";
import { eraseTypes } from "./erase.ts";
import { describeThrown, SOURCE_NAME, stopError } from "./errors.ts";
import { findImports } from "./findImports.ts";
import { explainSyntax, isVague, type Place, type SyntaxComplaint } from "./syntaxFailure.ts";

/** A caller's source as a module: its default export takes the run's values and returns the async function. */
export interface CompiledSource {
  readonly module: ivm.Module;
  /** Maps a place in the compiled code to its column in the caller's text, all from 1; lines are the same. */
  readonly columnOf: (line: number, column: number) => number;
}

/**
 * Compiles a caller's source: as JavaScript first, and with its types erased only if that fails.
 *
 * The source becomes the body of an async arrow function in a module, so that strict mode, `this`, `await` and
 * `return` behave as on the nodes. The code before it is on a line of its own, numbered 0, so lines and columns in
 * errors are the caller's. A source that closes the function early only places its own code at module level.
 * @throws {SourceSyntaxError} If it is neither JavaScript nor TypeScript.
 */
export function compileSource(isolate: ivm.Isolate, source: string): CompiledSource {
  try {
    return { module: compileModule(isolate, source), columnOf: (_line, column) => column };
  } catch (syntaxError) {
    if (stopError(isolate, syntaxError) !== null) throw syntaxError;
    const complaint = complaintOf(syntaxError);
    const erased = eraseTypes(source);
    if ("failedAt" in erased) throw new SourceSyntaxError(source, laterOf(complaint, erased.failedAt));
    try {
      return { module: compileModule(isolate, erased.code), columnOf: erased.columnOf };
    } catch (error) {
      if (stopError(isolate, error) !== null) throw error;
      if (erased.code === source) throw new SourceSyntaxError(source, complaint);
      const { message, place } = complaintOf(error);
      const written = place && { line: place.line, column: erased.columnOf(place.line, place.column) };
      throw new SourceSyntaxError(source, { message, place: written });
    }
  }
}

function complaintOf(thrown: unknown): SyntaxComplaint {
  const { detail, line, column } = describeThrown(thrown, undefined);
  return {
    message: detail,
    place: line === undefined || column === undefined ? undefined : { line, column },
  };
}

/**
 * Picks the later of two errors: in TypeScript, V8 already stops at the first type; an error that sucrase hits too
 * comes later.
 */
function laterOf(complaint: SyntaxComplaint, place: Place | null): SyntaxComplaint {
  const { place: first } = complaint;
  if (first === undefined || place === null || !isVague(complaint.message)) return complaint;
  const isLater = place.line > first.line || (place.line === first.line && place.column > first.column);
  return isLater ? { message: "Unexpected token", place } : complaint;
}

/** A source that is not a function body in JavaScript or TypeScript. */
export class SourceSyntaxError extends Error {
  /** What is wrong, in words for the person who wrote it. */
  readonly detail: string;
  readonly place: Place | undefined;

  constructor(source: string, complaint: SyntaxComplaint) {
    const { detail, place } = explainSyntax(source, complaint);
    super(detail);
    this.name = "SourceSyntaxError";
    this.detail = detail.slice(0, MAX_ERROR_CHARS);
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
