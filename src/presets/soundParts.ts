import type { DefinitionError } from "./presetDefinition.ts";

/** Whether all values at these JSON Pointers are free of errors: those in them, and those of what holds them. */
export type AreSound = (...pointers: readonly string[]) => boolean;

/** Tells which parts of a `preset.json` are free of these errors, so that what depends on these alone can still be checked. */
export function findSoundParts(errors: readonly DefinitionError[]): AreSound {
  const isIn = (pointer: string, holder: string): boolean => `${pointer}/`.startsWith(`${holder}/`);
  return (...pointers) =>
    !errors.some((error) =>
      pointers.some((pointer) => isIn(pointer, error.pointer) || isIn(error.pointer, pointer)),
    );
}
