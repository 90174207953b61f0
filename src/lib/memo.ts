/** Returns the result of work that was begun before, or begins it. */
export type Memo<Key> = <T>(key: Key, work: () => Promise<T>) => Promise<T>;

/** Creates a memo that keeps each key's promise, also one that rejects: work is begun once for each key. */
export function createMemo<Key>(): Memo<Key> {
  const begun = new Map<Key, Promise<unknown>>();
  return <T>(key: Key, work: () => Promise<T>): Promise<T> => {
    const known = begun.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const current = work();
    begun.set(key, current);
    return current;
  };
}

/** Returns a function that does `work` at its first call, and gives every call the same result. */
export function once<T>(work: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: work() }).value;
}

/** Returns a function whose calls share the work that is under way; a call after its end begins anew. */
export function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/** Returns a function that gives everybody the same reading for `freshMs`; one that fails is not kept. */
export function remember<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let until = 0;
  return async () => {
    if (reading !== undefined && performance.now() < until) return await reading;
    const current = read();
    [reading, until] = [current, performance.now() + freshMs];
    try {
      return await current;
    } catch (error) {
      if (reading === current) reading = undefined;
      throw error;
    }
  };
}
