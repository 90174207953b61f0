import type { Receipt } from "../../lib/nodeAnswers.ts";
import { addUsage, dayOf, type UsageCounts, type UsagePlace } from "../../store/usage.ts";
import type { OpenRequest, RequestStep } from "../openRequest.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { DamagedRecordError } from "../../store/checksum.ts";
import { findRequests, type StoredRequest } from "../../store/requests.ts";
import type { Queryable } from "../../store/queryable.ts";
import { endTransaction, findTransactions } from "../../store/transactions.ts";
import { divideEvenly } from "../divideEvenly.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/**
 * Returns how the counts change when requests change. The counts are the sum of what each stored request contributes, so they
 * stay correct when a step is repeated or taken back by a reorg.
 */
export function usageOfSteps(steps: readonly RequestStep[]): (UsagePlace & UsageCounts)[] {
  const sums = new Map<string, UsagePlace & UsageCounts>();
  for (const { before, after } of steps) {
    const earlier = before === undefined ? NOTHING : countsOf(before);
    const difference = add(countsOf(after), negate(earlier));
    if (Object.values(difference).every((value) => value === 0 || value === 0n)) continue;
    const place = placeOf(after);
    const name = nameOf(place);
    sums.set(name, { ...place, ...add(sums.get(name) ?? NOTHING, difference) });
  }
  return [...sums.values()];
}

/**
 * Marks a transaction as mined and, the first time, adds its gas to the counts of the requests it carries: in equal parts,
 * the first ones taking the remainder. Counts what it topped up, unless it reverted.
 */
export async function endMinedTransaction(
  db: Queryable,
  hash: string,
  { gasUsed, succeeded }: Pick<Receipt, "gasUsed" | "succeeded">,
): Promise<void> {
  const { requests, topUp } = await findUncounted(db, hash);
  await endTransaction(db, hash, "mined");
  const shares = divideEvenly(gasUsed, requests.length);
  const sums = new Map<string, UsagePlace & { readonly gasUsed: number }>();
  requests.forEach((request, i) => {
    const place = placeOf(request);
    const name = nameOf(place);
    sums.set(name, { ...place, gasUsed: (sums.get(name)?.gasUsed ?? 0) + Number(shares[i]) });
  });
  await addUsage(db, [...sums.values(), ...(succeeded ? topUp : [])]);
}

interface Uncounted {
  readonly requests: readonly StoredRequest[];
  readonly topUp: readonly (UsagePlace & Partial<UsageCounts>)[];
}

/** Returns what a transaction carries that isn't marked as mined yet, without damaged requests, which are reported elsewhere. */
async function findUncounted(db: Queryable, hash: string): Promise<Uncounted> {
  const none: Uncounted = { requests: [], topUp: [] };
  try {
    const [transaction] = await findTransactions(db, [hash]);
    if (transaction === undefined || transaction.state === "mined") return none;
    const { entries, topUp } = transaction.payload as Payload;
    const requests = await findRequests(db, entries.flat(), () => {});
    if (topUp === undefined) return { ...none, requests };
    const { dappId, juels, wei } = topUp;
    const place: UsagePlace = {
      dappId,
      network: transaction.network,
      day: dayOf(Date.now()),
      kind: "top-up",
    };
    return { requests, topUp: [{ ...place, requests: 1, linkJuels: BigInt(juels), coinWei: BigInt(wei) }] };
  } catch (error) {
    if (error instanceof DamagedRecordError) return none;
    throw error;
  }
}

const NOTHING: UsageCounts = {
  requests: 0,
  fulfilled: 0,
  failed: 0,
  refused: 0,
  words: 0,
  gasUsed: 0,
  linkJuels: 0n,
  coinWei: 0n,
};

/** Returns what a request contributes to the counts. Its costs count only once it has ended, so that two writes per request are enough. */
function countsOf(request: OpenRequest): UsageCounts {
  const { state, progress } = request;
  if (!isEnded(state)) return { ...NOTHING, requests: 1 };
  const { wordJuels = "0", functionJuels = "0", wordWei = "0" } = progress;
  return {
    ...NOTHING,
    requests: 1,
    fulfilled: state === "fulfilled" ? 1 : 0,
    failed: state === "failed" ? 1 : 0,
    words: wordsOf(request),
    linkJuels: BigInt(wordJuels) + BigInt(functionJuels),
    coinWei: BigInt(wordWei),
  };
}

function wordsOf({ kind, outcome, progress }: OpenRequest): number {
  if (kind === "preset") return progress.wordBlock === undefined ? 0 : 1;
  return outcome !== null && "words" in outcome ? outcome.words.length : 0;
}

function placeOf({
  dappId,
  network,
  kind,
  createdAt,
}: Omit<UsagePlace, "day"> & { readonly createdAt: number }): UsagePlace {
  return { dappId, network, kind, day: dayOf(createdAt) };
}

function nameOf({ dappId, network, day, kind }: UsagePlace): string {
  return `${dappId} ${network} ${day} ${kind}`;
}

function add(a: UsageCounts, b: UsageCounts): UsageCounts {
  return {
    requests: a.requests + b.requests,
    fulfilled: a.fulfilled + b.fulfilled,
    failed: a.failed + b.failed,
    refused: a.refused + b.refused,
    words: a.words + b.words,
    gasUsed: a.gasUsed + b.gasUsed,
    linkJuels: a.linkJuels + b.linkJuels,
    coinWei: a.coinWei + b.coinWei,
  };
}

function negate(counts: UsageCounts): UsageCounts {
  return {
    requests: -counts.requests,
    fulfilled: -counts.fulfilled,
    failed: -counts.failed,
    refused: -counts.refused,
    words: -counts.words,
    gasUsed: -counts.gasUsed,
    linkJuels: -counts.linkJuels,
    coinWei: -counts.coinWei,
  };
}
