/** A line that shows a command's progress, and disappears once the command has ended. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

/** Shorter operations show no progress. */
const DELAY_MS = 1_000;
const CLEAR_LINE = "\r\u001b[K";

/**
 * Creates a progress line.
 *
 * @param options.isTerminal whether a person reads the output; files and programs get nothing
 * @param options.write writes text as it is. Default: to standard error
 * @param options.now milliseconds. Default: `performance.now`
 */
export function createProgress(options: {
  readonly isTerminal: boolean;
  readonly write?: (text: string) => void;
  readonly now?: () => number;
}): Progress {
  const {
    isTerminal,
    write = (text) => void process.stderr.write(text),
    now = () => performance.now(),
  } = options;
  const began = now();
  let isShown = false;
  return {
    show(text) {
      if (!isTerminal || now() - began < DELAY_MS) return;
      isShown = true;
      write(`${CLEAR_LINE}${text}`);
    },
    clear() {
      if (isShown) write(CLEAR_LINE);
      isShown = false;
    },
  };
}
