import type { Pipelining } from "../../evm/pipelining.ts";

/** Decides when one account's next transaction begins. */
interface Turns {
  /**
   * Resolves when the next transaction may begin: at once if none is in flight; beside others, when there is enough for a
   * full one or the pace allows it.
   */
  next(): Promise<void>;
  /** Resolves when one more transaction may be in flight. */
  place(): Promise<void>;
  /** Runs work, which never rejects, as a transaction in flight. */
  run(work: () => Promise<void>): void;
  /** Resolves when none is in flight. */
  idle(): Promise<void>;
  /** Checks again whether there is enough for a full transaction. */
  look(): void;
}

/** Creates the turns of one account. Once `signal` aborts, nothing waits any more. */
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

  /** @param withinMs longest time until the condition is checked again. */
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
