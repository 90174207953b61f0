/** A working database answers sooner, also under load: what takes longer waits for a lock, or for a server that has stopped. */
const SLOW_MS = 5_000;

/** Statements in flight. */
export interface Statements {
  /** Counts `work` as in flight until it settles; settles as it does. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Whether one has been waiting for five seconds. */
  isSlow(): boolean;
}

/** Creates the record of a database's statements in flight. */
export function createStatements(): Statements {
  const begun = new Set<{ readonly atMs: number }>();
  return {
    async run(work) {
      const one = { atMs: performance.now() };
      begun.add(one);
      try {
        return await work();
      } finally {
        begun.delete(one);
      }
    },
    isSlow() {
      const [oldest] = begun;
      return oldest !== undefined && performance.now() - oldest.atMs >= SLOW_MS;
    },
  };
}
