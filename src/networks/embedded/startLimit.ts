/** A process that dies again and again has a reason that starting it again doesn't remove. */
const MAX_STARTS = 20;
const WINDOW_MS = 60_000;

/** Makes what counts how often a process was started again lately; says whether it may be once more. */
export function createStartLimit(): () => boolean {
  let starts: number[] = [];
  return () => {
    const now = Date.now();
    starts = [...starts.filter((at) => at > now - WINDOW_MS), now];
    return starts.length <= MAX_STARTS;
  };
}
