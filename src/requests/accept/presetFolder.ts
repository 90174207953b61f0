import { statSync } from "node:fs";
import path from "node:path";

/** Folder of the presets that come with Tyche. */
export const DEFAULT_PRESETS_FOLDER = path.resolve(import.meta.dirname, "../../../plugins");

/** Folder of the operator's own presets: `plugins` in the working directory. In a checkout, it is the same as the folder above. */
export const OWN_PRESETS_FOLDER = path.resolve(findWorkingDirectory(), "plugins");

/**
 * Lists the preset folders that a service reads if its configuration names none: the one that comes with Tyche and the
 * operator's own, which need not exist yet.
 */
export function listPresetFolders(): readonly [string, ...string[]] {
  return OWN_PRESETS_FOLDER === DEFAULT_PRESETS_FOLDER
    ? [DEFAULT_PRESETS_FOLDER]
    : [DEFAULT_PRESETS_FOLDER, OWN_PRESETS_FOLDER];
}

/** Returns those of {@link listPresetFolders} that exist. */
export function findPresetFolders(): readonly string[] {
  return listPresetFolders().filter(isFolder);
}

function isFolder(folder: string): boolean {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    // The user may not look into the working directory, as with runuser in /root.
    if ((error as NodeJS.ErrnoException).code === "EACCES") return false;
    throw error;
  }
}

/** The working directory may have been removed: then this is where it was. */
function findWorkingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return process.env["PWD"] ?? "/";
  }
}
