import type { Hex } from "viem";
import { readdir } from "node:fs/promises";
import { loadPreset } from "./loadPreset.ts";
import type { Preset } from "./preset.ts";

/** What people call a preset and its arguments. */
export interface PresetNames {
  readonly name: string;
  /** In the order of the arguments. */
  readonly parameters: readonly string[];
}

/** Returns the names for a source; `undefined` if none of the presets has it. */
export function findPresetNames(
  presets: readonly Pick<Preset, "name" | "parameterOrder" | "sourceHash">[],
  sourceHash: Hex,
): PresetNames | undefined {
  const found = presets.find((preset) => preset.sourceHash === sourceHash);
  return found && { name: found.name, parameters: found.parameterOrder };
}

/** Reads the presets of folders as they are now, without those that can't be served. */
export async function loadPresets(folders: readonly string[]): Promise<readonly Preset[]> {
  const loaded = folders.map(async (folder) => {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith("."));
    return await Promise.allSettled(names.map(({ name }) => loadPreset(folder, name)));
  });
  return (await Promise.all(loaded)).flat().flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}
