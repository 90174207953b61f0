import { decodeResults, encodeResults } from "../../chainlink/presetReport.ts";
import type { Observation } from "../aggregateObservations.ts";
import { agree } from "./agree.ts";

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
