import { createInterface } from "node:readline/promises";
import { TycheError } from "../lib/errors.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Asks a yes/no question. Only `y` or `yes` agrees; anything else declines, including Ctrl+C and Ctrl+D.
 *
 * @throws {NobodyToAskError} when no person reads the output.
 */
export async function ask(question: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.isTerminal) throw new NobodyToAskError();
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

class NobodyToAskError extends TycheError {
  constructor() {
    super("confirmation needs a terminal; add --yes to skip it", {
      code: "invalid_parameter",
      blame: "caller",
    });
  }
}
