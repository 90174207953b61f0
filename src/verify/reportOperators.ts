import type { Hex } from "viem";
import { decodeTransmission } from "../chainlink/calldata.ts";
import type { RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { findSignerSet, readLatestConfig } from "./signerSet.ts";

/**
 * Who holds the keys that sign a report: several operators, one per node; one operator; or unknown. `unsent`: nothing names the coordinator
 * yet.
 */
export type ReportOperators =
  | { readonly kind: "several"; readonly nodes: number; readonly faulty: number }
  | { readonly kind: "one" }
  | { readonly kind: "unsent" }
  | { readonly kind: "unknown" };

/**
 * Returns who holds the keys of the configurations under which the reports on these requests were signed, each once; for a request without a
 * report, those of the coordinator's current one. A report signed before a change keeps its old configuration.
 */
export async function findReportOperators(
  found: readonly RequestParts[],
  means: RequestPartsMeans & { readonly chainId: number },
): Promise<readonly ReportOperators[]> {
  const digests = await Promise.all(
    found.filter(({ kind }) => kind !== "random").map((parts) => findDigest(parts, means)),
  );
  return await Promise.all([...new Set(digests)].map((digest) => findOperators(digest, means)));
}

/** Returns the configuration digest of a request's report; `undefined` without one. */
async function findDigest(
  { functions }: RequestParts,
  { facts }: RequestPartsMeans,
): Promise<Hex | undefined> {
  const hash = functions?.processed?.log.transactionHash;
  return hash === undefined
    ? undefined
    : decodeTransmission((await facts.getTransaction(hash)).input)?.context[0];
}

async function findOperators(
  digest: Hex | undefined,
  { facts, book, chainId }: RequestPartsMeans & { readonly chainId: number },
): Promise<ReportOperators> {
  const coordinator = book.known().functionsCoordinator;
  if (coordinator === undefined) return { kind: "unsent" };
  try {
    const configDigest = digest ?? (await readLatestConfig(coordinator, facts)).configDigest;
    const set = await findSignerSet({ coordinator, chainId, configDigest }, facts);
    if (set === undefined) return { kind: "unknown" };
    if (set.urls === undefined) return { kind: "one" };
    return { kind: "several", nodes: set.signers.length, faulty: set.faulty };
  } catch {
    return { kind: "unknown" };
  }
}
