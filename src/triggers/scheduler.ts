import { createId, firstId } from "../domain/id.ts";
import type { Queryable } from "../store/queryable.ts";
import { startWakeLoop, type WakeLoop } from "../lib/wakeLoop.ts";
import { findRequestByKey } from "../store/requests.ts";
import {
  findFirstTick,
  findSchedule,
  listActiveSchedules,
  listDueSchedules,
  moveSchedule,
  type StoredSchedule,
} from "../store/schedules.ts";
import {
  ASKED,
  deleteEarlyRuns,
  deleteOldRuns,
  findNewestDueTick,
  insertRuns,
  listDueRuns,
  listDueScheduleIds,
  type StoredRun,
} from "../store/triggerRuns.ts";
import {
  actOnRun,
  addSkipEvent,
  findOverlapped,
  findTickSkip,
  idempotencyKeyOf,
  skipRuns,
  type ActOptions,
  type Skip,
} from "./actOnRun.ts";
import { nextTick, type Timing } from "../domain/scheduleTimes.ts";
import { createSteadyCheck } from "../lib/steadyClock.ts";

/** For schedules that another replica changed, and for runs that wait. */
const LOOK_INTERVAL_MS = 1_000;
/** Ticks, schedules or runs handled in one transaction or query, however many an outage left. */
const PAGE = 500;
/** Runs of one schedule that are acted on before others' ticks are looked at again. */
const ACTED_AT_ONCE = 20;
/** How long runs are kept. */
const KEPT_MS = 30 * 86_400_000;
const CLEAN_INTERVAL_MS = 600_000;
const OVERTAKEN: Skip = {
  reason: "missed",
  detail: "a later one was due before the service could act on it",
};

