/** Flushes of one file that are shared by those who ask for them at the same time. */
export interface SharedFlush {
  /** Resolves when everything written before the call is on disk; rejects when that flush fails. */
  run(): Promise<void>;
  /** The last flush begun or waiting; `undefined` while there is none. */
  underWay(): Promise<void> | undefined;
}

/** Creates what runs one flush at a time: calls that come while one is under way wait for it, and share the next. */
export function shareFlush(flush: () => Promise<void>): SharedFlush {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const begin = (): Promise<void> => {
    running = flush().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    run() {
      if (running === undefined) return begin();
      // The one under way may have begun before what was written last.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined;
          return begin();
        });
      return next;
    },
    underWay: () => next ?? running,
  };
}
