import { Option, type Command } from "commander";
import type { RequestKind, RequestState } from "../client/index.ts";
import { cut } from "../lib/cut.ts";
import { REQUEST_KINDS, REQUEST_STATES } from "../lib/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { nextPage } from "./nextPage.ts";
import { parseLimit } from "./pagedCommand.ts";
import {
  colorOf,
  findShown,
  printEvent,
  printOutcome,
  printRequest,
  summarize,
  withWaits,
} from "./outcome.ts";
import { withoutControls, type Terminal } from "./terminal.ts";

interface ListFlags extends ServiceFlags {
  readonly network?: string;
  readonly kind?: RequestKind;
  readonly state?: RequestState;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: true;
}

/** Longest value to show in a list, in characters. */
const MAX_SHOWN = 60;

/** Adds `tyche requests list`, `show` and `watch`. */
export function registerRequests(program: Command, terminal: Terminal): void {
  const requests = program.command("requests").description("Shows the requests of a dapp.");

  withService(requests.command("list"))
    .description("Lists requests, newest first.")
    .option("--network <name>", "only those on this network")
    .addOption(new Option("--kind <kind>", "only those of this kind").choices(REQUEST_KINDS))
    .addOption(new Option("--state <state>", "only those in this state").choices(REQUEST_STATES))
    .option("--limit <number>", "most to list: 1 to 100", parseLimit, 20)
    .option("--cursor <cursor>", "cursor printed with the previous page")
    .option("--json", "print JSON")
    .action(async (flags: ListFlags, command: Command) => {
      const { network, kind, state, limit, cursor } = flags;
      const { client } = await connectService(flags);
      const page = await client.requests({ network, kind, state, limit, cursor });
      if (flags.json) return terminal.out(JSON.stringify(page, null, 2));
      if (page.items.length === 0) return terminal.err("no requests");
      for (const request of page.items) {
        const { label, preset } = request.params;
        const parts = [
          ...(label === undefined ? [] : [JSON.stringify(label)]),
          ...(typeof preset === "string" ? [preset] : []),
          summarize(request),
        ];
        const value = parts.map(withoutControls).join("  ").trimEnd();
        const state = colorOf(request.state, terminal.colors)(request.state.padEnd(10));
        terminal.out(
          `${request.id}  ${request.createdAt.slice(0, 19)}  ${request.network.padEnd(14)}  ${request.kind.padEnd(8)}  ${state}  ${cut(value, MAX_SHOWN)}`,
        );
      }
      if (page.nextCursor === null) return;
      const more = nextPage(command, { flag: "--cursor", value: page.nextCursor });
      terminal.err(terminal.colors.dim(`more: ${more}`));
    });

  withService(requests.command("show"))
    .description("Shows a request with its timeline and its result.")
    .argument("<id>", "its identifier")
    .option("--json", "print JSON")
    .action(async (id: string, flags: ServiceFlags & { readonly json?: true }) => {
      const { client } = await connectService(flags);
      const request = await client.request(id);
      if (flags.json) terminal.out(JSON.stringify(request, null, 2));
      else printRequest(request, terminal);
    });

  withService(requests.command("watch"))
    .description("Follows a request to its end. Exit code: 0 when it has a result, 1 otherwise.")
    .argument("<id>", "its identifier")
    .option("--json", "print one JSON object per line for each event")
    .action(async (id: string, flags: ServiceFlags & { readonly json?: true }) => {
      const { client } = await connectService(flags);
      const events = client.stream(id);
      for await (const event of flags.json ? events : withWaits(events, { client, id }, terminal)) {
        if (flags.json) terminal.out(JSON.stringify(event));
        else if (event.type === "state") printEvent(event, terminal);
        else printOutcome(event.result, terminal, await findShown(event.result, { client, id }));
        if (event.type === "result" && !event.result.success) process.exitCode = 1;
      }
    });
}
