import type { RequestBook } from "../../requests/requestBook.ts";
import { replaceChain } from "../../store/chainRecords.ts";
import { listOpenRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";

/** Replaces a chain with a new one: the old chain's records are deleted, and its open requests fail. */
export async function forgetChain(options: {
  readonly network: string;
  readonly identity: string;
  readonly deployment: unknown;
  readonly store: Store;
  readonly book: RequestBook;
}): Promise<void> {
  const { network, identity, deployment, store, book } = options;
  const lost = await book.damaged.read((onDamaged) => listOpenRequests(store.db, network, onDamaged));
  const message = `the chain of ${network} was replaced by a new one; send the request again`;
  book.restore(lost);
  book.settle(network, Infinity);
  await book.change(
    lost.map((request) => ({ request, state: "failed", error: { code: "request_failed", message } })),
    (db) => replaceChain(db, network, identity, deployment),
  );
}
