import type { Checked } from "../api/parameters/requestSchemas.ts";
import type { ScheduleView, TriggerRun, TriggerRunPage } from "../api/types.ts";
import type { Dapp } from "../dapps/dapp.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import { createId } from "../domain/id.ts";
import { InvalidParameterError, parseAll } from "../lib/invalidParameter.ts";
import { readPage } from "../domain/readPage.ts";
import { DAY_MS, formatTime } from "../lib/time.ts";
import type { CatchUp } from "../domain/vocabulary.ts";
import type { Command } from "../requests/service.ts";
import { lockDapp } from "../store/dapps.ts";
import {
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  saveSchedule,
  type StoredSchedule,
} from "../store/schedules.ts";
import {
  ASKED,
  countDueRunsBefore,
  findRun,
  insertRuns,
  listDueRuns,
  listRuns,
  type StoredRun,
} from "../store/triggerRuns.ts";
import { actOnRun, describeQueue, type ActOptions } from "./actOnRun.ts";
import type { CheckCommand, ParseAction, TriggerCommand } from "./eventReferences.ts";
import { readRunRequests } from "./runRequests.ts";
import { storeDueTicks, tickAfter } from "./scheduler.ts";
import {
  findCronMistake,
  formatDuration,
  isTimeZone,
  nextTicks,
  parseDuration,
  MIN_DISTANCE_MS,
  shortestDistance,
  type Timing,
} from "../domain/scheduleTimes.ts";

/** Most schedules of a dapp. */
const MAX_SCHEDULES = 100;
/** `skip` acts on a tick that is no later than this. */
const SKIP_WINDOW_MS = 60_000;
const DEFAULT_WINDOW_MS = DAY_MS;
/** Runs are kept for as long. */
const MAX_WINDOW_MS = 30 * DAY_MS;
/** Ticks that a view foretells. */
const SHOWN_TICKS = 5;

/** Pages of ticks that an outage left which one call stores before it changes a schedule; the scheduler stores the rest. */
const MAX_ROUNDS = 10;

/** The schedules of dapps. Every method throws `not_found` for an unknown schedule and for another dapp's alike, and `invalid_parameter`. */
export interface Schedules {
  create(dapp: Dapp, settings: Checked<"createSchedule">): Promise<ScheduleView>;
  /** Lists a dapp's schedules, oldest first. */
  list(dappId: string): Promise<readonly ScheduleView[]>;
  get(dappId: string, id: string): Promise<ScheduleView>;
  /** Changes what is given. From then on the schedule acts with the key of this call. */
  change(dapp: Dapp, id: string, changes: Checked<"changeSchedule">): Promise<ScheduleView>;
  delete(dappId: string, id: string): Promise<ScheduleView>;
  /** Requests at once what a tick would, also while the schedule is paused. */
  run(dapp: Dapp, id: string): Promise<TriggerRun>;
  /** Lists runs, newest first. */
  runs(dappId: string, id: string, page: Checked<"runs">): Promise<TriggerRunPage>;
}

