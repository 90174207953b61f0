import { Cron } from "croner";

/** When a schedule's ticks are due: at equal distances, or as a cron expression says. */
export type Timing =
  | {
      readonly everyMs: number;
      /** Unix time in milliseconds from which the distances count. */
      readonly startsAt: number;
    }
  | {
      /** Five fields, or six with seconds first. */
      readonly cron: string;
      /** IANA name. */
      readonly timeZone: string;
    };

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** A change of clocks and its counterpart are further apart in every time zone. */
const STRIDE_MS = 7 * UNITS_MS.d;

/** Parses a duration such as `10s`, `5m`, `1h` or `1d` into milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** Writes a duration in its largest whole unit, as {@link parseDuration} reads it. */
export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(UNITS_MS).findLast(([, one]) => ms % one === 0) ?? ["s", 1_000];
  return `${ms / size}${unit}`;
}

/** Whether this is the IANA name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Returns what is wrong with a cron expression; `undefined` if nothing is. */
export function findCronMistake(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6)
    return "needs five fields (minute hour day month weekday), or six with seconds first";
  // `?` would stand for the moment at which the expression is read.
  if (!/^[\dA-Za-z*,/#\s-]+$/.test(cron)) return "may contain digits, names, and * , - / #";
  try {
    const next = new Cron(cron, { utcOffset: 0, paused: true }).nextRun();
    return next === null ? "names a date that never comes" : undefined;
  } catch (error) {
    return `can't be read: ${(error as Error).message.replace(/^CronPattern: /, "")}`;
  }
}

/**
 * Returns the first tick after a moment, in Unix milliseconds; `undefined` if there is none. A local time that a change of clocks skips is
 * due once, at the end of the gap; one that occurs twice is due the first time, unless the expression names every hour.
 */
export function nextTick(timing: Timing, after: number): number | undefined {
  if ("everyMs" in timing) {
    const { everyMs, startsAt } = timing;
    return startsAt + (Math.floor((after - startsAt) / everyMs) + 1) * everyMs;
  }
  const { cron, timeZone } = timing;
  return cronTicks(`${timeZone} ${cron} ${after}`, () => {
    const next = cronIn(cron, timeZone).nextRun(new Date(after))?.getTime();
    const inGap = findTickInGap(cron, timeZone, { after, before: next ?? after });
    if (inGap !== undefined || next === undefined) return inGap ?? next;
    const end = isHourly(cron) ? undefined : findRepetitionEnd(timeZone, next);
    return end === undefined ? next : nextTick(timing, end - 1);
  });
}

/** Returns the next ticks after a moment. */
export function nextTicks(timing: Timing, after: number, count: number): number[] {
  const ticks: number[] = [];
  for (let at = nextTick(timing, after); at !== undefined && ticks.length < count; at = nextTick(timing, at))
    ticks.push(at);
  return ticks;
}

/** Shortest distance between ticks: on an embedded chain, and in addition to a block elsewhere, where each request costs gas. */
export const MIN_DISTANCE_MS = { embedded: 10_000, external: 30_000 } as const;

/**
 * Returns the shortest distance between ticks, in ms; of a cron expression at most a day. Its times of day are looked at as if every day had
 * some, because a date may be years away.
 */
export function shortestDistance(timing: Timing, from: number): number {
  if ("everyMs" in timing) return timing.everyMs;
  const fields = timing.cron.trim().split(/\s+/);
  const [times, dates] = [fields.slice(0, -3).join(" "), fields.slice(-3).join(" ")];
  // So many show every combination of seconds and neighbouring minutes.
  const ticks = nextTicks({ cron: `${times} * * *`, timeZone: "UTC" }, from, 200);
  const dayOf = (at: number): number => Math.floor(at / UNITS_MS.d);
  let withinDay: number = UNITS_MS.d;
  let overMidnight = withinDay;
  for (const [i, at] of ticks.entries()) {
    const next = ticks[i + 1];
    if (next === undefined) break;
    if (dayOf(next) === dayOf(at)) withinDay = Math.min(withinDay, next - at);
    else overMidnight = Math.min(overMidnight, next - at);
  }
  return overMidnight < withinDay && hasNeighbouringDays(dates, from) ? overMidnight : withinDay;
}

/** Whether the dates of a cron expression ever include two days in a row. Weekdays and leap days come together in all ways in 28 years. */
function hasNeighbouringDays(dates: string, from: number): boolean {
  const cron = cronIn(`0 0 ${dates}`, "UTC");
  const end = from + 28 * 365.25 * UNITS_MS.d;
  let day = cron.nextRun(new Date(from))?.getTime() ?? end;
  while (day < end) {
    const next = cron.nextRun(new Date(day))?.getTime() ?? end;
    if (next - day === UNITS_MS.d) return true;
    day = next;
  }
  return false;
}

/** Finds a tick whose local time is skipped: croner has it only if it is the first one of its day. */
function findTickInGap(
  cron: string,
  timeZone: string,
  { after, before }: { readonly after: number; readonly before: number },
): number | undefined {
  // Years may pass without a tick; its local time is at most a day from UTC.
  const local = cronIn(cron, "UTC")
    .nextRun(new Date(after + offsetAt(timeZone, after)))
    ?.getTime();
  if (local === undefined) return undefined;
  for (let from = Math.max(after, local - 2 * UNITS_MS.d); from < before; from += STRIDE_MS) {
    const to = Math.min(from + STRIDE_MS, before);
    const [old, fresh] = [offsetAt(timeZone, from), offsetAt(timeZone, to)];
    if (fresh <= old) continue;
    const change = findChange(timeZone, from, to);
    const skipped = cronIn(cron, "UTC")
      .nextRun(new Date(change + old - 1))
      ?.getTime();
    if (skipped !== undefined && skipped < change + fresh) return change;
  }
  return undefined;
}

/** Returns when a local time occurs for the first time again, if clocks that were set back repeat the one of this moment. */
function findRepetitionEnd(timeZone: string, at: number): number | undefined {
  const from = at - UNITS_MS.d;
  const setBack = offsetAt(timeZone, from) - offsetAt(timeZone, at);
  if (setBack <= 0) return undefined;
  const end = findChange(timeZone, from, at) + setBack;
  return at < end ? end : undefined;
}

/** Returns the first moment at which the clocks show another offset, between two that differ in theirs. */
function findChange(timeZone: string, from: number, to: number): number {
  const old = offsetAt(timeZone, from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(timeZone, middle) === old) low = middle;
    else high = middle;
  }
  return high;
}

