import { DISAGREED } from "../../text/failure.ts";
import { type Observation, compareObservations } from "../aggregateObservations.ts";
import { decodeResults, encodeResults } from "../../chainlink/presetReport.ts";

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

/** What a node counts as having observed of an item that its observation does not hold. */
const NOTHING: Observation = { ok: false, bytes: new Uint8Array() };

/**
 * Returns the result of 2f + 1 observations of a batch, each the packed results of its items (`encodeResults`): that of `agree` for each
 * item on its own. An observation that is not of so many items counts as one of empty errors.
 */
export function agreeOnItems(
  observations: readonly Observation[],
  { faulty, items }: { readonly faulty: number; readonly items: number },
): Observation {
  const unpacked = observations.map((one) => unpack(one, items));
  const agreed = Array.from({ length: items }, (_, item) =>
    agree(
      unpacked.map((results) => results?.[item] ?? NOTHING),
      faulty,
    ),
  );
  return { ok: true, bytes: encodeResults(agreed) };
}

function unpack({ ok, bytes }: Observation, items: number): readonly Observation[] | undefined {
  if (!ok) return undefined;
  try {
    const results = decodeResults(bytes);
    return results.length === items ? results : undefined;
  } catch {
    return undefined;
  }
}