export interface SchedulesOptions extends Omit<ActOptions, "now"> {
  readonly parseAction: ParseAction;
  readonly checkCommand: CheckCommand;
  /** Returns the time between a network's blocks, in ms; `undefined` on an embedded chain. */
  readonly blockMsOf: (network: string) => number | undefined;
  /** Called when a schedule's next tick changes. */
  readonly wake: () => void;
  /** Returns the Unix time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Creates the use cases of schedules. */
export function createSchedules(options: SchedulesOptions): Schedules {
  const { store, parseAction, checkCommand, wake, now = Date.now } = options;

  const get = async (dappId: string, id: string): Promise<StoredSchedule> => {
    const schedule = await findSchedule(store.db, id, dappId);
    if (schedule === undefined) throw new NotFoundError(`schedule ${id}`);
    return schedule;
  };
  const view = (schedule: StoredSchedule): ScheduleView => viewSchedule(schedule);
  /** Returns neighbouring runs of a schedule, newest first, with what they wait for while they are due. */
  const viewRuns = async (runs: readonly StoredRun[]): Promise<TriggerRun[]> => {
    const due = runs.filter(({ state }) => state === "due").toReversed();
    const [oldest] = due;
    const before = oldest === undefined ? 0 : await countDueRunsBefore(store.db, oldest);
    const first = before === 0 ? oldest : (await listDueRuns(store.db, oldest!.trigger_id, 1))[0];
    const requestOf = await readRunRequests(store.db, runs);
    return runs.map((run) => ({
      id: run.id,
      at: formatTime(run.at),
      asked: run.key.startsWith(ASKED),
      // Only runs of logs are seen before they are due.
      state: run.state as TriggerRun["state"],
      reason: run.reason,
      detail:
        run.state === "due" && run.detail === null
          ? describeQueue(before + due.indexOf(run), { what: "schedule's runs", first })
          : run.detail,
      ...requestOf(run),
    }));
  };
  /** @param before the times that these replace: a schedule keeps its distance when blocks become slower. */
  const parseTimingOn = (
    network: string,
    given: Parameters<typeof parseTiming>[0],
    { at, before }: { readonly at: number; readonly before?: Timing },
  ): Timing => {
    const timing = parseTiming(given, at);
    const distance = shortestDistance(timing, at);
    if (before === undefined || distance < shortestDistance(before, at))
      assertDistance(distance, { network, blockMs: options.blockMsOf(network), timing });
    return timing;
  };
  /** Finds a schedule's next tick. @param mayHaveEnded whether there need not be one. */
  const complete = (
    schedule: Omit<StoredSchedule, "nextAt">,
    at: number,
    mayHaveEnded = false,
  ): StoredSchedule => {
    const nextAt = tickAfter(schedule, at);
    if (nextAt === null && !mayHaveEnded) {
      const message = "is before the first tick: the schedule would never run";
      throw new InvalidParameterError([{ path: schedule.until === null ? "/cron" : "/until", message }]);
    }
    return { ...schedule, nextAt: schedule.pausedAt === null ? nextAt : null };
  };
  const apply = (
    dapp: Dapp,
    before: StoredSchedule,
    changes: Checked<"changeSchedule">,
    at: number,
  ): StoredSchedule => {
    const { every, cron, timeZone, catchUp = before.catchUp, window, until, paused, action } = changes;
    const isRetimed = every !== undefined || cron !== undefined || timeZone !== undefined;
    const isCaughtUp = changes.catchUp !== undefined || window !== undefined;
    const { network } = before.command;
    const timing = before.timing as Timing;
    const parsed = parseAll({
      timing: () =>
        isRetimed
          ? parseTimingOn(network, withTiming(timing, changes), { at, before: timing })
          : before.timing,
      windowMs: () => (isCaughtUp ? parseWindow(catchUp, window) : before.windowMs),
      until: () => (until === undefined ? before.until : parseUntil(until)),
      command: () => (action === undefined ? before.command : parseAction(action, network)),
    });
    const after = {
      ...before,
      ...parsed,
      keyId: keyOf(dapp),
      name: changes.name ?? before.name,
      catchUp,
      overlap: changes.overlap ?? before.overlap,
      pausedAt: paused === undefined ? before.pausedAt : paused ? (before.pausedAt ?? at) : null,
    };
    return complete(after, at, !isRetimed && until === undefined && paused !== false);
  };

  return {
    async create(dapp, settings) {
      const { name, network, action, catchUp, window, overlap, until = null, paused } = settings;
      const at = now();
      const parsed = parseAll({
        timing: () => parseTimingOn(network, settings, { at }),
        windowMs: () => parseWindow(catchUp, window),
        until: () => parseUntil(until),
        command: () => parseAction(action, network),
      });
      await checkCommand(dapp, parsed.command);
      const rest = { name, catchUp, overlap, pausedAt: paused ? at : null, createdAt: at };
      const id = createId("sch", at);
      const schedule = complete({ ...parsed, ...rest, id, dappId: dapp.id, keyId: keyOf(dapp) }, at);
      await store.write(async (db) => {
        await lockDapp(db, dapp.id);
        if ((await listSchedules(db, dapp.id)).length >= MAX_SCHEDULES)
          throw new InvalidParameterError([
            { path: "", message: `a dapp has at most ${MAX_SCHEDULES} schedules: delete one first` },
          ]);
        await insertSchedule(db, schedule);
      });
      wake();
      return view(schedule);
    },
    list: async (dappId) => (await listSchedules(store.db, dappId)).map(view),
    get: async (dappId, id) => view(await get(dappId, id)),
    async change(dapp, id, changes) {
      const planned = apply(dapp, await get(dapp.id, id), changes, now());
      if (changes.action !== undefined) await checkCommand(dapp, planned.command as TriggerCommand);
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const changed = await store.write(async (db) => {
          await lockDapp(db, dapp.id);
          const before = await findSchedule(db, id, dapp.id);
          if (before === undefined) throw new NotFoundError(`schedule ${id}`);
          const at = now();
          // Under other times, or paused, the ticks that are due would be found no more.
          if (before.nextAt !== null && before.nextAt <= at)
            return { isTold: await storeDueTicks(db, before, at) };
          const after = apply(dapp, before, changes, at);
          await saveSchedule(db, after);
          return after;
        });
        if ("isTold" in changed) {
          if (changed.isTold) options.onEvent();
          continue;
        }
        wake();
        return view(changed);
      }
      wake();
      throw new TycheError(
        `the ticks that an outage left of schedule ${id} are being recorded; try again in a few seconds`,
        { code: "overloaded", blame: "us", retryable: true },
      );
    },
    async delete(dappId, id) {
      const last = view(await get(dappId, id));
      await store.write((db) => deleteSchedule(db, id));
      return last;
    },
    async run(dapp, id) {
      const schedule = { ...(await get(dapp.id, id)), keyId: keyOf(dapp) };
      const runId = createId("run", now());
      const asked = { trigger_id: id, key: `${ASKED}${runId}`, at: now() };
      const run: StoredRun = {
        ...asked,
        id: runId,
        state: "due",
        reason: null,
        detail: null,
        request_id: null,
      };
      await store.write((db) => insertRuns(db, [run]));
      await actOnRun({ ...options, now }, schedule, run);
      return (await viewRuns([(await findRun(store.db, runId)) ?? run]))[0]!;
    },
    async runs(dappId, id, { limit, cursor }) {
      await get(dappId, id);
      const { rows, nextCursor } = await readPage(limit, (most) =>
        listRuns(store.db, { triggerId: id, limit: most, before: cursor }),
      );
      return { items: await viewRuns(rows), nextCursor };
    },
  };
}

