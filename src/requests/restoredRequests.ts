import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { listOpenRequests, listUnsettledRequests } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { findFirstLostBlock } from "./journalCheck.ts";
import type { RequestBook } from "./requestBook.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { Tracker } from "./tracker.ts";

/** What a process goes on with of an earlier one. */
export interface RestoredRequests {
  /** Requests in work, oldest first. */
  readonly open: readonly OpenRequest[];
  /** First block that may tell something of them. */
  readonly fromBlock: bigint;
  /** Blocks that have ended requests and aren't final: if the chain has others in their places, those requests go on. */
  readonly known: ReadonlyMap<bigint, Hex>;
}

/** Takes from the store what an earlier process left on a network: what it had in work, and what may come back to it. */
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
  // The chain may have been set back since, or an earlier one put in its place.
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
 * Block from which on the chain may tell something of requests that are open. Where a chain was set back, their transactions were
 * mined again in blocks before those that they were signed in, so that their receipts count, too.
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
