/** Returns the result of work that was started before, or starts it. */
export type Memo<Key> = <T>(key: Key, work: () => Promise<T>) => Promise<T>;

/** Creates a memo that keeps each key's promise, even one that rejects: work starts once per key. */
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

/** Returns a function that runs `work` on its first call, and returns the same result to every call. */
export function once<T>(work: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: work() }).value;
}

/** Returns a function that runs `work` on the first call with each key, and returns the same result to every call with it. */
export function onceEach<Key, T>(work: (key: Key) => T): (key: Key) => T {
  const results = new Map<Key, { readonly value: T }>();
  return (key) => {
    const known = results.get(key) ?? { value: work(key) };
    results.set(key, known);
    return known.value;
  };
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
