import { Option, type Command } from "commander";
import type { DryRunParams, DryRunView } from "../client/index.ts";
import { cut } from "../lib/cut.ts";
import { DRY_RUN_KINDS } from "../lib/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { nextPage } from "./nextPage.ts";
import { parseLimit } from "./pagedCommand.ts";
import { oneLine, type Terminal } from "./terminal.ts";

interface Flags extends ServiceFlags {
  readonly network?: string;
  readonly kind?: DryRunView["kind"];
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: true;
}

/** Longest title and result to show in a line, in characters. */
const MAX_TITLE = 30;
const MAX_SHOWN = 60;

/** Adds `tyche dry-runs`. */
export function registerDryRuns(program: Command, terminal: Terminal): void {
  withService(program.command("dry-runs"))
    .description("Lists dry runs, and calls refused because their dry run failed, newest first.")
    .option("--network <name>", "only those for this network")
    .addOption(
      new Option("--kind <kind>", "only dry runs, or only refused calls of one kind").choices(DRY_RUN_KINDS),
    )
    .option("--limit <number>", "most to list: 1 to 100", parseLimit, 20)
    .option("--cursor <cursor>", "cursor printed with the previous page")
    .option("--json", "print JSON")
    .action(async (flags: Flags, command: Command) => {
      const { network, kind, limit, cursor } = flags;
      const { client } = await connectService(flags);
      const params: DryRunParams = { network, kind, limit, cursor };
      const page = await client.dryRuns(params);
      if (flags.json) return terminal.out(JSON.stringify(page, null, 2));
      if (page.items.length === 0) return terminal.err("no dry runs");
      for (const run of page.items) terminal.out(describeRun(run, terminal));
      if (page.nextCursor === null) return;
      const more = nextPage(command, { flag: "--cursor", value: page.nextCursor });
      terminal.err(terminal.colors.dim(`more: ${more}`));
    });
}

function describeRun(run: DryRunView, { colors }: Terminal): string {
  const { at, network, kind, success, title, parsedResult, err, line, column, withheld } = run;
  const what = (kind === "dry-run" ? (success ? "ran" : "failed") : `${kind} refused`).padEnd(16);
  const state = success ? colors.green(what) : colors.red(what);
  const place = line === undefined ? "" : `line ${line}, column ${column ?? 1}`;
  const reason = err.includes(place) ? err : `${err} (${place})`;
  const result = withheld ? "not kept: it showed a secret" : parsedResult;
  const shown = cut(oneLine(success ? result : reason), MAX_SHOWN);
  return `${at.slice(0, 19)}  ${(network ?? "any").padEnd(14)}  ${state}  ${cut(oneLine(title), MAX_TITLE).padEnd(MAX_TITLE)}  ${shown}`;
}
