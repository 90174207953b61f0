import type { TycheClient } from "./client.ts";
import { TycheClientError } from "./errors.ts";
import type { TycheExplorer } from "./explorer.ts";
import type { ContractRequestView } from "./types.ts";

/** Between two looks at what contracts requested. */
const LOOK_MS = 100;

/** What a contract requested in a transaction. */
export interface RequestInTransaction {
  readonly network: string;
  readonly transactionHash: string;
  /** Number of the transaction's block. */
  readonly block: bigint;
  readonly kind: ContractRequestView["kind"];
}

/**
 * Resolves with what a contract of the dapp's requested in a transaction, once it is fulfilled, with all of its words.
 *
 * @throws {TycheClientError} `request_failed` with the reason that it failed; `not_found` if no linked contract made such a request there.
 */
export async function awaitContractRequest(
  client: Pick<TycheClient, "contractRequests">,
  explorer: Pick<TycheExplorer, "transaction">,
  sought: RequestInTransaction,
): Promise<ContractRequestView> {
  for (;;) {
    const request = await find(client, sought);
    if (request?.state === "failed")
      throw new TycheClientError("request_failed", request.error ?? "the request failed");
    if (request?.state === "fulfilled") return withAllWords(request, explorer, sought);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Returns the request; `undefined` while its block has not been searched. */
async function find(
  client: Pick<TycheClient, "contractRequests">,
  { network, transactionHash: hash, block, kind }: RequestInTransaction,
): Promise<ContractRequestView | undefined> {
  let isSearched = false;
  for (let before: string | undefined; ;) {
    const { items, searched, older } = await client.contractRequests({ network, before });
    const found = items.find((one) => one.kind === kind && one.transactionHash === hash.toLowerCase());
    if (found !== undefined) return found;
    // A dapp without subscriptions has linked no contract.
    isSearched ||= searched === null || BigInt(searched.to) >= block;
    if (searched !== null && older !== null && BigInt(searched.from) >= block) before = older;
    else if (!isSearched) return undefined;
    else
      throw new TycheClientError(
        "not_found",
        `no linked contract requested ${kind === "random" ? "random words" : "a function"} in ${hash}`,
      );
  }
}

/** Lists have the first ten words of a request; its transaction has all. */
async function withAllWords(
  request: ContractRequestView,
  explorer: Pick<TycheExplorer, "transaction">,
  { network, transactionHash }: RequestInTransaction,
): Promise<ContractRequestView> {
  const { requestId, words, numWords } = request;
  if (words === undefined || words.length === numWords) return request;
  const { randomRequests } = await explorer.transaction(network, transactionHash);
  return { ...request, words: randomRequests.find((one) => one.requestId === requestId)?.words ?? words };
}
