import { statSync } from "node:fs";
import path from "node:path";

export { formatPresetProblem, type PresetProblem } from "../presets/presetProblem.ts";

/** The presets that come with Tyche. */
export const DEFAULT_PRESETS_FOLDER = path.resolve(import.meta.dirname, "../../plugins");

/** Presets of one's own: `plugins` in the working directory, which in a checkout is the one above. */
export const OWN_PRESETS_FOLDER = path.resolve("plugins");

/** Folders of presets that a service reads where its configuration names none: own presets, if any, beside those that come with Tyche. */
export function listPresetFolders(): readonly string[] {
  const isOwn = OWN_PRESETS_FOLDER !== DEFAULT_PRESETS_FOLDER && isFolder(OWN_PRESETS_FOLDER);
  return [DEFAULT_PRESETS_FOLDER, ...(isOwn ? [OWN_PRESETS_FOLDER] : [])];
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
