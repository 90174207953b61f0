/**
 * Does some work again and again until stopped: each time at the earliest when the interval has passed and the last time is over.
 * Keeps no process alive.
 *
 * @param onError told when the work rejects; it goes on then.
 * @param options `startsNow`: whether the first time is at once instead of after the interval. Default `false`.
 * @returns a stop.
 */
export function repeat(
  work: () => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
  { startsNow = false }: { readonly startsNow?: boolean } = {},
): () => void {
  let isRunning = false;
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    work()
      .catch(onError)
      .finally(() => {
        isRunning = false;
      });
  };
  const timer = setInterval(run, intervalMs);
  timer.unref();
  if (startsNow) run();
  return () => clearInterval(timer);
}
