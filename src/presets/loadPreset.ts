import path from "node:path";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { keccak256, toBytes } from "viem";
import type { PresetProblem } from "../api/types.ts";
import type { SchemaCheck } from "../lib/schemaCheck.ts";
import { findDefinitionErrors, findSoundParts, type AreSound } from "./definitionErrors.ts";
import { MalformedJsonError, parseJsonText, type JsonText } from "../lib/parseJson.ts";
import { linkSource, type LinkedSource } from "./linkSource.ts";
import { minifySource } from "./minifySource.ts";
import { compileParameters, publishParameterSchema } from "./parameterSchema.ts";
import type { Preset } from "./preset.ts";
import type { DefinitionError, ParameterSchema, PresetDefinition } from "./presetDefinition.ts";
import { PresetBrokenError } from "./presetProblem.ts";
import { parseResultBound, ResultBoundError, type ParameterKind, type ResultBound } from "./resultBound.ts";
import { SourceSyntaxError } from "./sourceSyntaxError.ts";
import { createValueCheck, publishValueSchema } from "./valueSchema.ts";
import { MAX_SOURCE_BYTES } from "../domain/sourceLimit.ts";

/** A valid name for a preset's folder. */
const FOLDER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Longest source on chain, in UTF-8 bytes: it is stored as a contract's code, which EIP-170 limits to 24,576 bytes, within the
 * CBOR head of a request.
 */
const MAX_STORED_BYTES = 24_000;

/**
 * Reads the preset `name` from its folder inside `folder`. Runs none of it: see `checkPreset` for what only a run shows. Throws
 * `PresetBrokenError` with every problem found, each with file, reason and, if known, the place.
 */
export async function loadPreset(folder: string, name: string): Promise<Preset> {
  if (!FOLDER_NAME.test(name)) {
    const reason = "a preset's name begins with a letter and has at most 64 letters, digits, _ and -";
    throw new PresetBrokenError([{ preset: name, file: name, reason }]);
  }
  const files = await readPresetFiles(folder, name);
  const [definition, source] = await Promise.allSettled([
    Promise.resolve().then(() => readDefinition(name, files.definition)),
    readSource(name, files.source),
  ]);
  if (definition.status === "fulfilled" && source.status === "fulfilled") {
    return createPreset(definition.value, source.value);
  }
  const problems = [definition, source].flatMap((part) =>
    part.status === "rejected" ? problemsOf(part.reason) : [],
  );
  throw new PresetBrokenError(problems);
}

interface ReadDefinition {
  readonly definition: PresetDefinition;
  readonly validate: SchemaCheck;
  readonly resultBound: ResultBound;
  readonly positionOf: JsonText["positionOf"];
}

interface ReadSource {
  /** Minified. */
  readonly source: string;
  readonly linked: LinkedSource;
}

function createPreset(
  { definition, validate, resultBound, positionOf }: ReadDefinition,
  { source, linked }: ReadSource,
): Preset {
  return {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    parameters: publishParameterSchema(definition),
    parameterOrder: definition.args,
    returnType: definition.returnType,
    value: publishValueSchema(definition),
    checkValue: createValueCheck(definition),
    examples: definition.examples,
    source,
    sourceHash: keccak256(toBytes(source)),
    sourceBytes: Buffer.byteLength(source),
    resultBound,
    definition,
    validate,
    written: { source: linked.text, preludeLines: linked.preludeLines, positionOf },
  };
}

function readDefinition(name: string, text: string): ReadDefinition {
  const file = `${name}/preset.json`;
  const json = parseDefinitionText(name, text);
  const problemAt = (pointer: string, reason: string): PresetProblem => {
    // The last name, with the places behind it: `args[1]`.
    const [, what = "", places = ""] = /([^/]*?)((?:\/\d+)*)$/.exec(pointer) ?? [];
    return {
      preset: name,
      file,
      ...json.positionOf(pointer),
      reason: what === "" ? reason : `${what}${places.replaceAll(/\/(\d+)/g, "[$1]")}: ${reason}`,
    };
  };
  const definition = json.value as PresetDefinition;
  const errors = findDefinitionErrors(definition, name);
  const areSound = findSoundParts(errors);
  // What depends on a part with an error is not checked: it would be wrong about a value that its author is about to correct.
  const validate = areSound("/parameters", "/args") ? compileParameters(definition, name) : undefined;
  if (validate !== undefined) errors.push(...findValueProblems(definition, validate, areSound));
  const resultBound = areSound("/parameters", "/maxResultBytes") ? readResultBound(definition) : undefined;
  if (resultBound instanceof ResultBoundError) errors.push(describeBoundError(resultBound));
  if (
    errors.length > 0 ||
    validate === undefined ||
    resultBound === undefined ||
    resultBound instanceof ResultBoundError
  )
    throw new PresetBrokenError(
      errors
        .map(({ pointer, reason }) => problemAt(pointer, reason))
        .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)),
    );
  return { definition, validate, resultBound, positionOf: json.positionOf };
}

function readResultBound({ parameters, maxResultBytes }: PresetDefinition): ResultBound | ResultBoundError {
  const kinds = new Map(Object.entries(parameters.properties).map(([key, schema]) => [key, kindOf(schema)]));
  try {
    return parseResultBound(maxResultBytes ?? "32", kinds);
  } catch (error) {
    if (error instanceof ResultBoundError) return error;
    throw error;
  }
}

