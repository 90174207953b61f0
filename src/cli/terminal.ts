import pc from "picocolors";

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
  // A pipe has no `isTTY`, and undefined would let picocolors decide, which enables colors when `CI` or `FORCE_COLOR` is
  // set.
  const isTerminal = [process.stdout, process.stderr].every((stream) => stream.isTTY);
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    isTerminal,
    colors: pc.createColors(isTerminal && pc.isColorSupported),
  };
}

/**
 * Removes control characters, except line breaks and tabs, from untrusted text: it must not move the cursor, change
 * colors or set the title of the terminal that shows it.
 */
export function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what is taken out
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}
