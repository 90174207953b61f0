import type { Readable } from "node:stream";
import { createFrameReader, type Frame } from "./frames.ts";
import type { Meter } from "./meter.ts";

/** Chunks of output are read in pieces of this length, in bytes: a chunk of 64 KB may hold thousands of frames. */
const PIECE_BYTES = 4_096;

/** What to do with what is read. */
export interface MeteredReadingOptions {
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
