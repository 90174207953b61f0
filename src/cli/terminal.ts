import pc from "picocolors";
import { steadyOutput } from "./steadyOutput.ts";

/** Output streams of the commands. */
export interface Terminal {
  /** Writes a line to standard output. */
  readonly out: (text: string) => void;
  /** Writes a line to standard error. */
  readonly err: (text: string) => void;
  /** Colors; they add nothing if the output is not a terminal or `NO_COLOR` is set. */
  readonly colors: ReturnType<typeof pc.createColors>;
  /**
   * Whether a person reads both outputs, rather than a file or a program: only then are secrets shown that nobody asked
   * for.
   */
  readonly isTerminal: boolean;
}

/**
 * Creates the process's own terminal. Uses colors only if both outputs are a terminal, so that a redirected one never
 * contains any.
 */
export function createTerminal(): Terminal {
  return createTerminalOver(
    (line) => void process.stdout.write(`${line}\n`),
    (line) => void process.stderr.write(`${line}\n`),
  );
}

/** Creates the terminal of a process that serves: its outputs never block or end it. */
export function createServiceTerminal(): Terminal {
  return createTerminalOver(steadyOutput(1).write, steadyOutput(2).write);
}

function createTerminalOver(out: (line: string) => void, err: (line: string) => void): Terminal {
  // A pipe has no `isTTY`, and undefined would let picocolors decide, which enables colors when `CI` or `FORCE_COLOR` is
  // set.
  const isTerminal = [process.stdout, process.stderr].every((stream) => stream.isTTY);
  return {
    out: (text) => out(process.stdout.isTTY ? forTerminal(text) : text),
    err: (text) => err(process.stderr.isTTY ? forTerminal(text) : text),
    isTerminal,
    colors: pc.createColors(isTerminal && pc.isColorSupported),
  };
}

/** Returns a line as a terminal may get it: of the escape sequences only colors are left, which can't do any harm. */
export function forTerminal(line: string): string {
  // eslint-disable-next-line no-control-regex -- what picocolors writes
  const parts = line.split(/(\u001b\[\d{1,2}m)/);
  return parts.map((part, i) => (i % 2 === 0 ? withoutControls(part) : part)).join("");
}

/** Control characters except line breaks and tabs, and what reorders or breaks the text around it. */
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

/**
 * Replaces control characters, except line breaks and tabs, in untrusted text: it must not move the cursor, change
 * colors, set the title of the terminal that shows it, or reorder its neighbours.
 */
export function withoutControls(text: string): string {
  return text.replaceAll(new RegExp(CONTROLS, "gu"), "\ufffd");
}

/** Returns untrusted text as part of one line, so that it can't pass for lines of ours. */
export function oneLine(text: string): string {
  return withoutControls(text).replaceAll(/\s+/g, " ");
}

/** Whether a text is one that a terminal may show unchanged. */
export function isReadable(text: string): boolean {
  // The replacement character says that the bytes were no text.
  return !CONTROLS.test(text) && !text.includes("\ufffd");
}
