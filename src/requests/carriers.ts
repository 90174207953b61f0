import type { Hex } from "viem";
import type { ChainClient, Receipt } from "../evm/client.ts";
import type { Store } from "../store/store.ts";
import { listRefusedTransactions } from "../store/transactions.ts";
import type { Payload } from "../store/payload.ts";
import { isEnded } from "./change.ts";
import type { RequestBook } from "./requestBook.ts";
import type { OpenRequest } from "./openRequest.ts";
import { placesIn } from "./senderJournal.ts";
import type { Tracker } from "./tracker.ts";

/** Finds the transactions that brought requests on chain. */
export interface Carriers {
  /** Receipt of a transaction that carries the request, if one is on chain. */
  find(request: OpenRequest): Promise<Receipt | undefined>;
  /** Reads a mined transaction that carries the request; whether the contract has taken the request, or refused it, there. */
  isAccepted(request: OpenRequest, receipt: Receipt): Promise<boolean>;
  /** Whether any transaction has brought the request on chain. */
  isCarried(request: OpenRequest): Promise<boolean>;
}

/** Creates the look-up of one network, for transactions of the account `sender`. */
export function createCarriers(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getReceipt">;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Hex;
  readonly tracker: Tracker;
}): Carriers {
  const { network, client, store, book, sender, tracker } = options;

  const find = async (request: OpenRequest): Promise<Receipt | undefined> => {
    const { transactionHashes = [], nonce } = request.progress;
    for (const hash of transactionHashes.toReversed()) {
      const receipt = await client.getReceipt(hash);
      if (receipt !== undefined) return receipt;
    }
    return nonce === undefined ? undefined : await findRefusedCarrier(request, nonce);
  };

  /** One node may have refused a transaction that another one took: whatever was signed for the nonce is looked for. */
  const findRefusedCarrier = async (request: OpenRequest, nonce: number): Promise<Receipt | undefined> => {
    const refused = await listRefusedTransactions(store.db, { network, sender, nonce, naming: request.id });
    for (const transaction of refused) {
      const [place] = placesIn(transaction.payload as Payload, (id) =>
        id === request.id ? request : undefined,
      );
      const receipt = place === undefined ? undefined : await client.getReceipt(transaction.hash);
      if (place === undefined || receipt === undefined) continue;
      const { entry, item } = place;
      await book.change([{ request, progress: { transactionHashes: [transaction.hash], entry, item } }]);
      tracker.track(request);
      return receipt;
    }
    return undefined;
  };

  /** Reads a mined transaction; one that told nothing of the request, as of a contract without its code, has done nothing. */
  const isAccepted = async (request: OpenRequest, receipt: Receipt): Promise<boolean> => {
    if (!receipt.succeeded) return false;
    await tracker.onReceipt(receipt);
    const known = book.get(request.id);
    return known === undefined || isEnded(known.state) || known.progress.acceptedBlock !== undefined;
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
