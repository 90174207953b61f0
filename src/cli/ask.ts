import { createInterface } from "node:readline/promises";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

/**
 * Asks a yes/no question. Only `y` or `yes` agrees; anything else declines, including Ctrl+C and Ctrl+D.
 *
 * @throws {UsageError} when no person reads the output.
 */
export async function ask(question: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.isTerminal) throw new UsageError("confirmation needs a terminal; add --yes to skip it");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    terminal.out("");
    return false;
  } finally {
    lines.close();
  }
}
