/** Characters of standard error kept for the operator: the beginning says what went wrong. */
const MAX_KEPT_CHARS = 8_192;
/**
 * Most that is read of it in all, in characters and in pieces: V8's last words come in a few dozen pieces, after whatever
 * preceded them.
 */
const MAX_READ_CHARS = 256 * 1024;
const MAX_READ_CHUNKS = 1_024;
/** Longer than any phrase of {@link OUT_OF_MEMORY}, so that a phrase split across two pieces is found too. */
const OVERLAP_CHARS = 64;

/**
 * What V8, isolated-vm and the C++ runtime print before they abort for lack of memory or address space, or over a size that no
 * memory could hold. V8 lists its last collections only on that path, and unmapping fails only if the kernel can't split any more
 * mappings.
 */
const OUT_OF_MEMORY =
  /out of memory|allocation failed|cannot allocate|bad_alloc|invalid size error|OOM|<--- Last few GCs|0 == munmap/i;

/** A child's standard error, as far as it explains the child's death. */
export interface LastWords {
  /** The first {@link MAX_KEPT_CHARS} characters. */
  readonly text: string;
  /** Whether the child died of memory exhaustion. */
  readonly tellOfMemory: boolean;
  /** Takes a piece; returns `false` if it reads no further piece. */
  readonly hear: (piece: string) => boolean;
}

/** Creates the reader of a child's standard error, which reads at most 256 K characters. */
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

/** Returns a process's output as one line for a log. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").slice(0, 500);
}
