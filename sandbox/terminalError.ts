import { CRASH_TEXT, type RunError } from "./run.ts";

/**
 * Formats what ends Deno itself, a syntax error or an uncaught error, as Deno prints it on standard error, without colours. `""` for everything
 * else: what a source throws is its result and is not printed.
 */
export function formatTerminalError(source: string, error: RunError): string {
  const { kind, message, detail, line, column = 1 } = error;
  if (message !== CRASH_TEXT || detail === undefined || (kind !== "syntax" && kind !== "thrown")) return "";
  const text = line === undefined ? undefined : source.split(/\r\n|[\n\r]/)[line - 1];
  const at = line === undefined ? "" : `    at source.js:${line}:${column}\n`;
  if (kind === "thrown") {
    const shown = text === undefined ? "" : `${text}\n${" ".repeat(column - 1)}^\n`;
    return `error: Uncaught ${detail}\n${shown}${at}`;
  }
  const width = String(line).length;
  const frame =
    text === undefined
      ? ""
      : `${" ".repeat(width)} |\n${line} | ${text}\n${" ".repeat(width)} | ${" ".repeat(column - 1)}~\n`;
  return `error: SyntaxError: ${detail}\n${frame}${at}`;
}
