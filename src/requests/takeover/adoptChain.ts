import type { NetworkChain } from "../../networks/network.ts";
import { replaceChain, saveChain } from "../../store/chainRecords.ts";
import { listOpenRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import type { RequestBook } from "../requestBook.ts";
import { assertJournalKnows } from "./journalCheck.ts";
import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Payload } from "../../store/transactionContents.ts";
import {
  endTransaction,
  listOpenTransactions,
  listTransactionsFrom,
  type StoredTransaction,
} from "../../store/transactions.ts";
import { isLinking, type OpenRequest } from "../openRequest.ts";

export interface AdoptChainOptions {
  readonly network: string;
  readonly chain: Pick<NetworkChain, "client" | "identity" | "deployment" | "operator">;
  readonly store: Store;
  readonly book: RequestBook;
  /** Whether it is a different chain from the one that the journal describes. */
  readonly isNew: boolean;
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
}

/** Adopts the chain as the one that the journal describes, or begins a new journal for it. */
export async function adoptChain(options: AdoptChainOptions): Promise<void> {
  const { network, chain, isNew, store, book } = options;
  const { client, identity, deployment } = chain;
  if (isNew) return await replaceJournal(options);
  const account = { network, client, store, operator: chain.operator.address };
  await assertJournalKnows({
    ...account,
    presetConsumer: deployment.contracts.presetConsumer,
    firstBlock: deployment.blockNumber,
    isAccepted: options.acceptsChain,
    onAccepted: () => endUncertainRequests({ ...account, book }),
  });
  await store.write((db) => saveChain(db, network, identity, deployment));
}

/** Begins a new journal: the old chain's records are deleted, and its open requests fail. */
async function replaceJournal({ network, chain, store, book }: AdoptChainOptions): Promise<void> {
  const lost = await book.damaged.read((onDamaged) => listOpenRequests(store.db, network, onDamaged));
  const message = `the chain of ${network} was replaced by a new one; send the request again`;
  book.restore(lost);
  book.settle(network, Infinity);
  await book.change(
    () => lost.map((request) => ({ request, state: "failed", error: { code: "request_failed", message } })),
    (db) => replaceChain(db, network, chain.identity, chain.deployment),
  );
}

const UNCERTAIN = {
  code: "request_failed",
  message:
    "the service was restored from a backup made before this request ended, and it isn't known whether the request was sent; send a new one if you still need it",
};

/**
 * Ends the requests for which a restored journal can't know whether they were sent: those without a transaction on chain.
 * Later transactions, known only to the lost journal, may have carried them, and sending them again would put them on chain
 * twice. So the transactions that carry them are not broadcast again either, and those whose nonce the lost journal has used for others
 * end, too: what used it is accepted. Requests that link or unlink contracts check the chain before they send, so they continue.
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
  const sent = (await listTransactionsFrom(store.db, { network, sender: operator, nonce })).filter(
    ({ payload }) => (payload as Payload).entries.flat().some((id) => ids.has(id)),
  );
  const replaced: StoredTransaction[] = [];
  for (const transaction of await listOpenTransactions(store.db, network))
    if (transaction.nonce < nonce && (await client.getReceipt(transaction.hash)) === undefined)
      replaced.push(transaction);
  book.restore(uncertain);
  await book.change(
    () => uncertain.map((request) => ({ request, state: "failed", error: UNCERTAIN })),
    async (db) => {
      for (const { hash } of sent) await endTransaction(db, hash, "failed");
      for (const { hash } of replaced) await endTransaction(db, hash, "replaced");
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
