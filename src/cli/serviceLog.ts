import type { Logger } from "pino";
import type { PresetProblem } from "../api/types.ts";
import { steadyOutput } from "./steadyOutput.ts";
import { oneLine, type Terminal, withoutControls } from "./terminal.ts";
import { formatPresetProblem } from "../presets/presetProblem.ts";

/**
 * Creates the log of a service: JSON lines on standard error, or readable lines if a person reads the terminal that is given. Writing a line
 * never blocks or throws; see `steadyOutput`.
 */
export async function createLog(level: string, terminal?: Terminal): Promise<Logger> {
  // No other command needs them.
  const [{ pino }, { LOG_REDACTION, redactLine }] = await Promise.all([
    import("pino"),
    import("./logRedaction.ts"),
  ]);
  return pino(
    { level, redact: LOG_REDACTION, hooks: { streamWrite: redactLine } },
    {
      write: terminal?.isTerminal
        ? (line: string) => terminal.err(formatLogLine(line, terminal.colors))
        : (line: string) => steadyOutput(2).write(line.trimEnd()),
    },
  );
}

/** Marks by pino's levels, which are 10 to 60 in steps of ten. */
const MARKS = { 40: "!", 50: "✗", 60: "✗" } as const;

/** Members to hide: either the line itself shows them, or they are of no use at a terminal. */
const HIDDEN = new Set(["level", "time", "pid", "hostname", "msg", "err", "problem", "problems"]);

/**
 * Formats a log line for people: time, message and facts on one line; problems of a preset in the style of compilers; an error's
 * message, with its stack at the level `error`. Returns a line that is not pino's unchanged.
 */
export function formatLogLine(line: string, colors: Terminal["colors"]): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return line.trimEnd();
  }
  const { level, time, msg, err, problem, problems } = entry;
  const isError = Number(level) >= 50;
  const color = isError ? colors.red : Number(level) >= 40 ? colors.yellow : colors.dim;
  const mark = color(MARKS[Number(level) as keyof typeof MARKS] ?? "·");
  const clock = colors.dim(new Date(Number(time)).toISOString().slice(11, 19));
  const facts = Object.entries(entry)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const lines = [
    `${clock} ${mark} ${withoutControls(typeof msg === "string" ? msg : "")} ${colors.dim(oneLine(facts))}`.trimEnd(),
  ];
  for (const one of [problem, ...(Array.isArray(problems) ? problems : [])])
    if (isProblem(one)) lines.push(`         ${color("✗")} ${oneLine(formatPresetProblem(one))}`);
  const { message, stack } = (err ?? {}) as { readonly message?: string; readonly stack?: string };
  const shown = isError ? (stack ?? message) : message;
  if (shown !== undefined) lines.push(withoutControls(shown).replaceAll(/^/gm, "         "));
  return lines.join("\n");
}

function isProblem(value: unknown): value is PresetProblem {
  return typeof value === "object" && value !== null && "file" in value && "reason" in value;
}
