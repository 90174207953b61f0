import type { Pipelining } from "../evm/pipelining.ts";

/** When one account's next transaction begins. */
export interface Turns {
  /**
   * Resolves when the next transaction may begin: at once beside none; beside others when there is enough for a full one, or when the
   * pace has come.
   */
  next(): Promise<void>;
  /** Resolves when there is a place for one more beside those under way. */
  place(): Promise<void>;
  /** Runs work, which never rejects, as a transaction under way. */
  run(work: () => Promise<void>): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
  /** There may be enough for a full one now. */
  look(): void;
}

/** Creates the turns of one account. Once aborted, nobody waits any more. */
export function createTurns(
  options: Partial<Pick<Pipelining, "maxInFlight" | "paceMs">> & {
    readonly isFull: () => boolean;
    readonly signal: AbortSignal;
  },
): Turns {
  const { maxInFlight = 1, paceMs = 0, isFull, signal } = options;
  const underWay = new Set<Promise<void>>();
  let lastBegin = -Infinity;
  let wake = (): void => {};
  signal.addEventListener("abort", () => wake(), { once: true });

  /** @param withinMs longest time until it is looked at again. */
  const change = async (withinMs?: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (withinMs !== undefined) timer = setTimeout(resolve, Math.ceil(withinMs));
    });
    clearTimeout(timer);
  };

  const until = async (isSo: () => boolean, pauseMs?: () => number): Promise<void> => {
    while (!signal.aborted && !isSo()) await change(pauseMs?.());
  };

  const hasPlace = (): boolean => underWay.size < maxInFlight;
  const paceLeftMs = (): number => lastBegin + paceMs - performance.now();

  return {
    async next() {
      await until(hasPlace);
      await until(() => underWay.size === 0 || isFull() || paceLeftMs() <= 0, paceLeftMs);
      if (!isFull()) lastBegin = performance.now();
    },
    place: () => until(hasPlace),
    run(work) {
      const done = work().finally(() => {
        underWay.delete(done);
        wake();
      });
      underWay.add(done);
    },
    async idle() {
      await Promise.all(underWay);
    },
    look: () => wake(),
  };
}
