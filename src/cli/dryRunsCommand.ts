import { Option, type Command } from "commander";
import type { DryRunView } from "../client/index.ts";
import { cut } from "../lib/cut.ts";
import { DRY_RUN_KINDS } from "../domain/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { printConsole, printMeasures, printPlace, printWarnings } from "./outcome.ts";
import { listPages } from "./pagedCommand.ts";
import { oneLine, withoutControls, type Terminal } from "./terminal.ts";
import { describeReasons } from "../text/failure.ts";

interface ListFlags {
  readonly network?: string;
  readonly kind?: DryRunView["kind"];
}

/** Longest title and result to show in a line, in characters. */
const MAX_TITLE = 30;
const MAX_SHOWN = 100;

/** Adds `tyche dry-runs list` and `show`. */
export function registerDryRuns(program: Command, terminal: Terminal): void {
  const dryRuns = program
    .command("dry-runs")
    .description("Shows dry runs, and calls refused because their dry run failed.");

  const list = withService(dryRuns.command("list", { isDefault: true }))
    .description("Lists them, newest first.")
    .option("--network <name>", "only those for this network")
    .addOption(
      new Option("--kind <kind>", "only dry runs, or only refused calls of one kind").choices(DRY_RUN_KINDS),
    )
    .option("--json", "print JSON");
  listPages(list, terminal, {
    read: (client, page, { network, kind }: ListFlags) => client.dryRuns({ ...page, network, kind }),
    describe: (run) => describeRun(run, terminal),
    none: "no dry runs",
  });

  withService(dryRuns.command("show"))
    .description(
      "Shows what came of one and, of a refused call, what it asked for and where its source failed.",
    )
    .argument("<id>", "its identifier")
    .option("--json", "print JSON")
    .action(async (id: string, flags: ServiceFlags & { readonly json?: true }) => {
      const { client } = await connectService(flags);
      const run = await client.dryRun(id);
      if (flags.json) return terminal.out(JSON.stringify(run, null, 2));
      const source =
        run.kind === "preset"
          ? (await client.presets()).find(({ name }) => name === run.title)?.source
          : run.params?.["source"];
      printRun(run, { source, terminal });
    });
}

function describeRun(run: DryRunView, { colors }: Terminal): string {
  const { id, at, network, success, title, parsedResult, withheld } = run;
  const what = stateOf(run).padEnd(16);
  const state = success ? colors.green(what) : colors.red(what);
  const result = withheld ? "not kept: it showed a secret" : parsedResult;
  const shown = cut(oneLine(success ? result : describeReasons(run)), MAX_SHOWN);
  return `${id}  ${at.slice(0, 19)}  ${(network ?? "any").padEnd(14)}  ${state}  ${cut(oneLine(title), MAX_TITLE).padEnd(MAX_TITLE)}  ${shown}`;
}

function stateOf({ kind, success }: DryRunView): string {
  return kind === "dry-run" ? (success ? "ran" : "failed") : `${kind} refused`;
}

/** Prints a run: what it asked for, what came of it, and the lines of the source around the one that failed, if that is known. */
function printRun(
  run: DryRunView,
  { source, terminal }: { readonly source: unknown; readonly terminal: Terminal },
): void {
  const { out, colors } = terminal;
  const { id, at, network, title, success, parsedResult, withheld, line, column, params = {} } = run;
  const own = Object.entries(params).filter(([name]) => name !== "source");
  const state = success ? colors.green(stateOf(run)) : colors.red(stateOf(run));
  out(`${colors.bold(id)}  ${at}  on ${network ?? "any network"}: ${state}`);
  out(`  source  ${oneLine(title)}`);
  if (own.length > 0) out(`  params  ${withoutControls(JSON.stringify(Object.fromEntries(own)))}`);
  printConsole(run.console, terminal);
  if (success) out(withheld ? "not kept: it showed a secret" : withoutControls(parsedResult));
  else out(`${colors.red("failed:")} ${withoutControls(describeReasons(run))}`);
  if (typeof source === "string") printPlace(source, { line, column }, { err: out });
  printWarnings(run.warnings, { err: out, colors });
  printMeasures(run, terminal);
}
