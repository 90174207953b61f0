import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import { findNonceSpender } from "../../evm/nonceSpender.ts";
import { TransactionError } from "../../evm/refusal.ts";
import type { Sender } from "../../evm/sender.ts";
import { findTransactions, listOpenTransactions, type StoredTransaction } from "../../store/transactions.ts";
import type { Store } from "../../store/store.ts";
import type { Payload } from "../../store/transactionContents.ts";
import type { RequestTransactions } from "../dispatch/requestTransactions.ts";
import type { RequestBook } from "../requestBook.ts";
import { isLinking, type LinkRequest, type OpenRequest } from "../openRequest.ts";
import { placesIn } from "../dispatch/senderJournal.ts";
import { listOpenRequests, listNotFinalRequests } from "../../store/requests.ts";
import { findFirstLostBlock } from "./journalCheck.ts";
import type { Tracker } from "../follow/tracker.ts";

/** Finds out from the journal and the chain where requests stand that nothing carries any more, and resumes them. */
export interface Recovery {
  /**
   * Follows the transactions that an earlier process left in flight to their end, then resumes the requests that none of them
   * carries. Resolves when all have been followed or resumed.
   */
  resumeAll(requests: readonly OpenRequest[]): Promise<void>;
  /** Resumes a request unless a transaction that could still be mined carries it. */
  check(request: OpenRequest): Promise<void>;
}

export interface RecoveryOptions {
  readonly network: string;
  readonly client: ChainClient;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Sender<Payload>;
  readonly requestTransactions: RequestTransactions;
  /** Sends a request that no transaction carries. */
  readonly take: (request: OpenRequest) => void;
  /** Ends a linking according to its receipt. */
  readonly finishLinking: (request: LinkRequest, receipt: Receipt) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Creates the recovery of one network. */
export function createRecovery(options: RecoveryOptions): Recovery {
  const { network, client, store, book, sender, requestTransactions, take, finishLinking, onError } = options;

  /** Settles the requests of a transaction that ended: those it did not bring on chain are sent again. */
  const settle = async (payload: Payload, receipt: Receipt | undefined): Promise<void> => {
    for (const { request } of placesIn(payload, (id) => book.get(id))) {
      if (isLinking(request) && receipt !== undefined) await finishLinking(request, receipt);
      else if (receipt?.succeeded !== true) take(request);
    }
  };

  const resume = async (versions: readonly StoredTransaction[]): Promise<void> => {
    const payload = versions[0]!.payload as Payload;
    const receipt = await sender.resume(versions, payload).catch((error: unknown) => {
      if (!(error instanceof TransactionError)) throw error;
      onError(error);
      return undefined;
    });
    await settle(payload, receipt);
  };

  const check = async (request: OpenRequest): Promise<void> => {
    const { transactionHashes = [], acceptedBlock } = request.progress;
    if (acceptedBlock !== undefined || book.get(request.id) === undefined) return;
    const receipt = await requestTransactions.find(request);
    if (receipt === undefined) {
      if (!(await mayBeCarried(transactionHashes))) take(request);
    } else if (isLinking(request)) await finishLinking(request, receipt);
    else if (!(await requestTransactions.isAccepted(request, receipt))) take(request);
  };

  /** Whether one of the transactions can still be mined, or is already mined at a node that lacks its receipt. */
  const mayBeCarried = async (transactionHashes: readonly Hex[]): Promise<boolean> => {
    const known = await findTransactions(store.db, transactionHashes);
    const spent = await client.getNonce(sender.address, "latest");
    if (known.some(({ state, nonce }) => state !== "failed" && nonce >= spent)) return true;
    for (const { nonce, hash } of known)
      if (nonce < spent && (await findNonceSpender(client, sender.address, nonce)) === hash) return true;
    return false;
  };

  const settleAll = async (work: readonly Promise<void>[]): Promise<void> => {
    for (const result of await Promise.allSettled(work)) {
      if (result.status === "rejected") onError(result.reason);
    }
  };

  return {
    check,
    async resumeAll(requests) {
      const open = await listOpenTransactions(store.db, network);
      const carried = new Set(open.flatMap(({ payload }) => (payload as Payload).entries.flat()));
      const versions = [...Map.groupBy(open, ({ nonce }) => nonce).values()];
      await settleAll(versions.map((each) => resume(each)));
      // The transactions above may have created what the others need: subscriptions, a stored source.
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

/** What a process takes over from an earlier one. */
interface RestoredRequests {
  /** Open requests, oldest first. */
  readonly open: readonly OpenRequest[];
  /** First block that may hold logs about them. */
  readonly fromBlock: bigint;
  /** Blocks that ended requests and aren't final: if the chain has replaced one, its requests reopen. */
  readonly known: ReadonlyMap<bigint, Hex>;
}

/** Restores what an earlier process left on a network: open requests, and those that may reopen. */
export async function restoreRequests(options: {
  readonly network: string;
  readonly client: ChainClient;
  readonly store: Store;
  readonly book: RequestBook;
  readonly tracker: Tracker;
  /** Number of the newest block. */
  readonly head: bigint;
  readonly finalityDepth: number;
}): Promise<RestoredRequests> {
  const { network, client, store, book, tracker, finalityDepth: depth } = options;
  const head = Number(options.head);
  book.restore(await book.damaged.read((note) => listOpenRequests(store.db, network, note)));
  const firstLost = await findFirstLostBlock({ network, client, store, head });
  const page = { head, depth, firstLost };
  book.restore(await book.damaged.read((note) => listNotFinalRequests(store.db, network, page, note)));
  // The chain may have been rolled back since, or replaced by an earlier one.
  if (firstLost !== undefined) await tracker.onReorg(BigInt(firstLost));
  const open = book.open(network);
  await tracker.adopt(open);
  return {
    open,
    fromBlock: await findFirstBlock(client, open, options.head),
    known: new Map(book.notFinal(network).map(({ endedIn }) => [BigInt(endedIn!.number), endedIn!.hash])),
  };
}

/**
 * Returns the first block that may hold logs about open requests. If the chain was rolled back, their transactions were mined
 * again in blocks before the ones they were signed at, so their receipts count, too.
 */
async function findFirstBlock(
  client: ChainClient,
  requests: readonly OpenRequest[],
  head: bigint,
): Promise<bigint> {
  const hashes = new Set(requests.flatMap(({ progress }) => progress.transactionHashes ?? []));
  const receipts = await Promise.all([...hashes].map((hash) => client.getReceipt(hash)));
  const mined = receipts.flatMap((receipt) => (receipt === undefined ? [] : Number(receipt.blockNumber)));
  const signed = requests.flatMap(({ progress }) => progress.sinceBlock ?? []);
  return BigInt([...mined, ...signed].reduce((first, block) => Math.min(first, block), Number(head)));
}