/** Whether a cron expression names every hour. */
function isHourly(cron: string): boolean {
  const hour = cron.trim().split(/\s+/).at(-4)!;
  return cronIn(`0 ${hour} * * *`, "UTC").nextRuns(24, new Date(-1)).at(-1)!.getTime() < UNITS_MS.d;
}

/** Creates a function that makes what belongs to a key, and keeps at most so many: upper and lower case make thousands of names of one time zone. */
function createCache<T>(most: number): (key: string, make: () => T) => T {
  let ready = new Map<string, T>();
  return (key, make) => {
    if (ready.has(key)) return ready.get(key)!;
    if (ready.size >= most) ready = new Map();
    const made = make();
    ready.set(key, made);
    return made;
  };
}

const crons = createCache<Cron>(1_000);
const formats = createCache<Intl.DateTimeFormat>(1_000);
/** A date that is decades away takes milliseconds to find, and a list of schedules shows five of each. */
const cronTicks = createCache<number | undefined>(10_000);

function cronIn(cron: string, timezone: string): Cron {
  // An offset spares croner the calendar of a time zone.
  const zone = timezone === "UTC" ? { utcOffset: 0 } : { timezone };
  return crons(`${timezone} ${cron}`, () => new Cron(cron, { ...zone, paused: true }));
}

/** Returns by how much local time is ahead of UTC, in ms. */
function offsetAt(timeZone: string, at: number): number {
  const digits = "numeric";
  const fields = {
    year: digits,
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    second: digits,
  } as const;
  const format = formats(
    timeZone,
    () => new Intl.DateTimeFormat("en", { timeZone, hourCycle: "h23", ...fields }),
  );
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  const local = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return local - Math.floor(at / 1_000) * 1_000;
}