export interface SchedulerOptions extends Omit<ActOptions, "now"> {
  readonly onError: (error: unknown) => void;
  /** Returns the Unix time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Starts to turn the ticks of schedules into runs, and runs into requests. */
export function startScheduler(given: SchedulerOptions): WakeLoop {
  const options = { now: Date.now, ...given };
  const { store, now, onError } = options;
  let isStopped = false;
  let latest = Infinity;
  let cleanedAt = -Infinity;
  const isSteady = createSteadyCheck(now);

  const storeTicks = async (schedule: StoredSchedule): Promise<void> => {
    const isTold = await store.write((db) => storeDueTicks(db, schedule, now()));
    if (isTold) options.onEvent();
  };

  /** Skips ticks that make no request, with one event for each reason. @returns the runs that are left. */
  const skipTicks = async (
    schedule: StoredSchedule,
    runs: readonly StoredRun[],
  ): Promise<readonly StoredRun[]> => {
    const newest = schedule.catchUp === "all" ? -Infinity : await findNewestDueTick(store.db, schedule.id);
    const open = await findOverlapped(store.db, schedule);
    const unwanted: { run: StoredRun; skip: Skip }[] = [];
    for (const run of runs) {
      const isOvertaken = run.at < newest && !run.key.startsWith(ASKED);
      const skip = findTickSkip(schedule, run, { now: now(), open }) ?? (isOvertaken ? OVERTAKEN : undefined);
      if (skip === undefined) continue;
      const request = await findRequestByKey(store.db, schedule.dappId, idempotencyKeyOf(run));
      if (request === undefined) unwanted.push({ run, skip });
    }
    const trigger = { ...schedule, network: schedule.command.network };
    for (const group of Map.groupBy(unwanted, ({ skip }) => `${skip.reason} ${skip.detail}`).values()) {
      const its = group.map(({ run }) => run);
      await skipRuns(options, trigger, its, group[0]!.skip);
    }
    const skipped = new Set(unwanted.map(({ run }) => run));
    return runs.filter((run) => !skipped.has(run));
  };

  /** Acts on some of a schedule's due runs, oldest first, up to one that waits. */
  const actOnDue = async (id: string): Promise<void> => {
    const due = await listDueRuns(store.db, id, PAGE);
    const found = await findSchedule(store.db, id);
    if (found === undefined) return;
    const runs = await skipTicks(found, due);
    // Ticks that overlap the first one's request are skipped together.
    const most = found.overlap === "skip" ? 1 : ACTED_AT_ONCE;
    for (const [i, run] of runs.slice(0, most).entries()) {
      const schedule = await findSchedule(store.db, id);
      if (isStopped || schedule === undefined) return;
      // Ticks that a pause takes are skipped together.
      if (schedule.pausedAt !== found.pausedAt) return loop.wake();
      const later = runs.slice(i + 1).filter(({ key }) => !key.startsWith(ASKED));
      const outcome = await actOnRun(options, schedule, run, later);
      if (outcome === "waiting") return;
      // Those after it may be skipped, too.
      if (outcome === "skipped") return loop.wake();
    }
    if (runs.length > most || due.length === PAGE) loop.wake();
  };

  /** Finds ticks again that come before what is stored as next because the clock was set back: those that it was ahead of, and that made no request. */
  const rewind = async (): Promise<void> => {
    const at = now();
    for (const schedule of await listActiveSchedules(store.db)) {
      const next = tickAfter(schedule, at);
      if (next === null || next >= (schedule.nextAt ?? Infinity)) continue;
      await store.write(async (db) => {
        if (await moveSchedule(db, schedule, next)) await deleteEarlyRuns(db, schedule.id, at);
      });
    }
  };

  const clean = async (): Promise<void> => {
    if (performance.now() - cleanedAt < CLEAN_INTERVAL_MS) return;
    cleanedAt = performance.now();
    if (isSteady()) await store.writeSoon((db) => deleteOldRuns(db, firstId("run", now() - KEPT_MS)));
  };

  /** Returns how long it is to the next tick. */
  const look = async (): Promise<number> => {
    const before = latest;
    latest = now();
    if (latest < before) await rewind();
    for (const schedule of await listDueSchedules(store.db, now(), PAGE)) {
      if (isStopped) return 0;
      await storeTicks(schedule);
    }
    await Promise.all((await listDueScheduleIds(store.db)).map((id) => actOnDue(id).catch(onError)));
    await clean();
    return ((await findFirstTick(store.db)) ?? Infinity) - now();
  };
  const loop = startWakeLoop(look, { intervalMs: LOOK_INTERVAL_MS, onError });
  return {
    wake: loop.wake,
    async stop() {
      isStopped = true;
      await loop.stop();
    },
  };
}

/**
 * Stores a schedule's ticks up to now, at most {@link PAGE}, and moves it to the next one, unless somebody else has.
 *
 * @returns whether an event was stored.
 */
export async function storeDueTicks(db: Queryable, schedule: StoredSchedule, now: number): Promise<boolean> {
  const { ticks, nextAt } = planTicks(schedule, now);
  if (ticks.length === 0 || !(await moveSchedule(db, schedule, nextAt))) return false;
  const fresh = await insertRuns(
    db,
    ticks.map((tick) => newRun(schedule.id, tick, now)),
  );
  const skipped = fresh.filter(({ state }) => state === "skipped").toSorted((a, b) => a.at - b.at);
  const trigger = { ...schedule, network: schedule.command.network };
  let isTold = false;
  for (const [detail, runs] of Map.groupBy(skipped, (run) => run.detail!)) {
    const ticks = runs.map((run) => run.at);
    if (await addSkipEvent(db, trigger, { reason: "missed", detail, ticks, at: now })) isTold = true;
  }
  return isTold;
}

/** Returns a schedule's first tick after a moment, and after its creation; `null` if there is none before its end. */
export function tickAfter(
  { timing, until, createdAt }: Pick<StoredSchedule, "timing" | "until" | "createdAt">,
  after: number,
): number | null {
  const next = nextTick(timing as Timing, Math.max(after, createdAt));
  return next === undefined || (until !== null && next > until) ? null : next;
}

interface Tick {
  readonly at: number;
  /** Why it makes no request; `null` if it is due. */
  readonly missed: string | null;
}

/**
 * Decides on a schedule's ticks up to now: which are due, and which were missed. `skip` and `one` act on the newest, if it is not later
 * than the schedule's window; `all` on all in the window.
 *
 * @returns at most 500, and the first one after them.
 */
export function planTicks(
  schedule: Pick<StoredSchedule, "timing" | "until" | "createdAt" | "nextAt" | "catchUp" | "windowMs">,
  now: number,
): {
  readonly ticks: readonly Tick[];
  readonly nextAt: number | null;
} {
  const ticks: Tick[] = [];
  let at = schedule.nextAt;
  while (at !== null && at <= now && ticks.length < PAGE) {
    const next = tickAfter(schedule, at);
    const isNewest = next === null || next > now;
    const isLetGo = schedule.catchUp !== "all" && !isNewest;
    const missed = isLetGo
      ? `catchUp ${schedule.catchUp}: of the ticks that were due at once, only the newest may run`
      : now - at > schedule.windowMs
        ? "the service did not run when it was due, nor before its window was over"
        : null;
    ticks.push({ at, missed });
    at = next;
  }
  return { ticks, nextAt: at };
}

function newRun(scheduleId: string, { at, missed }: Tick, now: number): StoredRun {
  return {
    id: createId("run", now),
    trigger_id: scheduleId,
    key: new Date(at).toISOString(),
    at,
    state: missed === null ? "due" : "skipped",
    reason: missed === null ? null : "missed",
    detail: missed,
    request_id: null,
  };
}
