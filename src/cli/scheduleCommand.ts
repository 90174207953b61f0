import { Option, type Command } from "commander";
import type { LogRun, ScheduleParams, ScheduleView, TriggerRun } from "../client/index.ts";
import { CATCH_UPS, type CatchUp } from "../domain/vocabulary.ts";
import { connectService } from "./connectService.ts";
import { colorOf } from "./outcome.ts";
import { listPages } from "./pagedCommand.ts";
import { needsObject, parseObject } from "./parseObject.ts";
import { createResource, type ResourceFlags } from "./resourceCommand.ts";
import { oneLine, type Terminal } from "./terminal.ts";

interface SettingFlags extends ResourceFlags {
  readonly every?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly action?: string;
  readonly catchUp?: CatchUp;
  readonly window?: string;
  readonly overlap?: "skip" | "allow";
  readonly until?: string;
}

/** Adds `tyche schedule …`. */
export function registerSchedule(program: Command, terminal: Terminal): void {
  const { command, print, show, addEnds } = createResource(program, terminal, {
    name: "schedule",
    description: "Manages a dapp's schedules, which make requests at certain times.",
    calls: (client) => client.schedules,
    describe: (view) => describe(view, terminal),
    list: "Lists schedules, oldest first.",
    pause: "Pauses a schedule: it has no ticks.",
    resume: "Resumes a schedule.",
    remove: "Removes a schedule with its runs; their requests stay.",
  });
  const withSettings = (its: Command): Command =>
    its
      .addOption(
        new Option("--every <duration>", "distance between ticks, such as 10s, 5m, 1h or 1d").conflicts([
          "cron",
        ]),
      )
      .option("--cron <expression>", "minute, hour, day, month and weekday, or six fields with seconds first")
      .option("--time-zone <name>", "time zone of --cron, such as Europe/Berlin (default: UTC)")
      .option("--action <json>", 'what is requested: {"preset": …}, {"random": {…}} or {"function": {…}}')
      .addOption(
        new Option("--catch-up <which>", "ticks to make up for after an outage (default: one)").choices(
          CATCH_UPS,
        ),
      )
      .option("--window <duration>", "how late a tick may be acted on (default: 1d)")
      .addOption(
        new Option(
          "--overlap <what>",
          "what to do while the request before has not ended (default: skip)",
        ).choices(["skip", "allow"]),
      )
      .option("--until <time>", "ISO 8601: no ticks after it");

  withSettings(command("add <name>", "Adds a schedule."))
    .option("--network <name>", "network of its requests (default: the only one)")
    .action(async (name: string, flags: SettingFlags & { readonly network?: string }) => {
      const { action, ...settings } = parseSettings(flags);
      if (action === undefined) throw needsObject("action");
      const { client } = await connectService(flags);
      show(flags, await client.schedules.create({ ...settings, name, action, network: flags.network }));
    });
  withSettings(command("change <id>", "Changes a schedule; what is not given stays."))
    .option("--name <name>", "its new name")
    .action(async (id: string, flags: SettingFlags & { readonly name?: string }) => {
      const changes = { ...parseSettings(flags), name: flags.name };
      show(flags, await (await connectService(flags)).client.schedules.change(id, changes));
    });
  addEnds();
  command("run <id>", "Requests now what a tick would.").action(async (id: string, flags: ResourceFlags) => {
    const run = await (await connectService(flags)).client.schedules.run(id);
    print(flags, run, describeRun(run, terminal));
  });
  listPages(command("runs <id>", "Lists the runs of the last 30 days, newest first."), terminal, {
    read: (client, page, _flags, id) => client.schedules.runs(id, page),
    describe: (run) => describeRun(run, terminal),
    none: "no runs yet",
  });
}

function parseSettings(flags: SettingFlags): ScheduleParams {
  const { every, cron, timeZone, action, catchUp, window, overlap, until } = flags;
  const settings = { every, cron, timeZone, catchUp, window, overlap, until };
  return { ...settings, action: parseObject("action", action) };
}

function describe(view: ScheduleView, { colors }: Terminal): string {
  const { id, name, network, every, cron, timeZone, pausedAt, next } = view;
  const state =
    pausedAt !== null
      ? colors.yellow("paused")
      : next[0] === undefined
        ? colors.dim("ended")
        : colors.green(`next ${next[0].slice(0, 19)}`);
  const times = every === null ? `${cron} ${timeZone}` : `every ${every}`;
  return `${id}  ${state}  ${times}  ${network}  ${oneLine(name)}`;
}

function describeRun(run: TriggerRun, terminal: Terminal): string {
  const by = run.asked ? "by you      " : "by the clock";
  return `${run.at.slice(0, 19)}  ${by}  ${describeOutcome(run, terminal)}`;
}

/** Says what became of a trigger's run. */
export function describeOutcome(
  run: Pick<LogRun, "state" | "reason" | "detail" | "requestId" | "requestState" | "result" | "error">,
  { colors }: Terminal,
): string {
  const { state, reason, requestId, requestState, error } = run;
  const detail = error?.message ?? run.result ?? run.detail;
  const outcome =
    state === "requested"
      ? `${requestId}${requestState === null ? "" : `  ${colorOf(requestState, colors)(requestState)}`}`
      : state === "skipped"
        ? colors.red(`skipped (${reason})`)
        : colors.yellow(state);
  return `${outcome}${detail === null ? "" : `  ${oneLine(detail)}`}`;
}