function describeBoundError({ message, offset }: ResultBoundError): DefinitionError {
  return { pointer: "/maxResultBytes", reason: `${message} (at character ${offset + 1})` };
}

function parseDefinitionText(name: string, text: string): JsonText {
  try {
    return parseJsonText(text, "preset.json");
  } catch (error) {
    if (!(error instanceof MalformedJsonError)) throw error;
    const reason = `not JSON: ${error.problem}`;
    const problem = { preset: name, file: `${name}/preset.json`, ...error.position, reason };
    throw new PresetBrokenError([problem], { cause: error });
  }
}

/** Checks the parameters in a preset's own defaults and examples: they must be ones that it would accept from a caller. */
function* findValueProblems(
  definition: PresetDefinition,
  validate: SchemaCheck,
  areSound: AreSound,
): Generator<DefinitionError> {
  const defaults = Object.entries(definition.parameters.properties).filter(
    ([, schema]) => schema.default !== undefined,
  );
  const given = new Set(defaults.map(([name]) => name));
  for (const { path, message } of validate(
    Object.fromEntries(defaults.map(([name, schema]) => [name, schema.default])),
  )) {
    const name = path.split("/")[1] ?? "";
    if (given.has(name)) yield { pointer: `/parameters/properties/${name}/default`, reason: message };
  }
  for (const list of ["examples", "distributions"] as const) {
    const entries: unknown = definition[list] ?? [];
    if (!Array.isArray(entries)) continue;
    for (const [index, entry] of (entries as NonNullable<PresetDefinition[typeof list]>).entries()) {
      const pointer = `/${list}/${index}/params`;
      if (!areSound(pointer)) continue;
      for (const { path, message } of validate({ ...entry.params }))
        yield { pointer: pointer + path, reason: message };
    }
  }
}

function kindOf(schema: ParameterSchema): ParameterKind {
  return schema.decimal === undefined ? (schema.type ?? "string") : "decimal";
}

async function readSource(name: string, text: string): Promise<ReadSource> {
  try {
    const linked = linkSource(text);
    const source = await minifySource(linked);
    const bytes = Buffer.byteLength(source);
    if (bytes <= MAX_STORED_BYTES) return { source, linked };
    throw new SourceSyntaxError(
      `takes ${bytes} bytes without comments and blanks; at most ${MAX_STORED_BYTES} can be stored`,
    );
  } catch (error) {
    if (!(error instanceof SourceSyntaxError)) throw error;
    const { line, column, message: reason } = error;
    const position = line === undefined || column === undefined ? {} : { line, column };
    throw new PresetBrokenError([{ preset: name, file: `${name}/source.js`, ...position, reason }], {
      cause: error,
    });
  }
}

function problemsOf(error: unknown): readonly PresetProblem[] {
  if (error instanceof PresetBrokenError) return error.details;
  throw error;
}

/** Largest `preset.json`, in bytes: hundreds of examples fit. */
const MAX_DEFINITION_BYTES = 65_536;
/** The two files of a preset as text. */
interface PresetFiles {
  readonly definition: string;
  readonly source: string;
}

/**
 * Reads the files of the preset `name` in `folder`. Whoever made the folder is not trusted: links, pipes and devices are not
 * followed or opened, nothing past a file's size limit is read, and anything but UTF-8 is refused. Throws
 * `PresetBrokenError`.
 */
async function readPresetFiles(folder: string, name: string): Promise<PresetFiles> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(path.join(folder, name), flags).catch((error: NodeJS.ErrnoException) => {
    throw broken(name, name, "is not a folder", error);
  });
  // On Linux, files are read relative to the open folder: its name may have become a link elsewhere by the time they are
  // opened.
  const opened = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path.join(folder, name);
  const results = await Promise.allSettled([
    readText(opened, name, { file: "preset.json", maxBytes: MAX_DEFINITION_BYTES }),
    readText(opened, name, { file: "source.js", maxBytes: MAX_SOURCE_BYTES }),
  ]);
  await handle.close();
  const problems = results.flatMap((result) =>
    result.status === "rejected" ? problemsOf(result.reason) : [],
  );
  if (problems.length > 0) throw new PresetBrokenError(problems);
  const [definition, source] = results.map((result) => (result.status === "fulfilled" ? result.value : ""));
  return { definition: definition as string, source: source as string };
}

async function readText(
  folder: string,
  name: string,
  { file, maxBytes }: { readonly file: string; readonly maxBytes: number },
): Promise<string> {
  const shown = `${name}/${file}`;
  // O_NONBLOCK: otherwise opening a pipe would wait for its writer. O_NOFOLLOW: a link could lead to any file of the host.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path.join(folder, file), flags).catch((error: NodeJS.ErrnoException) => {
    throw broken(name, shown, explainOpen(error), error);
  });
  try {
    if (!(await handle.stat()).isFile()) throw broken(name, shown, "is not a regular file");
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) throw broken(name, shown, `is larger than ${maxBytes} bytes`);
    return decode(buffer.subarray(0, length));
  } catch (error) {
    if (error instanceof PresetBrokenError) throw error;
    throw broken(name, shown, error instanceof TypeError ? "is not UTF-8 text" : "can't be read", error);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function explainOpen(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "is missing";
  if (error.code === "ELOOP" || error.code === "EMLINK")
    return "is a symbolic link; only regular files are read";
  return `can't be opened (${error.code ?? "unknown"})`;
}

function broken(preset: string, file: string, reason: string, cause?: unknown): PresetBrokenError {
  return new PresetBrokenError([{ preset, file, reason }], { cause });
}
