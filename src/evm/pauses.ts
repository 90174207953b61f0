/** Pauses that can be ended early together. */
export interface Pauses {
  /** Waits; resolves to whether it was cut short by {@link Pauses.end}. Ends early, with `false`, when the signal aborts. */
  wait(ms: number): Promise<boolean>;
  /** Ends every pause in progress. */
  end(): void;
}

/** Creates pauses that a signal ends for good. */
export function createPauses(signal: AbortSignal): Pauses {
  const ends = new Set<(isCut: boolean) => void>();
  const endAll = (isCut: boolean): void => {
    for (const end of ends) end(isCut);
  };
  signal.addEventListener("abort", () => endAll(false), { once: true });
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(false);
          return;
        }
        const end = (isCut: boolean): void => {
          clearTimeout(timer);
          ends.delete(end);
          resolve(isCut);
        };
        const timer = setTimeout(() => end(false), ms);
        ends.add(end);
      }),
    end: () => endAll(true),
  };
}
