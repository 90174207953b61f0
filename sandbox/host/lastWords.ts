/** What is kept of standard error for the operator, in characters: the beginning says what went wrong. */
const MAX_KEPT_CHARS = 8_192;
/** What is read of it in all, in characters and in pieces: V8's last words come in some dozens, after whatever went before. */
const MAX_READ_CHARS = 256 * 1024;
const MAX_READ_CHUNKS = 1_024;
/** Longer than any phrase of {@link OUT_OF_MEMORY}: one that two pieces share is found, too. */
const OVERLAP_CHARS = 64;

/**
 * What V8, isolated-vm and the C++ runtime print before they abort for want of memory or of address space, or over a size that no
 * memory would hold. V8 lists its last collections on the way to that end alone, and unmapping fails only where the kernel
 * can't split a mapping any more.
 */
const OUT_OF_MEMORY =
  /out of memory|allocation failed|cannot allocate|bad_alloc|invalid size error|OOM|<--- Last few GCs|0 == munmap/i;

/** What a child wrote to standard error, as far as it tells why it died. */
export interface LastWords {
  /** The first {@link MAX_KEPT_CHARS} characters. */
  readonly text: string;
  /** Whether memory is what it died of. */
  readonly tellOfMemory: boolean;
  /** Takes a piece; `false` if that was the last one to be heard. */
  readonly hear: (piece: string) => boolean;
}

/** Creates the reader of a child's standard error, at most 256 KB of it. */
export function createLastWords(): LastWords {
  let kept = "";
  let end = "";
  let chars = 0;
  let chunks = 0;
  let tellOfMemory = false;
  return {
    get text() {
      return kept.trim();
    },
    get tellOfMemory() {
      return tellOfMemory;
    },
    hear: (piece) => {
      if (kept.length < MAX_KEPT_CHARS) kept = (kept + piece).slice(0, MAX_KEPT_CHARS);
      tellOfMemory ||= OUT_OF_MEMORY.test(end + piece);
      end = (end + piece).slice(-OVERLAP_CHARS);
      chars += piece.length;
      chunks += 1;
      return chars < MAX_READ_CHARS && chunks < MAX_READ_CHUNKS;
    },
  };
}

/** Returns what a process wrote as one line for a log. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").slice(0, 500);
}
