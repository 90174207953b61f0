import type { Readable } from "node:stream";

/** What a stream over a pipe keeps of its system side; not part of Node's interface. */
interface PipeHandle {
  reading?: boolean;
  readonly readStop?: () => void;
  readonly readStart?: () => void;
}

/**
 * Pauses a stream over a pipe at once. `pause()` alone reads on until 64 KB are kept, which, of a child that writes single
 * bytes, are 65,536 chunks and 0.1 s of this process's time. Where a Node without that handle runs, it is `pause()` alone.
 */
export function stopReading(stream: Readable): void {
  const handle = handleOf(stream);
  if (handle?.reading === true && handle.readStop !== undefined) {
    handle.reading = false;
    handle.readStop();
  }
  stream.pause();
}

/** Goes on with a stream that `stopReading` paused; `resume()` alone takes it for one that still reads. */
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
