import { DISAGREED } from "../../lib/failureText.ts";
import { type Observation, compareObservations } from "../aggregateObservations.ts";

/** Bytes of a number; results of any other length are only compared as a whole. */
const WORD_BYTES = 32;

/** What the network reports if its nodes' observations differ too much. */
export const DISAGREEMENT: Observation = {
  ok: false,
  bytes: new TextEncoder().encode(DISAGREED),
};

/**
 * Returns the result of 2f + 1 observations:
 * 1. the one that f + 1 of them share, for one of those is honest;
 * 2. otherwise, of f + 1 or more results of 32 bytes, the median (big-endian, index ⌊(m − 1) / 2⌋);
 * 3. otherwise {@link DISAGREEMENT}.
 *
 * If all honest nodes saw numbers, at most f faulty ones can't push the median outside what honest nodes saw.
 */
export function agree(observations: readonly Observation[], faulty: number): Observation {
  const sorted = observations.toSorted(compareObservations);
  for (let last = faulty; last < sorted.length; last += 1)
    if (compareObservations(sorted[last - faulty]!, sorted[last]!) === 0) return sorted[last]!;
  const words = sorted.filter(({ ok, bytes }) => ok && bytes.length === WORD_BYTES);
  return words.length > faulty ? words[Math.floor((words.length - 1) / 2)]! : DISAGREEMENT;
}
