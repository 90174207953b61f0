import type { PresetProblem } from "../api/types.ts";
import type { SchemaCheck } from "../lib/schemaCheck.ts";
import { keccak256, toBytes } from "viem";
import { findDefinitionErrors, findSoundParts, type AreSound } from "./definitionErrors.ts";
import { MalformedJsonError, parseJsonText, type JsonText } from "../lib/parseJson.ts";
import { type LinkedSource, linkSource } from "./linkSource.ts";
import { minifySource } from "./minifySource.ts";
import { compileParameters, publishParameterSchema } from "./parameterSchema.ts";
import type { Preset } from "./preset.ts";
import type { DefinitionError, ParameterSchema, PresetDefinition } from "./presetDefinition.ts";
import { readPresetFiles } from "./presetFiles.ts";
import { PresetBrokenError } from "./presetProblem.ts";
import { parseResultBound, ResultBoundError, type ParameterKind, type ResultBound } from "./resultBound.ts";
import { SourceSyntaxError } from "./sourceSyntaxError.ts";
import { createValueCheck, publishValueSchema } from "./valueSchema.ts";

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
    const what = pointer.slice(pointer.lastIndexOf("/") + 1);
    return {
      preset: name,
      file,
      ...json.positionOf(pointer),
      reason: what === "" ? reason : `${what}: ${reason}`,
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
    throw new PresetBrokenError(errors.map(({ pointer, reason }) => problemAt(pointer, reason)));
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
