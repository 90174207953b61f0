/** Runs something once the code that is running has ended. */
export const queue = (work: () => void): void => void Promise.resolve().then(work);

/** The form that calls back, of one that answers at once. */
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
