import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { listOpenRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { endTransaction, listTransactionsFrom } from "../../store/transactions.ts";
import { isLinking } from "../openRequest.ts";
import type { OpenRequest } from "../openRequest.ts";
import type { RequestBook } from "../requestBook.ts";

const UNCERTAIN = {
  code: "request_failed",
  message:
    "the service was restored from a backup made before this request ended, and it isn't known whether the request was sent; send a new one if you still need it",
};

/**
 * Ends the requests for which a restored journal can't know whether they were sent: those without a transaction on chain.
 * Later transactions, known only to the lost journal, may have carried them, and sending them again would put them on chain
 * twice. So the transactions that carry them are not broadcast again either. Requests that link or unlink contracts check the chain
 * before they send, so they continue.
 */
export async function endUncertainRequests(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getReceipt" | "getNonce">;
  readonly operator: Hex;
  readonly store: Store;
  readonly book: RequestBook;
}): Promise<void> {
  const { network, client, operator, store, book } = options;
  const uncertain: OpenRequest[] = [];
  for (const request of await book.damaged.read((note) => listOpenRequests(store.db, network, note)))
    if (!isLinking(request) && !(await isOnChain(client, request))) uncertain.push(request);
  const ids = new Set(uncertain.map(({ id }) => id));
  const nonce = await client.getNonce(operator, "latest");
  const unsent = await listTransactionsFrom(store.db, { network, sender: operator, nonce });
  const carriers = unsent.filter(({ payload }) =>
    (payload as Payload).entries.flat().some((id) => ids.has(id)),
  );
  book.restore(uncertain);
  await book.change(
    uncertain.map((request) => ({ request, state: "failed", error: UNCERTAIN })),
    async (db) => {
      for (const { hash } of carriers) await endTransaction(db, hash, "failed");
    },
  );
}

async function isOnChain(
  client: Pick<ChainClient, "getReceipt">,
  { progress }: OpenRequest,
): Promise<boolean> {
  for (const hash of progress.transactionHashes ?? [])
    if ((await client.getReceipt(hash)) !== undefined) return true;
  return false;
}
