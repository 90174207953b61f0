import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { findMismatches } from "./definitionMismatches.ts";
import { definitionSchema } from "./definitionSchema.ts";
import { escapePointer } from "./jsonText.ts";
import type { DefinitionError, PresetDefinition } from "./presetDefinition.ts";

/** Most errors that are listed for one file. */
const MAX_ERRORS = 20;

const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
  definitionSchema,
);

/** Checks the shape of a `preset.json`, and that its parts fit together. An empty answer means: it is a {@link PresetDefinition}. */
export function findDefinitionErrors(value: unknown, folderName: string): DefinitionError[] {
  if (!validate(value)) return (validate.errors ?? []).slice(0, MAX_ERRORS).map(describe);
  return [...findMismatches(value as unknown as PresetDefinition, folderName)];
}

function describe(error: ErrorObject): DefinitionError {
  const { instancePath: pointer, keyword, params } = error;
  if (keyword === "additionalProperties") {
    const member = String(params["additionalProperty"]);
    return { pointer: `${pointer}/${escapePointer(member)}`, reason: "is not a member that is known here" };
  }
  if (keyword === "required")
    return { pointer, reason: `has no member ${quote(String(params["missingProperty"]))}` };
  if (keyword === "enum") return { pointer, reason: `must be one of ${params["allowedValues"].join(", ")}` };
  if (keyword === "const") return { pointer, reason: `must be ${quote(params["allowedValue"])}` };
  if (keyword === "propertyNames") {
    return {
      pointer: `${pointer}/${escapePointer(String(params["propertyName"]))}`,
      reason: "is not fit as a name",
    };
  }
  return { pointer, reason: error.message ?? keyword };
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}
