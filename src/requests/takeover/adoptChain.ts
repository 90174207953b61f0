import type { NetworkChain } from "../../networks/network.ts";
import { replaceChain, saveChain } from "../../store/chainRecords.ts";
import { listOpenRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import type { RequestBook } from "../requestBook.ts";
import { assertJournalKnows } from "./journalCheck.ts";
import { endUncertainRequests } from "./uncertainRequests.ts";

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
    lost.map((request) => ({ request, state: "failed", error: { code: "request_failed", message } })),
    (db) => replaceChain(db, network, chain.identity, chain.deployment),
  );
}
