/**
 * Repeats work until stopped: a run starts when the interval has passed and the previous run is over. Doesn't keep the process alive.
 *
 * @param onError called when the work rejects; the repetition continues.
 * @param options `startsNow`: whether the first run starts at once instead of after the interval. Default `false`.
 * @returns a function that stops it.
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
