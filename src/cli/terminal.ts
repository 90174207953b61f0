import pc from "picocolors";

/** Where commands write. */
export interface Terminal {
  /** Writes to standard output, a line end added. */
  readonly out: (text: string) => void;
  /** Writes to standard error, a line end added. */
  readonly err: (text: string) => void;
  /** Colours, which are plain text where the output is no terminal or `NO_COLOR` is set. */
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Whether a person reads both outputs, and no file or program: secrets that nobody asked for go nowhere else. */
  readonly isTerminal: boolean;
}

/** The process's own terminal. Colours only when both outputs are one, so that a redirected one never has any. */
export function createTerminal(): Terminal {
  // A pipe has no `isTTY`, and undefined would let picocolors decide, which colours where `CI` or `FORCE_COLOR` is set.
  const isTerminal = [process.stdout, process.stderr].every((stream) => stream.isTTY);
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    isTerminal,
    colors: pc.createColors(isTerminal && pc.isColorSupported),
  };
}

/**
 * Takes control characters, line ends and tabs apart, out of text that somebody else wrote: it must not move the cursor,
 * change colours or set the title of the terminal that it is shown on.
 */
export function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what is taken out
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}
