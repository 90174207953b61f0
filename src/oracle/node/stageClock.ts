/** Blocks that must pass without the answer: what a node transmits in time is in the first or the second. */
const STAGE_BLOCKS = 2n;
/** Shortest stage, for chains whose blocks come faster than messages between nodes and a transaction travel. */
const SHORTEST_STAGE_MS = 2_000;
/** Longest stage, for chains on which blocks come only when somebody sends something; two of Ethereum's take 24 s. */
const STAGE_MS = 30_000;
/** Longest of the longer stages after the first cycles: an answer that the chain does not take costs gas at each stage. */
const LONGEST_STAGE_MS = 600_000;

/** Measures stages by the chain's blocks. */
export interface StageClock {
  /**
   * Calls back once, when `factor` times two blocks have passed, and two seconds; or after `factor` times 30 seconds. Returns a function
   * that cancels it.
   */
  start(factor: number, onOver: () => void): () => void;
  onBlock(number: bigint): void;
  onReorg(firstReplaced: bigint): void;
}

/** Creates the clock of one chain. */
export function createStageClock(): StageClock {
  let head: bigint | undefined;
  const reviews = new Set<() => void>();
  return {
    start(factor, onOver) {
      const from = head;
      const longestMs = Math.min(STAGE_MS * factor, LONGEST_STAGE_MS);
      const startMs = performance.now();
      let timer: NodeJS.Timeout;
      const wait = (ms: number): void => {
        timer = setTimeout(review, ms).unref();
      };
      const cancel = (): void => {
        clearTimeout(timer);
        reviews.delete(review);
      };
      function review(): void {
        const elapsedMs = performance.now() - startMs;
        const hasPassed =
          from !== undefined && head !== undefined && head - from >= STAGE_BLOCKS * BigInt(factor);
        const leftMs = (hasPassed ? Math.min(SHORTEST_STAGE_MS, longestMs) : longestMs) - elapsedMs;
        clearTimeout(timer);
        // A timer may fire a fraction of a millisecond early.
        if (leftMs >= 1) return wait(leftMs);
        cancel();
        onOver();
      }
      reviews.add(review);
      wait(longestMs);
      return cancel;
    },
    onReorg(firstReplaced) {
      head = firstReplaced - 1n;
    },
    onBlock(number) {
      // Logs that an RPC node omitted arrive with an earlier block.
      if (head !== undefined && number <= head) return;
      head = number;
      for (const review of reviews) review();
    },
  };
}
