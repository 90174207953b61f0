import type { PresetProblem } from "../api/types.ts";
import type { Preset } from "./preset.ts";
import {
  createPresetRegistry,
  type PresetRegistry,
  type PresetRegistryOptions,
  UncheckedPresetError,
  UnknownPresetError,
} from "./presetRegistry.ts";

export interface LayeredRegistryOptions extends Omit<PresetRegistryOptions, "folder" | "mayBeMissing"> {
  /**
   * Paths of preset folders. If two presets have the same name, the one in the earlier folder is served. The first folder must
   * exist; the others are followed once they are created.
   */
  readonly folders: readonly string[];
}

/**
 * Follows several preset folders as one. A preset whose name is live in an earlier folder is not served, and `problems` says so; it is
 * served once the earlier one is removed or breaks. Throws like {@link createPresetRegistry}.
 */
export async function createLayeredRegistry(options: LayeredRegistryOptions): Promise<PresetRegistry> {
  const { folders, onChange, ...shared } = options;
  const layers: PresetRegistry[] = [];
  const isHidden = (name: string, index: number): boolean =>
    layers.slice(0, index).some((layer) => layer.find(name) !== undefined);
  const close = async (): Promise<void> => {
    await Promise.all(layers.map((layer) => layer.close()));
  };
  try {
    for (const [index, folder] of folders.entries()) {
      layers.push(
        await createPresetRegistry({
          ...shared,
          folder,
          mayBeMissing: index > 0,
          onChange(change) {
            const name = change.kind === "live" ? change.preset.name : change.name;
            if (isHidden(name, index)) return;
            onChange?.(change);
            // The preset hidden behind a removed or broken one is served from here on.
            if (change.kind === "live") return;
            const next = layers.slice(index + 1).flatMap((layer) => layer.find(name) ?? [])[0];
            if (next !== undefined) onChange?.({ kind: "live", preset: next });
          },
        }),
      );
    }
  } catch (error) {
    await close();
    throw error;
  }
  const [first] = layers;
  if (first !== undefined && layers.length === 1) return first;
  return combine(layers, isHidden, close);
}

function combine(
  layers: readonly PresetRegistry[],
  isHidden: (name: string, index: number) => boolean,
  close: () => Promise<void>,
): PresetRegistry {
  let lists: readonly (readonly Preset[])[] = [];
  let combined: readonly Preset[] = [];
  const find = (name: string): Preset | undefined => layers.flatMap((layer) => layer.find(name) ?? [])[0];
  const isUnchecked = (name: string): boolean => layers.some((layer) => layer.isUnchecked(name));
  return {
    list() {
      const current = layers.map((layer) => layer.list());
      if (current.some((list, index) => list !== lists[index])) {
        lists = current;
        combined = current
          .flatMap((list, index) => list.filter(({ name }) => !isHidden(name, index)))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      }
      return combined;
    },
    find,
    isUnchecked,
    get(name) {
      const preset = find(name);
      if (preset !== undefined) return preset;
      if (isUnchecked(name)) throw new UncheckedPresetError(name);
      const found = layers.flatMap((layer) => layer.problems().filter((problem) => problem.preset === name));
      const problems = found.length === 0 ? undefined : found;
      const names = [...new Set(layers.flatMap((layer) => layer.list().map((live) => live.name)))];
      throw new UnknownPresetError(name, { names, problems });
    },
    problems: () =>
      layers.flatMap((layer, index) => [
        ...layer.problems(),
        ...layer
          .list()
          .filter(({ name }) => isHidden(name, index))
          .map(({ name }): PresetProblem => ({ preset: name, file: name, reason: HIDDEN })),
      ]),
    close,
  };
}

const HIDDEN = "has the same name as another preset, which is served instead; rename the folder";
