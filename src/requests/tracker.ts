import { decodeLog } from "../chainlink/events.ts";
import type { RawLog, Receipt } from "../evm/client.ts";
import type { WatchedBlock } from "../evm/watcher.ts";
import { deleteConsumers } from "../store/chainRecords.ts";
import { forgetEnds } from "../store/requests.ts";
import { createBlockDraft } from "./blockDraft.ts";
import { changesOf } from "./chainChanges.ts";
import type { OpenRequest } from "./openRequest.ts";
import { isEnded } from "./requestBook.ts";
import type { Change, RequestBook } from "./requestBook.ts";
import { createRequestIndex } from "./requestIndex.ts";
import { CHAIN_FACTS, takeBack } from "./takeBack.ts";

/** Follows requests on chain: turns each block's logs into changes of the requests they belong to. */
export interface Tracker {
  /** Takes a request that is, or is about to be, in a transaction, or one that something else than the chain has ended. */
  track(request: OpenRequest): void;
  /**
   * Takes a request of an earlier process. What that one learnt of it from the chain is learnt anew from `sinceBlock` on: the
   * chain may have been reorganised in between.
   */
  adopt(request: OpenRequest): void;
  onBlock(block: WatchedBlock): Promise<void>;
  /** Takes what a transaction of ours told without waiting for its block. */
  onReceipt(receipt: Receipt): Promise<void>;
  /** Takes back what blocks told that the chain no longer has; requests that they ended, and that isn't final, are in work again. */
  onReorg(firstReplaced: bigint): Promise<void>;
  /** When the oracle was last seen to answer anybody: milliseconds since the epoch, `undefined` if not since the start. */
  oracleSeenAt(): number | undefined;
}

/**
 * Makes the tracker of one network. Told the same log twice, it changes nothing the second time.
 *
 * @param listUnsettled reads the requests that have ended and aren't final from the journal: in memory are those of the newest
 * blocks only.
 */
export function createTracker(
  book: RequestBook,
  network: string,
  listUnsettled: (firstReplaced: bigint) => Promise<readonly OpenRequest[]> = async () => [],
): Tracker {
  const index = createRequestIndex();
  let oracleSeenAt: number | undefined;
  let tail: Promise<void> = Promise.resolve();

  /** One block or receipt after the other: each starts from what the one before has stored. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };

  const take = async (logs: readonly RawLog[]): Promise<void> => {
    // All are decoded before the first is acted on: a node that sends a malformed one is asked for the block again.
    const events = logs.map((log) => ({ log, event: decodeLog(log) }));
    const block = createBlockDraft(index);
    for (const { log, event } of events) {
      if (event === undefined) continue;
      if (event.name === "RandomWordsFulfilled" || event.name === "RequestProcessed")
        oracleSeenAt = Date.now();
      for (const change of changesOf(event, log, block)) block.add(change, log);
    }
    await book.change(block.changes);
    for (const { request } of block.changes) file(request);
  };

  /** Files a request in the index under what is stored of it. */
  const file = (request: OpenRequest): void => {
    if (isEnded(request.state)) index.delete(request);
    else index.set(request);
  };

  const goBack = async (firstReplaced: bigint): Promise<void> => {
    const held = new Set(book.unsettled(network).map(({ id }) => id));
    const stored = await listUnsettled(firstReplaced);
    book.restore(stored.filter(({ id }) => !held.has(id) && book.get(id) === undefined));
    const ended = book
      .unsettled(network)
      .filter(({ endedIn }) => endedIn !== null && endedIn.number >= firstReplaced);
    const changes: Change[] = [];
    for (const request of new Set([...index.all(), ...ended])) {
      // What comes again may come earlier than before, and a restart must find it.
      if ((request.progress.sinceBlock ?? 0) >= firstReplaced) {
        const before = Math.max(0, Number(firstReplaced) - 1);
        changes.push({ request, progress: { sinceBlock: before } });
      }
      const change = takeBack(request, firstReplaced);
      if (change !== undefined) changes.push(change);
    }
    const linked = ended.flatMap(({ kind, outcome }) =>
      kind === "consumer" && outcome !== null ? [outcome.transactionHash] : [],
    );
    await book.change(changes, async (db) => {
      await forgetEnds(db, network, Number(firstReplaced));
      for (const hash of linked) await deleteConsumers(db, network, hash);
    });
    for (const { request } of changes) file(request);
  };

  return {
    track: file,
    adopt(request) {
      const progress = { ...request.progress };
      for (const name of CHAIN_FACTS) delete progress[name];
      Object.assign(request, { progress });
      index.set(request);
    },
    onBlock: (block) => inTurn(() => take(block.logs)),
    onReceipt: (receipt) => inTurn(() => take(receipt.logs)),
    oracleSeenAt: () => oracleSeenAt,
    onReorg: (firstReplaced) => inTurn(() => goBack(firstReplaced)),
  };
}
