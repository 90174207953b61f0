/** Flushes of one file, shared by concurrent callers. */
export interface SharedFlush {
  /** Resolves once everything written before the call is on disk; rejects if that flush fails. */
  run(): Promise<void>;
  /** Returns the latest flush that is in flight or waiting; `undefined` if there is none. */
  underWay(): Promise<void> | undefined;
}

/** Creates a runner for one flush at a time: calls that arrive while one is in flight wait for it and share the next. */
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
      // The flush in flight may have started before the latest write.
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
