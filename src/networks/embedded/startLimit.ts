/** Starts allowed within the window: a process that dies again and again has a problem that another restart doesn't solve. */
const MAX_STARTS = 20;
const WINDOW_MS = 60_000;

/** Creates a counter of recent starts of a process; each call counts one and says whether it is allowed. */
export function createStartLimit(): () => boolean {
  let starts: number[] = [];
  return () => {
    const now = performance.now();
    starts = [...starts.filter((at) => at > now - WINDOW_MS), now];
    return starts.length <= MAX_STARTS;
  };
}