/** The operator acts without a key. */
export function keyOf({ keyId }: Dapp): string | null {
  return keyId.startsWith("key_") ? keyId : null;
}

type GivenTiming = Pick<Checked<"changeSchedule">, "every" | "cron" | "timeZone">;

/** Completes changed times by the present ones. */
function withTiming(before: Timing, { every, cron, timeZone }: GivenTiming): GivenTiming {
  if (every !== undefined) return { every, ...(cron === undefined ? {} : { cron }) };
  const present = "cron" in before ? before : { cron: undefined, timeZone: undefined };
  const zone = timeZone ?? present.timeZone;
  const expression = cron ?? present.cron;
  return {
    ...(expression === undefined ? {} : { cron: expression }),
    ...(zone === undefined ? {} : { timeZone: zone }),
  };
}

function parseTiming({ every, cron, timeZone = "UTC" }: GivenTiming, now: number): Timing {
  const refuse = (path: string, message: string): never => {
    throw new InvalidParameterError([{ path, message }]);
  };
  if (every !== undefined && cron !== undefined) return refuse("/cron", "give either every or cron");
  if (every !== undefined) {
    const everyMs = parseDuration(every);
    if (everyMs === undefined)
      return refuse("/every", `must be a duration such as 10s, 5m, 1h or 1d, not ${JSON.stringify(every)}`);
    return { everyMs, startsAt: Math.floor(now / 1_000) * 1_000 };
  }
  if (cron === undefined) return refuse("/every", "is missing; give every, such as 1h, or cron");
  const mistake = findCronMistake(cron);
  const zone = `must be a time zone such as Europe/Berlin, not ${JSON.stringify(timeZone)}`;
  return parseAll({
    cron: () => (mistake === undefined ? cron : refuse("/cron", mistake)),
    timeZone: () => (isTimeZone(timeZone) ? timeZone : refuse("/timeZone", zone)),
  });
}

