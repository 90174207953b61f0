import type { Logger } from "pino";
import { formatLogLine } from "./readableLog.ts";
import { steadyOutput } from "./steadyOutput.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Creates the log of a service: JSON lines on standard error, or readable lines if a person reads the terminal that is given. Writing a line
 * never blocks or throws; see `steadyOutput`.
 */
export async function createLog(level: string, terminal?: Terminal): Promise<Logger> {
  // No other command needs them.
  const [{ pino }, { LOG_REDACTION, redactLine }] = await Promise.all([
    import("pino"),
    import("../lib/logRedaction.ts"),
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
