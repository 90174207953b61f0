import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { describeSchemaError } from "../lib/schemaErrors.ts";
import { findMismatches } from "./definitionMismatches.ts";
import { definitionSchema } from "./definitionSchema.ts";
import type { DefinitionError, PresetDefinition } from "./presetDefinition.ts";

/** Most errors listed for one file. */
const MAX_ERRORS = 20;

const validate = new Ajv2020({ allErrors: true, strict: true, verbose: true, allowUnionTypes: true }).compile(
  definitionSchema,
);

/**
 * Checks the shape of a `preset.json` and that its parts fit together. If the result is empty, the value is a
 * {@link PresetDefinition}.
 */
export function findDefinitionErrors(value: unknown, folderName: string): DefinitionError[] {
  if (!validate(value)) return (validate.errors ?? []).slice(0, MAX_ERRORS).map(describe);
  return [...findMismatches(value as unknown as PresetDefinition, folderName)];
}

function describe(error: ErrorObject): DefinitionError {
  const { path, message } = describeSchemaError(error, "is not a member that is known here");
  return { pointer: path, reason: message };
}