function parseWindow(catchUp: CatchUp, window: string | undefined): number {
  if (catchUp === "skip" && window === undefined) return SKIP_WINDOW_MS;
  const windowMs = window === undefined ? DEFAULT_WINDOW_MS : parseDuration(window);
  const message =
    catchUp === "skip"
      ? "is only for catchUp one and all"
      : windowMs === undefined || windowMs < SKIP_WINDOW_MS || windowMs > MAX_WINDOW_MS
        ? `must be a duration from 1m to 30d, such as 6h, not ${JSON.stringify(window)}`
        : undefined;
  if (windowMs === undefined || message !== undefined)
    throw new InvalidParameterError([{ path: "/window", message: message ?? "" }]);
  return windowMs;
}

function parseUntil(until: string | null): number | null {
  if (until === null) return null;
  const at = Date.parse(until);
  if (!Number.isNaN(at)) return at;
  const message = `${JSON.stringify(until)} is not a time; expected one such as 2026-12-31T23:59:59Z`;
  throw new InvalidParameterError([{ path: "/until", message }]);
}

function assertDistance(
  distanceMs: number,
  {
    network,
    blockMs,
    timing,
  }: { readonly network: string; readonly blockMs: number | undefined; readonly timing: Timing },
): void {
  const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`;
  const [leastMs, why] =
    blockMs === undefined
      ? [MIN_DISTANCE_MS.embedded, ""]
      : [
          MIN_DISTANCE_MS.external + blockMs,
          `, ${seconds(MIN_DISTANCE_MS.external)} and a block of ${seconds(blockMs)}`,
        ];
  if (distanceMs >= leastMs) return;
  const message = `ticks on ${network} are at least ${seconds(leastMs)} apart${why}; these are ${seconds(distanceMs)} apart`;
  throw new InvalidParameterError([{ path: "everyMs" in timing ? "/every" : "/cron", message }]);
}

function viewSchedule(schedule: StoredSchedule): ScheduleView {
  const { until, nextAt, pausedAt } = schedule;
  const timing = schedule.timing as Timing;
  const following = nextAt === null ? [] : [nextAt, ...nextTicks(timing, nextAt, SHOWN_TICKS - 1)];
  return {
    id: schedule.id,
    name: schedule.name,
    network: schedule.command.network,
    every: "everyMs" in timing ? formatDuration(timing.everyMs) : null,
    cron: "cron" in timing ? timing.cron : null,
    timeZone: "cron" in timing ? timing.timeZone : null,
    action: viewAction(schedule.command as Command),
    catchUp: schedule.catchUp,
    window: formatDuration(schedule.windowMs),
    overlap: schedule.overlap,
    until: until === null ? null : formatTime(until),
    pausedAt: pausedAt === null ? null : formatTime(pausedAt),
    createdAt: formatTime(schedule.createdAt),
    keyId: schedule.keyId,
    next: following.filter((at) => until === null || at <= until).map(formatTime),
  };
}

/** Writes a command as the action that it was parsed from. */
function viewAction(command: Command): ScheduleView["action"] {
  const own = Object.fromEntries(
    Object.entries(command).filter(([name]) => !["kind", "network", "params"].includes(name)),
  );
  return command.kind === "preset" ? { ...command.params, ...own } : { [command.kind]: own };
}
