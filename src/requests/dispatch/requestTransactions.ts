import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import type { Sender } from "../../evm/sender.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { Store } from "../../store/store.ts";
import { listRefusedTransactions } from "../../store/transactions.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { changeOpen, type RequestBook } from "../requestBook.ts";
import type { OpenRequest } from "../openRequest.ts";
import { placesIn } from "./senderJournal.ts";
import type { Tracker } from "../follow/tracker.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/** Finds the transactions that brought requests on chain. */
export interface RequestTransactions {
  /** Returns the receipt of a mined transaction that carries the request, if there is one. */
  find(request: OpenRequest): Promise<Receipt | undefined>;
  /** Processes a mined transaction that carries the request; returns whether the contract accepted or refused the request in it. */
  isAccepted(request: OpenRequest, receipt: Receipt): Promise<boolean>;
  /** Whether any transaction has brought the request on chain. */
  isCarried(request: OpenRequest): Promise<boolean>;
}

/** Creates the lookup of one network for transactions of the account `sender`. */
export function createRequestTransactions(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getReceipt">;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Pick<Sender<Payload>, "address" | "confirm">;
  readonly tracker: Tracker;
  readonly watcher: Pick<ChainWatcher, "reread">;
}): RequestTransactions {
  const { network, client, store, book, sender, tracker, watcher } = options;

  const find = async (request: OpenRequest): Promise<Receipt | undefined> => {
    const { transactionHashes = [], nonce } = request.progress;
    for (const hash of transactionHashes.toReversed()) {
      const receipt = await findReceipt(hash);
      if (receipt !== undefined) return receipt;
    }
    return nonce === undefined ? undefined : await findRefused(request, nonce);
  };

  const findReceipt = async (hash: Hex): Promise<Receipt | undefined> => {
    const receipt = await client.getReceipt(hash);
    return receipt && (await sender.confirm(receipt));
  };

  /** Looks for every refused transaction signed for the nonce: another node may have accepted what one refused. */
  const findRefused = async (request: OpenRequest, nonce: number): Promise<Receipt | undefined> => {
    const of = { network, sender: sender.address, nonce, naming: request.id };
    const refused = await listRefusedTransactions(store.db, of);
    for (const transaction of refused) {
      const [place] = placesIn(transaction.payload as Payload, (id) =>
        id === request.id ? request : undefined,
      );
      const receipt = place === undefined ? undefined : await findReceipt(transaction.hash);
      if (place === undefined || receipt === undefined) continue;
      const { entry, item, items } = place;
      const progress = { transactionHashes: [transaction.hash], entry, item, items };
      await changeOpen(book, { request, progress });
      tracker.track(request);
      return receipt;
    }
    return undefined;
  };

  /** A transaction without a log about the request had no effect, e.g. when the contract has lost its code. */
  const isAccepted = async (request: OpenRequest, receipt: Receipt): Promise<boolean> => {
    if (!receipt.succeeded) return false;
    const isKnown = (): boolean => {
      const known = book.get(request.id);
      return known === undefined || isEnded(known.state) || known.progress.acceptedBlock !== undefined;
    };
    if (isKnown()) return true;
    await tracker.onReceipt(receipt);
    if (!isKnown()) return false;
    // Its answer may have been announced when nobody knew yet whose it was.
    watcher.reread(receipt.blockNumber);
    return true;
  };

  return {
    find,
    isAccepted,
    async isCarried(request) {
      const receipt = await find(request);
      return receipt !== undefined && (await isAccepted(request, receipt));
    },
  };
}
