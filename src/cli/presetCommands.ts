import path from "node:path";
import type { Command } from "commander";
import { findPresetFolders, OWN_PRESETS_FOLDER } from "../requests/accept/presetFolder.ts";
import type { Preset } from "../presets/preset.ts";
import type { PresetReport, RunChecks } from "../app/tools/presetTools.ts";
import { countOf } from "../lib/countOf.ts";
import { wholeNumber } from "./parseNumber.ts";
import { createProgress } from "./progress.ts";
import { type Terminal, withoutControls } from "./terminal.ts";
import { formatPresetProblem } from "../presets/presetProblem.ts";

interface FolderFlags {
  readonly folder: string;
  readonly json?: true;
}

const CHECK_NOTE = `
Exit code: 0 when nothing is wrong, 1 otherwise.`;

const parseCount = wholeNumber(0, 2 ** 32 - 1);

/** Adds `tyche preset list`, `check` and `new`. */
export function registerPreset(program: Command, terminal: Terminal): void {
  const preset = program.command("preset").description("Lists, checks and creates presets.");

  preset
    .command("list")
    .description(
      "Lists the presets that a service started here would serve, and what is wrong with the others. Runs nothing.",
    )
    .option("--folder <path>", "list only the presets in this folder")
    .option("--json", "print JSON")
    .action(async ({ folder, json }: Partial<FolderFlags>) => {
      const { readPresetFolder } = await loadTools();
      const folders = folder === undefined ? findPresetFolders() : [folder];
      const reports = (await Promise.all(folders.map((each) => readPresetFolder(each)))).flat();
      if (json) terminal.out(JSON.stringify(reports.map(toJson), null, 2));
      else for (const report of reports) printListed(report, terminal);
    });

  withFolder(preset.command("check"))
    .description(
      "Checks presets as Tyche's own tests do (files, examples, extreme words, size and distribution of results), and shows the source that goes on chain.",
    )
    .argument("[names...]", "presets to check; default: all in the folder")
    .option("--draws <number>", "words for each distribution (default: 300000)", parseCount)
    .option("--seed <number>", "seed of the words: 0 to 4294967295 (default: 1)", parseCount)
    .addHelpText("after", CHECK_NOTE)
    .action(
      async (names: string[], flags: FolderFlags & { readonly draws?: number; readonly seed?: number }) => {
        const { folder, json, draws, seed } = flags;
        const { checkPresets } = await loadTools();
        const progress = createProgress(terminal);
        const reports = await checkPresets(folder, {
          onDraws: (name, done, total) =>
            progress.show(`${name}: ${formatCount(done)} of ${formatCount(total)} draws`),
          ...(names.length === 0 ? {} : { names }),
          ...(draws === undefined ? {} : { draws }),
          ...(seed === undefined ? {} : { seed }),
          ...(json
            ? {}
            : {
                onReport(report: PresetReport) {
                  progress.clear();
                  printChecked(report, terminal);
                },
              }),
        });
        progress.clear();
        const failed = reports.filter(({ problems }) => problems.length > 0).length;
        if (json) terminal.out(JSON.stringify(reports.map(toJson), null, 2));
        else if (reports.length !== 1)
          terminal.out(
            `${reports.length - failed} of ${countOf(reports.length, "preset")} in ${folder} are ok`,
          );
        if (failed > 0) process.exitCode = 1;
      },
    );

  withFolder(preset.command("new"), OWN_PRESETS_FOLDER)
    .description("Creates the folder of a new, working preset.")
    .argument("<name>", "its name: a letter, then letters, digits, _ and -")
    .action(async (name: string, { folder, json }: FolderFlags) => {
      const { writeNewPreset } = await loadTools();
      const files = (await writeNewPreset(folder, name)).map((file) => path.relative("", file));
      if (json) return terminal.out(JSON.stringify({ name, files }));
      terminal.out(files.join("\n"));
      terminal.err(
        terminal.colors.dim(
          `Next: npx tyche preset check ${name}. A service started in this folder serves it already.`,
        ),
      );
    });
}

function formatCount(count: number): string {
  return count.toLocaleString("en");
}

/**
 * Loads the commands' implementation, and with it the sandbox, on demand: no other command has to wait for
 * it.
 */
function loadTools() {
  return import("../app/tools/presetTools.ts");
}

function withFolder(command: Command, folder = findPresetFolders().at(-1)): Command {
  return command
    .option("--folder <path>", "folder that holds a folder for each preset", folder)
    .option("--json", "print JSON");
}

function toJson({ name, preset, problems, ran }: PresetReport): object {
  if (preset === undefined) return { name, problems };
  const { title, description, parameters, parameterOrder, returnType, source, sourceHash, sourceBytes } =
    preset;
  const { maxResultBytes } = preset.definition;
  return {
    name,
    title,
    description,
    parameters,
    parameterOrder,
    returnType,
    maxResultBytes: maxResultBytes ?? "32",
    source,
    sourceHash,
    sourceBytes,
    problems,
    ...(ran === undefined ? {} : { ran }),
  };
}

function printListed({ name, preset, problems }: PresetReport, { colors, out, err }: Terminal): void {
  for (const problem of problems)
    err(`${colors.red("broken:")} ${withoutControls(formatPresetProblem(problem))}`);
  if (preset === undefined) return;
  out(`${colors.bold(name)}  ${withoutControls(preset.title)}`);
  out(`  ${withoutControls(preset.description)}`);
  out(`  ${describeParameters(preset)} → ${preset.returnType}, ${preset.sourceBytes} bytes on chain`);
}

function describeParameters({ parameterOrder, definition }: Preset): string {
  const described = parameterOrder.map((name) => {
    const value = definition.parameters.properties[name]?.default;
    return value === undefined
      ? name
      : `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return withoutControls(`(${described.join(", ")})`);
}

function describeRuns({ examples, extremeWords, distributions, draws }: RunChecks): string {
  const spread =
    distributions === 0
      ? "no distribution"
      : `${formatCount(draws)} draws for ${countOf(distributions, "distribution")}`;
  return `${countOf(examples, "example")}, ${countOf(extremeWords, "run")} with extreme words, ${spread}`;
}

function printChecked({ name, preset, problems, ran }: PresetReport, { colors, out, err }: Terminal): void {
  if (preset !== undefined && ran !== undefined) {
    out(`${colors.green("ok")}      ${name}: ${describeRuns(ran)}, ${preset.sourceBytes} bytes on chain:`);
    out(colors.dim(withoutControls(preset.source).replaceAll(/^/gm, "        ")));
    return;
  }
  err(`${colors.red("failed")}  ${withoutControls(name)}`);
  for (const problem of problems) err(`        ${withoutControls(formatPresetProblem(problem))}`);
}
