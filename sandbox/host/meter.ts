import type { RunLimits } from "../run.ts";
import { MAX_CALL_HEADER_BYTES, MAX_CALLS, MAX_CONSOLE_PIECE_BYTES, maxCallBytes } from "./callLimits.ts";
import { FrameError, type Frame, type FrameLimits } from "./frames.ts";
import { TO_PARENT } from "./messages.ts";

/** Longest header of a frame, in bytes: an error with its texts. */
export const MAX_HEADER_BYTES = 128 * 1_024;
/** Nesting of what a child says: a result, its error; one level to spare. */
const MAX_DEPTH = 3;

/**
 * Time that this process spends on children's messages is counted in units of about 10 µs; measured on a busy machine
 * with `test/sandbox/contained/hostileParent.ts`. The header of a host call costs more than its bytes: it is JSON.
 */
const UNITS = { chunk: 3, frame: 2, call: 6, kilobyte: 1, callHeaderKilobyte: 4 };
/** Units a child gets back in a ms: 1.5 % of a core, and twice that on a machine half as fast. */
const UNITS_PER_MS = 1.5;
/** Units a child may spend at once, 2.5 ms: all that a source prints and posts as a rule. */
const MAX_UNITS = 256;
/** Units that come with each run: a child that only answers is never held up, however quick its runs are. */
const UNITS_PER_RUN = 16;

/** Frames of one run besides its console output: host calls, their withdrawals, the result; and some to spare. */
const MAX_FRAMES = 2 * MAX_CALLS + 256;
/** The child gathers what a source prints for this time at least, once it has printed often. */
export const CONSOLE_INTERVAL_MS = 10;
/** Bytes of one run besides what its limits allow: the result's header, and calls beyond their limits, which are empty. */
const MAX_OTHER_BYTES = MAX_HEADER_BYTES + 256 * MAX_CALLS + 64 * 1_024;
/** Longest message that asks for a module, with its frame. */
const IMPORT_BYTES = 8_192;

/** Counts what a child sends, so that it costs this process no more than its share whatever it is made to send. */
export interface Meter {
  /** What the next frame may hold. */
  readonly limits: () => FrameLimits;
  /** A run begins in the child; `undefined`: none, the child may say only that it is ready. */
  readonly begin: (limits: RunLimits | undefined) => void;
  /** Counts a chunk of the stream. */
  readonly chunk: () => void;
  /** Counts a frame. @throws {FrameError} When the run has used up its frames or bytes. */
  readonly take: (frame: Frame) => void;
  /** Time for which nothing more should be read from the child, in ms; 0 as a rule. */
  readonly pauseMs: () => number;
}

/** Creates the meter of a child. */
export function createMeter(): Meter {
  let frameLimits = limitsOf(undefined);
  let framesLeft = 1;
  let bytesLeft = frameLimits.maxHeaderBytes;
  let units = MAX_UNITS;
  let countedMs = performance.now();

  const spend = (spent: number): void => {
    units -= spent;
  };

  return {
    limits: () => frameLimits,
    begin: (limits) => {
      frameLimits = limitsOf(limits);
      framesLeft = limits === undefined ? 1 : framesOf(limits);
      bytesLeft = limits === undefined ? frameLimits.maxHeaderBytes : bytesOf(limits);
      if (limits !== undefined) units = Math.min(MAX_UNITS, units + UNITS_PER_RUN);
    },
    chunk: () => spend(UNITS.chunk),
    take: ({ type, bytes, body }) => {
      framesLeft -= 1;
      bytesLeft -= bytes;
      if (framesLeft < 0) throw new FrameError("more frames than a run may send");
      if (bytesLeft < 0) throw new FrameError("more bytes than a run may send");
      spend(UNITS.frame + (bytes / 1_024) * UNITS.kilobyte);
      if (type !== TO_PARENT.call) return;
      spend(UNITS.call + (Math.min(body.length, MAX_CALL_HEADER_BYTES) / 1_024) * UNITS.callHeaderKilobyte);
    },
    pauseMs: () => {
      const nowMs = performance.now();
      units = Math.min(MAX_UNITS, units + (nowMs - countedMs) * UNITS_PER_MS);
      countedMs = nowMs;
      // Until a tenth is there again: a pause costs a timer.
      return units >= 0 ? 0 : (MAX_UNITS / 10 - units) / UNITS_PER_MS;
    },
  };
}

function limitsOf(limits: RunLimits | undefined): FrameLimits {
  if (limits === undefined) return { maxHeaderBytes: 64, maxBodyBytes: 0, maxDepth: 1 };
  const maxBodyBytes = Math.max(limits.maxResponseBytes, MAX_CONSOLE_PIECE_BYTES, maxCallBytes(limits));
  return { maxHeaderBytes: MAX_HEADER_BYTES, maxBodyBytes, maxDepth: MAX_DEPTH };
}

function framesOf({ timeoutMs, maxConsoleBytes }: RunLimits): number {
  const console = Math.min(maxConsoleBytes, timeoutMs / CONSOLE_INTERVAL_MS);
  return MAX_FRAMES + Math.ceil(console + maxConsoleBytes / MAX_CONSOLE_PIECE_BYTES);
}

function bytesOf(limits: RunLimits): number {
  const { maxResponseBytes, maxConsoleBytes, maxHttpRequests, maxImports } = limits;
  const fetches = Math.min(maxHttpRequests, MAX_CALLS) * (maxCallBytes(limits) + 256);
  const imports = Math.min(maxImports, MAX_CALLS) * IMPORT_BYTES;
  return MAX_OTHER_BYTES + maxResponseBytes + 2 * maxConsoleBytes + fetches + imports;
}
