import path from "node:path";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import type { PresetProblem } from "../../api/types.ts";
import { createSandboxPool } from "../../../sandbox/index.ts";
import {
  checkDistributions,
  DEFAULT_DRAWS,
  type DistributionOptions,
} from "../../presets/checkDistributions.ts";
import { checkExamples, checkWords, EXTREME_WORDS } from "../../presets/checkPreset.ts";
import { loadPreset } from "../../presets/loadPreset.ts";
import type { Preset, RunSource } from "../../presets/preset.ts";
import { PresetBrokenError } from "../../presets/presetProblem.ts";
import { TycheError } from "../../lib/errors.ts";
import { makeFolder } from "../../lib/makeFolder.ts";

/** The findings about one preset's folder. */
export interface PresetReport {
  readonly name: string;
  /** Absent if its files can't be used. */
  readonly preset?: Preset;
  /** Empty if nothing is wrong. */
  readonly problems: readonly PresetProblem[];
  /** What was run, if all of it went well. */
  readonly ran?: RunChecks;
}

/** How often a preset was run to check it. */
export interface RunChecks {
  readonly examples: number;
  /** Runs of the examples with the words that are most likely to break a source. */
  readonly extremeWords: number;
  readonly distributions: number;
  /** Words of all distributions. */
  readonly draws: number;
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
        preset === undefined ? report : { name, preset, ...(await check(preset, pool.run, drawsOf(name))) };
      options.onReport?.(done);
      checked.push(done);
    }
    return checked;
  } finally {
    await pool.close();
  }
}

async function check(
  preset: Preset,
  run: RunSource,
  options: DistributionOptions,
): Promise<Pick<PresetReport, "problems" | "ran">> {
  // A source that fails its examples fails with other words too: once is enough.
  let problems = await checkExamples(preset, run);
  if (problems.length === 0) problems = await checkWords(preset, run);
  if (problems.length === 0) problems = await checkDistributions(preset, run, options);
  if (problems.length > 0) return { problems };
  const { draws = DEFAULT_DRAWS } = options;
  const { length: examples } = preset.examples;
  const { length: distributions } = preset.definition.distributions ?? [];
  const extremeWords = examples * EXTREME_WORDS.length;
  return { problems, ran: { examples, extremeWords, distributions, draws: draws * distributions } };
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

/** A starting point: it works, and has one of everything that an author is likely to change. */
const SOURCE = `// bytesArgs[0] is the random word: "0x" and 64 hex digits. args are the parameters, in the order of "args" in preset.json.
// 2^256 words do not split evenly among 3 options, but the difference, below 2^-240, is far too small ever to be measured.
const options = JSON.parse(args[0]);
const index = BigInt(bytesArgs[0]) % BigInt(options.length);
return Functions.encodeString(options[Number(index)]);
`;

/**
 * Writes the folder of a new preset that works as it is: it picks one of a list of options. Returns the paths of its two
 * files. Throws `preset_exists` if something with that name already exists.
 */
export async function writeNewPreset(folder: string, name: string): Promise<readonly string[]> {
  const presetFolder = path.join(folder, name);
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new TycheError(
      `${JSON.stringify(name)} can't be a preset's name: it begins with a letter and has at most 64 letters, digits, _ and -`,
      { code: "preset_name_invalid", blame: "caller" },
    );
  makeFolder(folder);
  await mkdir(presetFolder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST"
      ? new TycheError(
          `the folder already has a preset ${JSON.stringify(name)}: choose another name, or remove it first`,
          { code: "preset_exists", blame: "caller" },
        )
      : error;
  });
  const files = [path.join(presetFolder, "source.js"), path.join(presetFolder, "preset.json")] as const;
  await writeFile(files[0], SOURCE);
  await writeFile(files[1], formatDefinition(createDefinition(name)));
  return files;
}

/** Writes JSON as formatters do: a list of texts takes one line. */
function formatDefinition(definition: object): string {
  const listOfTexts = /\[\s+("[^[\]{}]*")\s+\]/g;
  const text = JSON.stringify(definition, null, 2);
  return `${text.replaceAll(listOfTexts, (_, texts: string) => `[${texts.replaceAll(/,\s+/g, ", ")}]`)}\n`;
}

function createDefinition(name: string): object {
  const options = ["red", "green", "blue"];
  return {
    name,
    title: "Pick one",
    description: "Picks one of the options, each with the same probability.",
    parameters: {
      type: "object",
      properties: {
        options: {
          description: "What can be picked.",
          type: "array",
          items: { type: "string" },
          minItems: 1,
        },
      },
      required: ["options"],
    },
    args: ["options"],
    returnType: "string",
    maxResultBytes: "longest(options, 1)",
    value: { type: "string" },
    examples: [
      { params: { options }, word: `0x${"0".repeat(64)}`, parsedResult: "red" },
      { params: { options }, word: `0x${"0".repeat(63)}5`, parsedResult: "blue" },
      { params: { options: ["left", "right"] }, word: `0x${"0".repeat(63)}1`, parsedResult: "right" },
    ],
    distributions: [{ params: { options }, outcomes: { red: 1, green: 1, blue: 1 } }],
  };
}
