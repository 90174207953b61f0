import type { Hex } from "viem";
import type { SignedTransaction, SenderJournal } from "../../evm/signedTransaction.ts";
import type { Store } from "../../store/store.ts";
import { endTransaction, insertTransaction, listTransactionsFrom } from "../../store/transactions.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { assertBeaconAhead } from "./beaconAhead.ts";
import type { Change, RequestBook } from "../requestBook.ts";
import type { RequestFacts, OpenRequest } from "../openRequest.ts";
import type { Tracker } from "../follow/tracker.ts";
import type { PipelineNetwork } from "../pipelineNetwork.ts";
import { endMinedTransaction } from "../keep/usage.ts";

/**
 * Creates the sender's journal in the store: a signed transaction and the requests it carries are persisted together, and
 * tracked, before it is broadcast.
 */
export function createSenderJournal(options: {
  readonly network: string;
  readonly account: Hex;
  readonly store: Store;
  readonly book: RequestBook;
  readonly tracker: Tracker;
  /** Returns the number of the newest block seen. */
  readonly headNumber: () => bigint;
  /** Prevents signing once another process sends with the account. Default: none can. */
  readonly accountWatch?: PipelineNetwork["accountWatch"];
}): SenderJournal<Payload> {
  const { network, account, store, book, tracker, accountWatch } = options;
  return {
    doubt: (spender) => accountWatch?.doubt({ spender }),
    isInDoubt: () => accountWatch?.isInDoubt() ?? false,
    async signed(transaction, payload) {
      await accountWatch?.assertAlone(transaction, { isRequest: payload.entries.length > 0 });
      for (const { request } of placesIn(payload, (id) => book.get(id))) {
        // Of a transaction that is repriced, an earlier version may be on chain.
        const isRepriced = request.progress.nonce === transaction.nonce;
        if (!isRepriced) assertBeaconAhead(request, network);
      }
      const sinceBlock = Number(options.headNumber());
      let changes: readonly Change[] = [];
      const decide = (): readonly Change[] =>
        (changes = placesIn(payload, (id) => book.get(id)).map(({ request, ...place }) =>
          carry(request, transaction, { ...place, sinceBlock }),
        ));
      await book.change(decide, (db) =>
        insertTransaction(db, { ...transaction, network, sender: account, payload, createdAt: Date.now() }),
      );
      for (const { request } of changes) tracker.track(request);
    },
    async ended({ hash }, end, mined) {
      // Not flushed to disk at once: after a power cut, the transaction is looked up again.
      await store.writeSoon((db) =>
        mined === undefined ? endTransaction(db, hash, end) : endMinedTransaction(db, hash, mined),
      );
    },
    from: (nonce) => listTransactionsFrom(store.db, { network, sender: account, nonce }),
    noPayload: { kind: "upkeep", entries: [] },
  };
}

/** A request's position in a transaction, as in {@link RequestFacts}. */
type Place = Required<Pick<RequestFacts, "entry" | "item" | "items">>;

/** Returns the requests that a transaction carries, as far as `find` knows them, with their positions in it. */
export function placesIn(
  { entries }: Payload,
  find: (id: string) => OpenRequest | undefined,
): readonly (Place & { readonly request: OpenRequest })[] {
  return entries.flatMap((ids, entry) =>
    ids.flatMap((id, item) => {
      const request = find(id);
      return request === undefined ? [] : [{ request, entry, item, items: ids.length }];
    }),
  );
}

/** Returns the change to a request when a transaction that carries it is signed. */
function carry(
  request: OpenRequest,
  { hash, nonce }: SignedTransaction,
  place: Place & { readonly sinceBlock: number },
): Change {
  const { progress } = request;
  // A repriced version is added to the earlier ones; a new transaction replaces them.
  const isRepriced =
    progress.nonce === nonce && progress.entry === place.entry && progress.item === place.item;
  const transactionHashes = [...(isRepriced ? (progress.transactionHashes ?? []) : []), hash];
  const learnt: RequestFacts = {
    ...place,
    nonce,
    transactionHashes,
    sinceBlock: progress.sinceBlock ?? place.sinceBlock,
  };
  return {
    request,
    progress: learnt,
    why: null,
    ...(request.state === "received" ? { state: "submitted", transactionHash: hash } : {}),
  };
}
