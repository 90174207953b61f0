import type { Readable } from "node:stream";
import {
  type RunLimits,
  MAX_CALL_HEADER_BYTES,
  MAX_CALLS,
  MAX_CONSOLE_PIECE_BYTES,
  maxCallBytes,
} from "../limits.ts";
import { createFrameReader, FrameError, type Frame, type FrameLimits } from "./frames.ts";
import { TO_PARENT } from "./messages.ts";

/** Longest header of a frame, in bytes: an error with its texts. */
export const MAX_HEADER_BYTES = 128 * 1_024;
/** Nesting of a child's header: a result, its error, and one level to spare. */
const MAX_DEPTH = 3;

/**
 * Time that this process spends on children's messages, counted in units of about 10 µs; measured on a busy machine with
 * `test/sandbox/contained/hostileParent.ts`. A host call's header costs more than its bytes, because it is JSON.
 */
const UNITS = { chunk: 3, frame: 2, call: 6, kilobyte: 1, callHeaderKilobyte: 4 };
/** Units that a child regains per ms: 1.5 % of a core, and twice that on a machine half as fast. */
const UNITS_PER_MS = 1.5;
/** Units that a child may spend at once, 2.5 ms: usually all that a source prints and posts. */
const MAX_UNITS = 256;
/** Units granted with each run: a child that only answers is never held up, however quick its runs. */
const UNITS_PER_RUN = 16;

/** Frames of one run besides its console output: host calls, their cancellations and the result, with some to spare. */
const MAX_FRAMES = 2 * MAX_CALLS + 256;
/** Minimum time for which the child collects a source's output once it has printed often. */
export const CONSOLE_INTERVAL_MS = 10;
/** Bytes of one run besides what its limits allow: the result's header, and calls over their limits, which are empty. */
const MAX_OTHER_BYTES = MAX_HEADER_BYTES + 256 * MAX_CALLS + 64 * 1_024;
/** Longest message that asks for a module, including its frame, in bytes. */
const IMPORT_BYTES = 8_192;

/** Counts what a child sends, so that it costs this process no more than its share whatever it is made to send. */
export interface Meter {
  /** Returns the limits of the next frame. */
  readonly limits: () => FrameLimits;
  /** Starts a run in the child; `undefined`: none, the child may only say that it is ready. */
  readonly begin: (limits: RunLimits | undefined) => void;
  /** Counts a chunk of the stream. */
  readonly chunk: () => void;
  /** Counts a frame. @throws {FrameError} If the run has used up its frames or bytes. */
  readonly take: (frame: Frame) => void;
  /** Returns how long to stop reading from the child, in ms; usually 0. */
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
      // Pauses until a tenth is available again: each pause costs a timer.
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

/** Chunks of output are read in pieces of this length, in bytes: a chunk of 64 KB may hold thousands of frames. */
const PIECE_BYTES = 4_096;

/** What to do with what is read. */
interface MeteredReadingOptions {
  /** Says how much may be read from the child now. */
  readonly meter: Meter;
  /** Takes a frame; if it throws, that is a breach. */
  readonly onFrame: (frame: Frame) => void;
  /** Called on bytes that are not frames, or on a refused frame. */
  readonly onBreach: () => void;
}

/**
 * Reads a child's frames no faster than its meter allows. Nothing that the child writes makes it throw. `stop` ends it for good.
 */
export function readMetered(
  output: Readable | null,
  { meter, onFrame, onBreach }: MeteredReadingOptions,
): { readonly stop: () => void } {
  let isStopped = false;
  let pause: NodeJS.Timeout | undefined;
  const read = createFrameReader({
    limits: meter.limits,
    onFrame: (frame) => {
      if (isStopped) return;
      meter.take(frame);
      onFrame(frame);
    },
  });

  /** Reads as much of a chunk as the meter allows, and the rest later. */
  function hear(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !isStopped; at += PIECE_BYTES) {
      const pauseMs = meter.pauseMs();
      if (pauseMs > 0) {
        // Left in the pipe, output costs nothing here, and the child blocks when the pipe is full.
        if (output !== null) stopReading(output);
        pause = setTimeout(() => {
          hear(chunk.subarray(at));
          if (pause === undefined && output !== null) startReading(output);
        }, pauseMs);
        return;
      }
      try {
        read(chunk.subarray(at, at + PIECE_BYTES));
      } catch {
        return onBreach();
      }
    }
    pause = undefined;
  }

  output?.on("data", (chunk: Buffer) => {
    meter.chunk();
    hear(chunk);
  });
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(pause);
    },
  };
}

/** The system side of a stream over a pipe; not part of Node's public interface. */
interface PipeHandle {
  reading?: boolean;
  readonly readStop?: () => void;
  readonly readStart?: () => void;
}

/**
 * Pauses a stream over a pipe immediately. `pause()` alone keeps reading until 64 KB are buffered; from a child that
 * writes single bytes, that is 65,536 chunks and 0.1 s of this process's time. On a Node without that handle, it falls
 * back to `pause()` alone.
 */
function stopReading(stream: Readable): void {
  const handle = handleOf(stream);
  if (handle?.reading === true && handle.readStop !== undefined) {
    handle.reading = false;
    handle.readStop();
  }
  stream.pause();
}

/** Resumes a stream that `stopReading` paused; `resume()` alone would assume that it is still reading. */
function startReading(stream: Readable): void {
  const handle = handleOf(stream);
  if (handle?.reading === false && handle.readStart !== undefined) {
    handle.reading = true;
    handle.readStart();
  }
  stream.resume();
}

function handleOf(stream: Readable): PipeHandle | null | undefined {
  return (stream as { readonly _handle?: PipeHandle | null })._handle;
}
