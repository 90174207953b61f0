import { Option, type Command } from "commander";
import type { LogRun, LogTriggerView } from "../client/index.ts";
import { describeArguments } from "../text/eventArguments.ts";
import { LOG_CONFIDENCES, type LogConfidence } from "../domain/vocabulary.ts";
import { connectService } from "./connectService.ts";
import { listPages } from "./pagedCommand.ts";
import { parseBlock } from "./parseNumber.ts";
import { needsObject, parseObject } from "./parseObject.ts";
import { describeOutcome } from "./scheduleCommand.ts";
import { createResource, type ResourceFlags } from "./resourceCommand.ts";
import { oneLine, type Terminal } from "./terminal.ts";

interface SettingFlags extends ResourceFlags {
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
  const { command, show, addEnds } = createResource(program, terminal, {
    name: "trigger",
    description: "Manages a dapp's log triggers, which make requests when contracts emit events.",
    calls: (client) => client.triggers,
    describe: (view) => describe(view, terminal),
    list: "Lists log triggers, oldest first.",
    pause: "Pauses a log trigger: it takes no logs, and its runs wait.",
    resume: "Resumes a log trigger, from the next block on.",
    remove: "Removes a log trigger with its runs; their requests stay.",
  });
  const withAction = (its: Command): Command =>
    its
      .option("--action <json>", 'what is requested; {"event": "name"} stands for a value of the log')
      .option("--action-network <name>", "network of the requests (default: that of the logs)");

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
  addEnds();
  listPages(command("runs <id>", "Lists the runs of the last 30 days, newest first."), terminal, {
    read: (client, page, _flags, id) => client.triggers.runs(id, page),
    describe: (run) => describeRun(run, terminal),
    none: "no runs yet",
  });
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
