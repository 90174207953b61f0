import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Text that waits while nobody takes it; what exceeds this is dropped. */
const MAX_WAITING_BYTES = 1 << 20;
/** Interval between attempts to write what waits. */
const RETRY_MS = 200;
/** Level of a warning in the log. */
const WARN = 40;

/** An output of a process that must neither wait for its output nor end with it. */
export interface SteadyOutput {
  /** Writes a line. Never blocks or throws: what can't be written waits, and beyond a megabyte it is dropped and counted. */
  write(this: void, line: string): void;
}

const opened = new Map<number, SteadyOutput>();

/**
 * Returns the output of a long-lived process, for a log and for messages: one for each descriptor, 1 or 2. A reader that stops reading, a full
 * disk or a closed pipe costs lines, nothing else; how many, it says as soon as it can be written to again.
 */
export function steadyOutput(descriptor: 1 | 2): SteadyOutput {
  const known = opened.get(descriptor);
  if (known !== undefined) return known;
  const target = openNonBlocking(descriptor);
  // A program that reads standard error expects the log's format.
  const isLog = descriptor === 2 && !isatty(2);
  const output = createSteadyOutput(
    (bytes) => writeSync(target, bytes),
    (count) => {
      const msg = `${count} lines were dropped because this output could not be written`;
      return isLog ? JSON.stringify({ level: WARN, time: Date.now(), dropped: count, msg }) : msg;
    },
  );
  opened.set(descriptor, output);
  return output;
}

/** Creates the output over a function that writes some bytes and returns how many, or throws. */
export function createSteadyOutput(
  writeSome: (bytes: Uint8Array) => number,
  describeDropped: (count: number) => string,
): SteadyOutput {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  const add = (line: string): void => {
    const bytes = Buffer.from(`${line}\n`);
    waiting.push(bytes);
    waitingBytes += bytes.length;
  };
  const flush = (): void => {
    let at = 0;
    try {
      for (;;) {
        const next = waiting[at];
        if (next === undefined) {
          waiting = [];
          at = 0;
          if (dropped === 0) break;
          add(describeDropped(dropped));
          dropped = 0;
          continue;
        }
        const count = writeSome(next);
        waitingBytes -= count;
        // The rest of a line is written before anything else.
        if (count < next.length) waiting[at] = next.subarray(count);
        else at += 1;
      }
    } catch {
      waiting = waiting.slice(at);
      timer ??= setInterval(flush, RETRY_MS).unref();
      return;
    }
    clearInterval(timer);
    timer = undefined;
  };

  return {
    write(line) {
      if (waitingBytes + line.length > MAX_WAITING_BYTES) {
        dropped += 1;
        return;
      }
      add(line);
      // While something waits, the timer writes: an attempt for each line would cost a system call each.
      if (timer === undefined) flush();
    },
  };
}

/**
 * Returns a descriptor for the same output on which a write never waits for the reader. Pipes and terminals are opened anew, because the mode
 * of the given descriptor is shared with other processes. Writes to a file don't wait for anybody.
 */
function openNonBlocking(descriptor: 1 | 2): number {
  try {
    if (fstatSync(descriptor).isFile()) return descriptor;
    return openSync(
      `/proc/self/fd/${descriptor}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    // A socket, or another system: Node makes the descriptor non-blocking when it opens its stream.
    void (descriptor === 1 ? process.stdout : process.stderr).writable;
    return descriptor;
  }
}
