import type { PresetProblem } from "../../api/types.ts";
import { readdir } from "node:fs/promises";
import { createSandboxPool } from "../../../sandbox/index.ts";
import { checkDistributions, type DistributionOptions } from "../../presets/checkDistributions.ts";
import { checkExamples, checkWords } from "../../presets/checkPreset.ts";
import { loadPreset } from "../../presets/loadPreset.ts";
import type { Preset, RunSource } from "../../presets/preset.ts";
import { PresetBrokenError } from "../../presets/presetProblem.ts";

export { writeNewPreset } from "../../presets/newPreset.ts";
export type { Preset } from "../../presets/preset.ts";

/** The findings about one preset's folder. */
export interface PresetReport {
  readonly name: string;
  /** Absent if its files can't be used. */
  readonly preset?: Preset;
  /** Empty if nothing is wrong. */
  readonly problems: readonly PresetProblem[];
}

/** Reads every preset in a folder, or the named ones, without running anything. Throws what reading the folder throws. */
export async function readPresetFolder(folder: string, names?: readonly string[]): Promise<PresetReport[]> {
  const wanted = names ?? (await listNames(folder));
  return Promise.all(wanted.map((name) => readPreset(folder, name)));
}

/**
 * Reads the presets, then runs the examples, extreme words and declared distributions of each in the sandbox, as the contract
 * tests do. `onReport` is called as each preset is done.
 */
export async function checkPresets(
  folder: string,
  options: Omit<DistributionOptions, "onDraws"> & {
    /** Called with the progress of a preset's draws. */
    readonly onDraws?: (name: string, done: number, total: number) => void;
    readonly names?: readonly string[];
    readonly onReport?: (report: PresetReport) => void;
  } = {},
): Promise<PresetReport[]> {
  const reports = await readPresetFolder(folder, options.names);
  const pool = createSandboxPool({});
  const { onDraws, ...common } = options;
  const drawsOf = (name: string): DistributionOptions => ({
    ...common,
    ...(onDraws === undefined ? {} : { onDraws: (done, total) => onDraws(name, done, total) }),
  });
  try {
    const checked: PresetReport[] = [];
    for (const report of reports) {
      const { name, preset } = report;
      const done =
        preset === undefined
          ? report
          : { name, preset, problems: await check(preset, pool.run, drawsOf(name)) };
      options.onReport?.(done);
      checked.push(done);
    }
    return checked;
  } finally {
    await pool.close();
  }
}

async function check(preset: Preset, run: RunSource, options: DistributionOptions): Promise<PresetProblem[]> {
  const problems = [...(await checkExamples(preset, run)), ...(await checkWords(preset, run))];
  // A source that fails its examples fails its draws too: once is enough.
  return problems.length > 0 ? problems : checkDistributions(preset, run, options);
}

async function listNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => entry.name)
    .sort();
}

async function readPreset(folder: string, name: string): Promise<PresetReport> {
  try {
    return { name, preset: await loadPreset(folder, name), problems: [] };
  } catch (error) {
    if (error instanceof PresetBrokenError) return { name, problems: error.details };
    throw error;
  }
}
