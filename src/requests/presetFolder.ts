import path from "node:path";

export { formatPresetProblem, type PresetProblem } from "../presets/presetProblem.ts";

/** The presets that come with Tyche. */
export const DEFAULT_PRESETS_FOLDER = path.resolve(import.meta.dirname, "../../plugins");
