/**
 * Does some work again and again until stopped: each time at the earliest when the interval has passed and the last time is over.
 * Keeps no process alive.
 *
 * @param onError told when the work rejects; it goes on then.
 * @returns a stop.
 */
export function repeat(
  work: () => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
): () => void {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    work()
      .catch(onError)
      .finally(() => {
        isRunning = false;
      });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
