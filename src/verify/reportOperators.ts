import type { RequestPartsMeans } from "./randomnessParts.ts";
import { readSignerSets, type SignerSet } from "./signerSet.ts";

/** Who holds the keys that sign a report: several operators, one per node; one operator; or unknown. */
export type ReportOperators =
  | { readonly kind: "several"; readonly nodes: number; readonly faulty: number }
  | { readonly kind: "one" }
  | { readonly kind: "unknown" };

/** The configuration under which a report was signed; `undefined` if the node no longer has it, `unsigned` without a report. */
export type ReportSigners = SignerSet | "unsigned" | undefined;

/**
 * Returns who holds the keys of these configurations, each once. A request without a report waits for those of the coordinator's current one;
 * a report signed before a change keeps its old configuration.
 */
export async function findReportOperators(
  signers: readonly ReportSigners[],
  means: Pick<RequestPartsMeans, "facts" | "book"> & { readonly chainId: number },
): Promise<readonly ReportOperators[]> {
  const sets: (SignerSet | undefined)[] = [];
  for (const one of new Set(signers)) sets.push(one === "unsigned" ? await readCurrent(means) : one);
  const byDigest = new Map(sets.map((set) => [set?.digest, set]));
  return [...byDigest.values()].map((set): ReportOperators => {
    if (set === undefined) return { kind: "unknown" };
    if (set.urls === undefined) return { kind: "one" };
    return { kind: "several", nodes: set.signers.length, faulty: set.faulty };
  });
}

async function readCurrent({
  facts,
  book,
  chainId,
}: Parameters<typeof findReportOperators>[1]): Promise<SignerSet | undefined> {
  const coordinator = book.known().functionsCoordinator;
  if (coordinator === undefined) return undefined;
  try {
    for await (const set of readSignerSets({ coordinator, chainId }, facts)) return set;
  } catch {
    // What is only said, not checked, fails no verification.
  }
  return undefined;
}
