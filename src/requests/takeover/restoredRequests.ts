import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { listOpenRequests, listUnsettledRequests } from "../../store/requests.ts";
import type { Store } from "../../store/store.ts";
import { findFirstLostBlock } from "./journalCheck.ts";
import type { RequestBook } from "../requestBook.ts";
import type { OpenRequest } from "../openRequest.ts";
import type { Tracker } from "../follow/tracker.ts";

/** What a process takes over from an earlier one. */
export interface RestoredRequests {
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
  book.restore(await book.damaged.read((note) => listUnsettledRequests(store.db, network, page, note)));
  // The chain may have been rolled back since, or replaced by an earlier one.
  if (firstLost !== undefined) await tracker.onReorg(BigInt(firstLost));
  const open = book.open(network);
  await tracker.adopt(open);
  return {
    open,
    fromBlock: await findFirstBlock(client, open, options.head),
    known: new Map(book.unsettled(network).map(({ endedIn }) => [BigInt(endedIn!.number), endedIn!.hash])),
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
