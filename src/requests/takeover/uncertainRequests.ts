import type { ChainClient } from "../../evm/client.ts";
import { listOpenRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
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
 * twice. Requests that link or unlink contracts check the chain before they send, so they continue.
 */
export async function endUncertainRequests(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getReceipt">;
  readonly store: Store;
  readonly book: RequestBook;
}): Promise<void> {
  const { network, client, store, book } = options;
  const uncertain: OpenRequest[] = [];
  for (const request of await book.damaged.read((note) => listOpenRequests(store.db, network, note)))
    if (!isLinking(request) && !(await isOnChain(client, request))) uncertain.push(request);
  book.restore(uncertain);
  await book.change(uncertain.map((request) => ({ request, state: "failed", error: UNCERTAIN })));
}

async function isOnChain(
  client: Pick<ChainClient, "getReceipt">,
  { progress }: OpenRequest,
): Promise<boolean> {
  for (const hash of progress.transactionHashes ?? [])
    if ((await client.getReceipt(hash)) !== undefined) return true;
  return false;
}
