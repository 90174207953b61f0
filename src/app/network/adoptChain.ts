import type { NetworkChain } from "../../networks/network.ts";
import { assertJournalKnows } from "../../requests/takeover/journalCheck.ts";
import type { RequestBook } from "../../requests/requestBook.ts";
import { endUncertainRequests } from "../../requests/takeover/uncertainRequests.ts";
import { saveChain } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import { forgetChain } from "./forgetChain.ts";

/** Adopts the chain as the one that the journal describes, or begins a new journal for it. */
export async function adoptChain(options: {
  readonly network: string;
  readonly chain: Pick<NetworkChain, "client" | "identity" | "deployment" | "operator">;
  /** Whether it is a different chain from the one that the journal describes. */
  readonly isNew: boolean;
  readonly store: Store;
  readonly book: RequestBook;
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
}): Promise<void> {
  const { network, chain, isNew, store, book } = options;
  const { client, identity, deployment } = chain;
  if (isNew) {
    await forgetChain({ network, identity, deployment, store, book });
    return;
  }
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
