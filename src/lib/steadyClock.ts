/** The wall clock may have gone further than the monotonic one by this. */
const TOLERANCE_MS = 60_000;

/**
 * Creates a check whether the wall clock has not jumped ahead since the last call. Deleting what is old waits for that: a clock that is
 * ahead for a moment must not make everything old.
 *
 * @param now returns the Unix time in milliseconds.
 * @returns a function that returns `false` after a jump, and the first time.
 */
export function createSteadyCheck(now: () => number): () => boolean {
  let last: { readonly wall: number; readonly monotonic: number } | undefined;
  return () => {
    const before = last;
    last = { wall: now(), monotonic: performance.now() };
    return (
      before !== undefined && last.wall - before.wall <= last.monotonic - before.monotonic + TOLERANCE_MS
    );
  };
}
