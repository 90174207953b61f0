import { Option, type Command } from "commander";
import type { RequestKind, RequestState, RequestView } from "../client/index.ts";
import { cut } from "../lib/cut.ts";
import { REQUEST_KINDS, REQUEST_STATES } from "../domain/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { listPages } from "./pagedCommand.ts";
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

interface ListFlags {
  readonly network?: string;
  readonly kind?: RequestKind;
  readonly state?: RequestState;
}

/** Longest value to show in a list, in characters. */
const MAX_SHOWN = 60;

/** Adds `tyche requests list`, `show` and `watch`. */
export function registerRequests(program: Command, terminal: Terminal): void {
  const requests = program.command("requests").description("Shows the requests of a dapp.");

  const list = withService(requests.command("list"))
    .description("Lists requests, newest first.")
    .option("--network <name>", "only those on this network")
    .addOption(new Option("--kind <kind>", "only those of this kind").choices(REQUEST_KINDS))
    .addOption(new Option("--state <state>", "only those in this state").choices(REQUEST_STATES))
    .option("--json", "print JSON");
  listPages(list, terminal, {
    read: (client, page, { network, kind, state }: ListFlags) =>
      client.requests({ ...page, network, kind, state }),
    describe: (request) => describeRequest(request, terminal),
    none: "no requests",
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

function describeRequest(request: RequestView, { colors }: Terminal): string {
  const { id, createdAt, network, kind, state, params } = request;
  const { label, preset } = params;
  const parts = [
    ...(label === undefined ? [] : [JSON.stringify(label)]),
    ...(typeof preset === "string" ? [preset] : []),
    summarize(request),
  ];
  const value = parts.map(withoutControls).join("  ").trimEnd();
  const colored = colorOf(state, colors)(state.padEnd(10));
  return `${id}  ${createdAt.slice(0, 19)}  ${network.padEnd(14)}  ${kind.padEnd(8)}  ${colored}  ${cut(value, MAX_SHOWN)}`;
}
