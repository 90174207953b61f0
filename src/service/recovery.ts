import type { ChainClient, Receipt } from "../chain/client.ts";
import { TransactionError } from "../chain/refusal.ts";
import type { Sender } from "../chain/sender.ts";
import { findTransactions, listOpenTransactions, listTransactionsFrom } from "../store/transactions.ts";
import type { StoredTransaction } from "../store/transactions.ts";
import type { Store } from "../store/store.ts";
import type { Cargo } from "./dispatcher.ts";
import type { OpenRequest, RequestBook } from "./requestBook.ts";
import { placesIn } from "./senderJournal.ts";
import type { Tracker } from "./tracker.ts";

/** Finds out, from the journal and the chain, where requests stand that nobody is carrying any more, and goes on with them. */
export interface Recovery {
  /** Drives what an earlier process left to its end; resolves when nothing of it is open any more. */
  resumeAll(requests: readonly OpenRequest[]): Promise<void>;
  /** Receipt of a transaction that carries the request, if one is on chain. */
  findCarrier(request: OpenRequest): Promise<Receipt | undefined>;
  /** As {@link findCarrier}, and follows the request from there. */
  isCarried(request: OpenRequest): Promise<boolean>;
  /** Goes on with a request that is in no transaction that could still be mined. */
  check(request: OpenRequest): Promise<void>;
}

/** Options of {@link createRecovery}. */
export interface RecoveryOptions {
  readonly network: string;
  readonly client: ChainClient;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Sender<Cargo>;
  readonly tracker: Tracker;
  /** Sends a request that no transaction carries. */
  readonly take: (request: OpenRequest) => void;
  /** Ends a linking by its receipt. */
  readonly finishLinking: (request: OpenRequest, receipt: Receipt) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Makes the recovery of one network. */
export function createRecovery(options: RecoveryOptions): Recovery {
  const { network, client, store, book, sender, tracker, take, finishLinking, onError } = options;

  const findCarrier = async (request: OpenRequest): Promise<Receipt | undefined> => {
    const { transactionHashes = [], nonce } = request.progress;
    for (const hash of transactionHashes.toReversed()) {
      const receipt = await client.getReceipt(hash);
      if (receipt !== undefined) return receipt;
    }
    return nonce === undefined ? undefined : await findRefusedCarrier(request, nonce);
  };

  /** One node may have refused a transaction that another one took: whatever was signed for the nonce is looked for. */
  const findRefusedCarrier = async (request: OpenRequest, nonce: number): Promise<Receipt | undefined> => {
    const signed = await listTransactionsFrom(store.db, {
      network,
      sender: sender.address,
      nonce,
      all: true,
    });
    for (const transaction of signed) {
      if (transaction.nonce !== nonce || transaction.state !== "failed") continue;
      const [place] = placesIn(transaction.cargo as Cargo, (id) => (id === request.id ? request : undefined));
      const receipt = place === undefined ? undefined : await client.getReceipt(transaction.hash);
      if (place === undefined || receipt === undefined) continue;
      const { entry, item } = place;
      await book.change([{ request, progress: { transactionHashes: [transaction.hash], entry, item } }]);
      tracker.track(request);
      return receipt;
    }
    return undefined;
  };

  /** Requests of a transaction that ended: those it did not bring on chain are sent again. */
  const settle = async (cargo: Cargo, receipt: Receipt | undefined): Promise<void> => {
    for (const { request } of placesIn(cargo, (id) => book.get(id))) {
      if (cargo.kind === "consumer" && receipt !== undefined) await finishLinking(request, receipt);
      else if (receipt?.succeeded !== true) take(request);
    }
  };

  const resume = async (versions: readonly StoredTransaction[]): Promise<void> => {
    const cargo = versions[0]!.cargo as Cargo;
    const receipt = await sender.resume(versions, cargo).catch((error: unknown) => {
      if (!(error instanceof TransactionError)) throw error;
      onError(error);
      return undefined;
    });
    await settle(cargo, receipt);
  };

  const check = async (request: OpenRequest): Promise<void> => {
    const { transactionHashes = [], acceptedBlock } = request.progress;
    if (acceptedBlock !== undefined || book.get(request.id) === undefined) return;
    const receipt = await findCarrier(request);
    if (receipt === undefined) {
      const known = await findTransactions(store.db, transactionHashes);
      const spent = await client.getNonce(sender.address, "latest");
      const mayCome = known.some(({ state, nonce }) => state !== "failed" && nonce >= spent);
      if (!mayCome) take(request);
    } else if (request.kind === "consumer") await finishLinking(request, receipt);
    else if (receipt.succeeded) await tracker.onReceipt(receipt);
    else take(request);
  };

  const settleAll = async (work: readonly Promise<void>[]): Promise<void> => {
    for (const result of await Promise.allSettled(work)) {
      if (result.status === "rejected") onError(result.reason);
    }
  };

  return {
    findCarrier,
    check,
    async isCarried(request) {
      const receipt = await findCarrier(request);
      if (receipt?.succeeded !== true) return false;
      await tracker.onReceipt(receipt);
      return true;
    },
    async resumeAll(requests) {
      const open = await listOpenTransactions(store.db, network);
      const carried = new Set(open.flatMap(({ cargo }) => (cargo as Cargo).entries.flat()));
      const versions = [...Map.groupBy(open, ({ nonce }) => nonce).values()];
      await settleAll(versions.map((each) => resume(each)));
      // What the others need may just have been made: subscriptions, a stored source.
      const checks: Promise<void>[] = [];
      for (const request of requests) {
        if (carried.has(request.id)) continue;
        if (request.progress.transactionHashes === undefined) take(request);
        else checks.push(check(request));
      }
      await settleAll(checks);
    },
  };
}
