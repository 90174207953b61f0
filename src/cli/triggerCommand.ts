import { Option, type Command } from "commander";
import type { LogRun, LogTriggerView } from "../client/index.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { describeArguments } from "../lib/eventWords.ts";
import { LOG_CONFIDENCES, type LogConfidence } from "../lib/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { listPages } from "./pagedCommand.ts";
import { parseBlock } from "./parseBlock.ts";
import { describeOutcome } from "./scheduleCommand.ts";
import { oneLine, type Terminal } from "./terminal.ts";

interface Flags extends ServiceFlags {
  readonly json?: true;
}
interface SettingFlags extends Flags {
  readonly action?: string;
  readonly actionNetwork?: string;
}
interface AddFlags extends SettingFlags {
  readonly network?: string;
  readonly address: readonly string[];
  readonly event: string;
  readonly filters?: string;
  readonly confidence?: LogConfidence;
  readonly fromBlock?: bigint;
}

/** Adds `tyche trigger …`. */
export function registerTrigger(program: Command, terminal: Terminal): void {
  const { out, err } = terminal;
  const trigger = program
    .command("trigger")
    .description("Manages a dapp's log triggers, which make requests when contracts emit events.");
  const command = (usage: string, description: string): Command =>
    withService(trigger.command(usage)).description(description).option("--json", "print JSON");
  const withAction = (its: Command): Command =>
    its
      .option("--action <json>", 'what is requested; {"event": "name"} stands for a value of the log')
      .option("--action-network <name>", "network of the requests (default: that of the logs)");
  const print = ({ json }: Flags, answer: object, text: string): void =>
    out(json ? JSON.stringify(answer, null, 2) : text);
  const show = (flags: Flags, view: LogTriggerView): void => print(flags, view, describe(view, terminal));

  command("list", "Lists log triggers, oldest first.").action(async (flags: Flags) => {
    const items = await (await connectService(flags)).client.triggers.list();
    if (items.length === 0 && !flags.json) return err("no triggers");
    print(flags, items, items.map((one) => describe(one, terminal)).join("\n"));
  });
  withAction(command("add <name>", "Adds a log trigger."))
    .requiredOption("--address <address...>", "addresses of the contracts: 1 to 10")
    .requiredOption("--event <abi>", 'the event, such as "event Closed(uint256 indexed round)"')
    .option("--filters <json>", "wanted values of indexed arguments, by name")
    .addOption(
      new Option("--confidence <which>", "blocks whose logs to act on (default: safe)").choices(
        LOG_CONFIDENCES,
      ),
    )
    .option("--from-block <number>", "first block whose logs to act on (default: the next one)", parseBlock)
    .option("--network <name>", "network of the logs (default: the only one)")
    .action(async (name: string, flags: AddFlags) => {
      const { address: addresses, event, confidence, network, actionNetwork } = flags;
      const action = parseObject("action", flags.action);
      if (action === undefined) throw needsObject("action");
      const filters = parseObject("filters", flags.filters);
      const fromBlock = flags.fromBlock === undefined ? undefined : Number(flags.fromBlock);
      const { client } = await connectService(flags);
      const where = { network, actionNetwork, addresses, event, filters, fromBlock };
      show(flags, await client.triggers.create({ name, action, confidence, ...where }));
    });
  withAction(command("change <id>", "Changes a log trigger; what is not given stays."))
    .option("--name <name>", "its new name")
    .action(async (id: string, flags: SettingFlags & { readonly name?: string }) => {
      const { name, actionNetwork } = flags;
      const changes = { name, actionNetwork, action: parseObject("action", flags.action) };
      show(flags, await (await connectService(flags)).client.triggers.change(id, changes));
    });
  for (const [name, description, paused] of [
    ["pause", "Pauses a log trigger: it takes no logs, and its runs wait.", true],
    ["resume", "Resumes a log trigger, from the next block on.", false],
  ] as const)
    command(`${name} <id>`, description).action(async (id: string, flags: Flags) =>
      show(flags, await (await connectService(flags)).client.triggers.change(id, { paused })),
    );
  command("remove <id>", "Removes a log trigger with its runs; their requests stay.").action(
    async (id: string, flags: Flags) => {
      const view = await (await connectService(flags)).client.triggers.delete(id);
      print(flags, view, `removed ${view.id}`);
    },
  );
  listPages(command("runs <id>", "Lists the runs of the last 30 days, newest first."), terminal, {
    read: (client, id, page) => client.triggers.runs(id, page),
    describe: (run) => describeRun(run, terminal),
    none: "no runs yet",
  });
}

function parseObject(name: string, text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // The message below says what is expected.
  }
  throw needsObject(name);
}

function needsObject(name: string): InvalidParameterError {
  return new InvalidParameterError([{ path: `/${name}`, message: `needs a JSON object: --${name} '{…}'` }]);
}

function describe(view: LogTriggerView, { colors }: Terminal): string {
  const { id, name, network, event, addresses, confidence, actionNetwork, pausedAt, readTo } = view;
  const state =
    pausedAt === null ? colors.green(`read to ${readTo ?? "nothing yet"}`) : colors.yellow("paused");
  const where = actionNetwork === network ? network : `${network} to ${actionNetwork}`;
  const what = `${addresses.join(",")} ${oneLine(event ?? "topics")}`;
  return `${id}  ${state}  ${where}  ${confidence}  ${what}  ${oneLine(name)}`;
}

function describeRun(run: LogRun, terminal: Terminal): string {
  const { blockNumber, transactionHash, logIndex, values } = run.log;
  const log = `block ${blockNumber}  ${transactionHash}  log ${logIndex}  ${oneLine(describeArguments(values))}`;
  const reverted = run.revertedAt === null ? "" : terminal.colors.red("  reverted");
  return `${run.at.slice(0, 19)}  ${log}  ${describeOutcome(run, terminal)}${reverted}`;
}
