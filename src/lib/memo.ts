/** Returns the result of work that was started before, or starts it. */
export type Memo<Key> = <T>(key: Key, work: () => T) => T;

/** Creates a memo that keeps each key's result, even a promise that rejects: work starts once per key. */
export function createMemo<Key>(): Memo<Key> {
  const results = new Map<Key, { readonly value: unknown }>();
  return <T>(key: Key, work: () => T): T => {
    const known = results.get(key) ?? { value: work() };
    results.set(key, known);
    return known.value as T;
  };
}

/** Returns a function that runs `work` on its first call, and returns the same result to every call. */
export function once<T>(work: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: work() }).value;
}

/**
 * Returns the promise that a map holds for a key, or begins it. One that rejects is taken out, so that the next call begins again.
 */
export function shareByKey<Key, T>(
  promises: {
    get(key: Key): Promise<T> | undefined;
    set(key: Key, promise: Promise<T>): unknown;
    delete(key: Key): unknown;
  },
  key: Key,
  begin: () => Promise<T>,
): Promise<T> {
  const known = promises.get(key);
  if (known !== undefined) return known;
  const begun = begin();
  promises.set(key, begun);
  begun.catch(() => {
    if (promises.get(key) === begun) promises.delete(key);
  });
  return begun;
}

/** Returns a function whose calls share the work in flight; a call after it has ended starts again. */
export function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/**
 * Returns a function that answers at once with the last reading while that is younger than `staleMs`, and starts another one when it is
 * older than `freshMs`. Without a usable one it waits, and rejects if the reading does.
 */
export function keepReading<T>(
  read: () => Promise<T>,
  { freshMs, staleMs }: { readonly freshMs: number; readonly staleMs: number },
): () => Promise<T> {
  let last: { readonly value: T; readonly atMs: number } | undefined;
  const readAgain = shareRunning(async () => {
    const value = await read();
    last = { value, atMs: performance.now() };
    return value;
  });
  return async () => {
    const ageMs = last === undefined ? Infinity : performance.now() - last.atMs;
    if (last !== undefined && ageMs < freshMs) return last.value;
    const next = readAgain();
    if (last === undefined || ageMs >= staleMs) return await next;
    next.catch(() => {});
    return last.value;
  };
}

/** Returns a function that reuses a reading of the same subject for `freshMs`; failed readings are not kept. */
export function remember<T, Subject = void>(
  freshMs: number,
  read: (of: Subject) => Promise<T>,
): (of: Subject) => Promise<T> {
  /** The first to end comes first. */
  const known = new Map<Subject, { readonly reading: Promise<T>; readonly until: number }>();
  return async (of) => {
    const now = performance.now();
    for (const [subject, { until }] of known) {
      if (now < until) break;
      known.delete(subject);
    }
    const current = known.get(of) ?? { reading: read(of), until: now + freshMs };
    known.set(of, current);
    try {
      return await current.reading;
    } catch (error) {
      if (known.get(of) === current) known.delete(of);
      throw error;
    }
  };
}
