import type { Hex } from "viem";
import type { RequestSummary, TransactionSummary, TransactionView } from "../api/types.ts";
import { remember } from "../lib/memo.ts";
import type { Listed, ListedTransaction } from "./lists.ts";

/** Requests that are looked up for a list of transactions: one query reads them. */
const MAX_LISTED_REQUESTS = 200;
/** How long they are kept, in ms: every page of a network asks for the same ones each second. */
const LISTED_MS = 1_000;

/** The service's own requests among those that transactions make or answer. */
export interface OwnRequests {
  /** Finds those of one transaction, in its order. */
  findIn(network: string, transaction: TransactionView): Promise<readonly RequestSummary[]>;
  /**
   * Adds them to listed transactions, as few as one query reads in no time, and returns them, too: those of the transactions, after others
   * with the `given` ids.
   */
  addTo<View extends Listed<{ readonly transactions: readonly TransactionSummary[] }>>(
    network: string,
    view: View,
    given?: readonly Hex[],
  ): Promise<{
    readonly view: Omit<View, "transactions"> & { readonly transactions: TransactionSummary[] };
    readonly listed: { readonly requests: readonly RequestSummary[]; readonly moreRequests?: number };
  }>;
}

/** @param findOnChain reads those of the service's requests that have these ids on chain, in any order. */
export function createOwnRequests(
  findOnChain: (network: string, ids: readonly Hex[]) => Promise<readonly RequestSummary[]>,
): OwnRequests {
  const find = async (network: string, ids: readonly Hex[]) => {
    const requests = await findOnChain(network, ids);
    return requests.toSorted((a, b) => ids.indexOf(a.requestId) - ids.indexOf(b.requestId));
  };
  const findListed = remember(LISTED_MS, async (key: string) => {
    const [network, ...ids] = key.split(" ");
    return await find(network!, ids as Hex[]);
  });
  return {
    findIn: (network, transaction) => find(network, requestIdsIn(transaction)),
    async addTo(network, view, given = []) {
      const all = new Set([...given, ...view.transactions.flatMap(({ requestIds }) => requestIds)]);
      const ids = [...all].slice(0, MAX_LISTED_REQUESTS);
      const requests = ids.length === 0 ? [] : await findListed([network, ...ids].join(" "));
      const own = new Map(requests.map((request) => [request.requestId, request]));
      const known = new Set(ids);
      const transactions = view.transactions.map(
        ({ requestIds, isAnswer, ...transaction }: ListedTransaction): TransactionSummary => ({
          ...transaction,
          // Half of a batch would be counted as a batch.
          ...(requestIds.every((id) => known.has(id))
            ? sumUp(
                requestIds.flatMap((id) => own.get(id) ?? []),
                isAnswer,
              )
            : {}),
        }),
      );
      const moreRequests = all.size - ids.length;
      return {
        view: { ...view, transactions },
        listed: { requests, ...(moreRequests === 0 ? {} : { moreRequests }) },
      };
    },
  };
}

/** Sums up the service's own requests of one transaction; nothing without any. */
function sumUp(requests: readonly RequestSummary[], isAnswer: boolean): Pick<TransactionSummary, "requests"> {
  const [first] = requests;
  if (first === undefined) return {};
  const { kind, title, result } = first;
  const isOneKind = requests.every((one) => one.kind === kind && one.title === title);
  return {
    requests: {
      count: requests.length,
      ...(isOneKind ? { kind, ...(title === undefined ? {} : { title }) } : {}),
      ...(isAnswer && requests.length === 1 && result !== undefined ? { result } : {}),
    },
  };
}

/** Returns the ids of all requests that a transaction makes or answers. */
function requestIdsIn(transaction: TransactionView): Hex[] {
  const { presets, functionRequests, functionResults, randomRequests, randomness, joins } = transaction;
  const all = [presets, functionRequests, functionResults, randomRequests, randomness, joins].flat();
  return [...new Set(all.map(({ requestId }) => requestId))];
}
