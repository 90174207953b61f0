/** Runs something once the current code has ended. */
export const queue = (work: () => void): void => void Promise.resolve().then(work);

/** Turns a synchronous function into one that reports to a callback, its last argument. */
export const calledBack =
  (work: (...args: never[]) => unknown) =>
  (...args: unknown[]): void => {
    const callback = args.pop() as (error: unknown, result?: unknown) => void;
    queue(() => {
      let result: unknown;
      try {
        result = Reflect.apply(work, undefined, args) as unknown;
      } catch (error) {
        callback(error);
        return;
      }
      callback(null, result);
    });
  };
