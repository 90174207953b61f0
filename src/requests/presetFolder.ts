import { statSync } from "node:fs";
import path from "node:path";

export { formatPresetProblem, type PresetProblem } from "../presets/presetProblem.ts";

/** The presets that come with Tyche. */
export const DEFAULT_PRESETS_FOLDER = path.resolve(import.meta.dirname, "../../plugins");

/** Presets of one's own: `plugins` in the working directory, which in a checkout is the one above. */
export const OWN_PRESETS_FOLDER = path.resolve("plugins");

/**
 * Folders of presets that a service reads where its configuration names none: those that come with Tyche, and one's own beside them,
 * which need not be there yet.
 */
export function listPresetFolders(): readonly [string, ...string[]] {
  return OWN_PRESETS_FOLDER === DEFAULT_PRESETS_FOLDER
    ? [DEFAULT_PRESETS_FOLDER]
    : [DEFAULT_PRESETS_FOLDER, OWN_PRESETS_FOLDER];
}

/** Those of {@link listPresetFolders} that are there. */
export function findPresetFolders(): readonly string[] {
  return listPresetFolders().filter(isFolder);
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
