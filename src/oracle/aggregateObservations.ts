/** The outcome of a request for one node or the whole network: the source's result, or the text of its error. */
export interface Observation {
  readonly ok: boolean;
  /** Result bytes, or the error text in UTF-8. */
  readonly bytes: Uint8Array;
}

/**
 * Aggregates the nodes' observations as the public oracle network did: if there are more results than errors, the median of the results
 * (ordered by length, then bytes; index floor((n − 1) / 2)); otherwise the most common error, and of several the first in that order.
 *
 * At most f faulty nodes of 3f + 1 can't push the median outside what honest nodes saw.
 *
 * @throws RangeError when there are no observations.
 */
export function aggregate(observations: readonly Observation[]): Observation {
  if (observations.length === 0) throw new RangeError("no observations to aggregate");
  const results = observations.filter(({ ok }) => ok).toSorted(byLengthThenBytes);
  const errors = observations.filter(({ ok }) => !ok).toSorted(byLengthThenBytes);
  if (results.length > errors.length) return results[Math.floor((results.length - 1) / 2)]!;
  return mostCommon(errors);
}

/** Orders observations: errors before results, then by length, then by bytes; 0 if two are equal. */
export function compareObservations(a: Observation, b: Observation): number {
  return Number(a.ok) - Number(b.ok) || byLengthThenBytes(a, b);
}

function byLengthThenBytes(a: Observation, b: Observation): number {
  return a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes);
}

function mostCommon(sorted: readonly Observation[]): Observation {
  let [best, bestCount, count] = [sorted[0]!, 0, 0];
  for (const [index, observation] of sorted.entries()) {
    const previous = sorted[index - 1];
    count = previous && Buffer.compare(previous.bytes, observation.bytes) === 0 ? count + 1 : 1;
    if (count > bestCount) [best, bestCount] = [observation, count];
  }
  return best;
}
