import type { LogTriggerView, ScheduleView } from "../../../../client/index.ts";
import { countOf } from "../../../../lib/countOf.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const UNITS: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day" };

/** Says what a trigger requests: "draws range (min 1, max 6)". */
export function describeAction(action: ScheduleView["action"]): string {
  const {
    preset,
    random,
    function: source,
    ...params
  } = action as {
    readonly preset?: string;
    readonly random?: { readonly numWords?: unknown };
    readonly function?: unknown;
  };
  if (source !== undefined) return "runs a function";
  if (random !== undefined) {
    const { numWords = 1 } = random;
    return Number(numWords) === 1
      ? "requests a random number"
      : `requests ${textOf(numWords)} random numbers`;
  }
  const given = Object.entries(params).map(([name, value]) => `${name} ${textOf(value)}`);
  return `draws ${preset}${given.length === 0 ? "" : ` (${given.join(", ")})`}`;
}

/** Says when a schedule is due: "every day at 20:00 (UTC)". */
export function describeTimes({
  every,
  cron,
  timeZone,
}: Pick<ScheduleView, "every" | "cron" | "timeZone">): string {
  if (every !== null) return describeDistance(every);
  return `${describeCron(cron ?? "")} (${timeZone})`;
}

/** Says what a schedule does about times that it can't act on, or before the last request has ended. */
export function describeLateness({
  catchUp,
  window,
  overlap,
}: Pick<ScheduleView, "catchUp" | "window" | "overlap">): string {
  const missed = {
    skip: "After an outage, makes none of the missed requests",
    one: `After an outage, makes the newest missed request, up to ${describeDuration(window)} late`,
    all: `After an outage, makes every missed request, up to ${describeDuration(window)} late`,
  };
  const early = {
    skip: "makes none while the last one has not ended",
    allow: "makes one even while the last one has not ended",
  };
  return `${missed[catchUp]}; ${early[overlap]}.`;
}

/** Says for which logs a log trigger acts: "when 0x5fbd…0aa3 emits Closed". */
export function describeLogs({
  addresses,
  event,
  confidence,
}: Pick<LogTriggerView, "addresses" | "event" | "confidence">): string {
  const [first = ""] = addresses;
  const contract =
    addresses.length === 1
      ? `${first.slice(0, 6)}…${first.slice(-4)}`
      : `one of ${addresses.length} contracts`;
  const name = event === null ? "a log with its topics" : /^event\s+(\w+)/.exec(event)?.[1];
  const once = { latest: "", safe: ", once its block is safe", finalized: ", once its block is final" };
  return `when ${contract} emits ${name}${once[confidence]}`;
}

function describeDistance(every: string): string {
  return `every ${describeDuration(every).replace(/^1 /, "")}`;
}

/** Writes `90s` as "90 seconds". */
function describeDuration(text: string): string {
  return countOf(Number(text.slice(0, -1)), UNITS[text.slice(-1)]!);
}

/** Puts the usual cron expressions in words; names others as they are. */
function describeCron(cron: string): string {
  const [minute = "", hour = "", day, month, weekday = "", ...more] = cron.trim().split(/\s+/);
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (/^\d\d:\d\d$/.test(time) && day === "*" && month === "*" && more.length === 0) {
    if (weekday === "*") return `every day at ${time}`;
    if (weekday === "1-5") return `Monday to Friday at ${time}`;
    const name = DAYS[Number(weekday)];
    if (name !== undefined) return `every ${name} at ${time}`;
  }
  return `at ${cron}`;
}

/** Values of parameters for a line of text; `{"event": "players"}` is a value of the log. */
function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  const { event } = value as { readonly event?: unknown };
  return typeof event === "string" ? `${event} of the log` : JSON.stringify(value);
}
