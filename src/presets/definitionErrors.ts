import { compileSchema } from "../lib/schemaCheck.ts";
import { findMismatches } from "./definitionMismatches.ts";
import { definitionSchema } from "./definitionSchema.ts";
import type { DefinitionError, PresetDefinition } from "./presetDefinition.ts";

const check = compileSchema(definitionSchema, {
  describeUnknown: () => "is not a member that is known here",
});

/**
 * Checks the shape of a `preset.json` and that its parts fit together. If the result is empty, the value is a
 * {@link PresetDefinition}.
 */
export function findDefinitionErrors(value: unknown, folderName: string): DefinitionError[] {
  const violations = check(value);
  if (violations.length > 0)
    return violations.map(({ path, message }) => ({ pointer: path, reason: message }));
  return [...findMismatches(value as PresetDefinition, folderName)];
}
