import { compileSchema } from "../lib/schemaCheck.ts";
import { findMismatches } from "./definitionMismatches.ts";
import { definitionSchema } from "./definitionSchema.ts";
import type { DefinitionError, PresetDefinition } from "./presetDefinition.ts";
import { findSoundParts } from "./soundParts.ts";

const check = compileSchema(definitionSchema, {
  describeUnknown: () => "is not a member that is known here",
});

/**
 * Checks the shape of a `preset.json` and that its parts fit together, as far as they have the right shape. If the result is empty, the
 * value is a {@link PresetDefinition}.
 */
export function findDefinitionErrors(value: unknown, folderName: string): DefinitionError[] {
  const errors = check(value).map(({ path, message }) => ({ pointer: path, reason: message }));
  const mismatches = findMismatches(value as PresetDefinition, folderName, findSoundParts(errors));
  return [...errors, ...mismatches];
}
