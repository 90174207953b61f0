import type { Readable } from "node:stream";

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
export function stopReading(stream: Readable): void {
  const handle = handleOf(stream);
  if (handle?.reading === true && handle.readStop !== undefined) {
    handle.reading = false;
    handle.readStop();
  }
  stream.pause();
}

/** Resumes a stream that `stopReading` paused; `resume()` alone would assume that it is still reading. */
export function startReading(stream: Readable): void {
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
