import { decodeLog } from "../chainlink/events.ts";
import type { RawLog, Receipt } from "../evm/client.ts";
import type { WatchedBlock } from "../evm/watcher.ts";
import { deleteConsumers } from "../store/chainRecords.ts";
import { forgetEnds } from "../store/requests.ts";
import { createBlockDraft } from "./blockDraft.ts";
import { changesOf } from "./chainChanges.ts";
import type { OpenRequest } from "./openRequest.ts";
import { isEnded } from "./change.ts";
import type { Change } from "./change.ts";
import type { RequestBook } from "./requestBook.ts";
import { createRequestIndex } from "./requestIndex.ts";
import { CHAIN_FACTS, takeBack } from "./takeBack.ts";
import { readWordCharges } from "./wordCharges.ts";

/** Follows requests on chain: turns each block's logs into changes of the requests they belong to. */
export interface Tracker {
  /** Takes a request that is, or is about to be, in a transaction, or one that something else than the chain has ended. */
  track(request: OpenRequest): void;
  /**
   * Takes requests of an earlier process. What that one learnt of them from the chain is learnt anew from `sinceBlock` on: the
   * chain may have been reorganised in between.
   */
  adopt(requests: readonly OpenRequest[]): Promise<void>;
  onBlock(block: WatchedBlock): Promise<void>;
  /** Takes what a transaction of ours told without waiting for its block. */
  onReceipt(receipt: Receipt): Promise<void>;
  /** Takes back what blocks told that the chain no longer has; requests that they ended, and that isn't final, are in work again. */
  onReorg(firstReplaced: bigint): Promise<void>;
  /** When the oracle was last seen to answer anybody: milliseconds since the epoch, `undefined` if not since the start. */
  oracleSeenAt(): number | undefined;
}

/** Events that only an oracle brings about. */
const ANSWERS: ReadonlySet<string> = new Set(["RandomWordsFulfilled", "RequestProcessed"]);

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
    if (events.some(({ event }) => event !== undefined && ANSWERS.has(event.name))) oracleSeenAt = Date.now();
    const charges = readWordCharges(
      events.map(({ event }) => event),
      (id) =>
        Math.max(1, index.ofVrfRequest(id).filter(({ progress }) => progress.parts !== undefined).length),
    );
    const block = createBlockDraft(index);
    try {
      await book.change(() => {
        for (const { log, event } of events)
          if (event !== undefined)
            for (const change of changesOf(event, log, block, charges)) block.add(change, log);
        return block.changes;
      });
    } finally {
      for (const { request } of block.changes) file(request);
    }
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
    let ended: OpenRequest[] = [];
    let changes: Change[] = [];
    const decide = (): readonly Change[] => {
      ended = book
        .unsettled(network)
        .filter(({ endedIn }) => endedIn !== null && endedIn.number >= firstReplaced);
      return (changes = [...new Set([...index.all(), ...ended])].flatMap((request) =>
        setBack(request, firstReplaced),
      ));
    };
    try {
      await book.change(decide, async (db) => {
        await forgetEnds(db, network, Number(firstReplaced));
        for (const { kind, outcome } of ended)
          if (kind === "consumer" && outcome !== null)
            await deleteConsumers(db, network, outcome.transactionHash);
      });
    } finally {
      for (const { request } of changes) file(request);
    }
  };

  return {
    track: file,
    async adopt(requests) {
      await book.change(requests.flatMap(forgetChain));
      for (const request of requests) file(request);
    },
    onBlock: (block) => inTurn(() => take(block.logs)),
    onReceipt: (receipt) => inTurn(() => take(receipt.logs)),
    oracleSeenAt: () => oracleSeenAt,
    onReorg: (firstReplaced) => inTurn(() => goBack(firstReplaced)),
  };
}

/** What changes of a request when the blocks from `firstReplaced` on are gone. */
function setBack(request: OpenRequest, firstReplaced: bigint): readonly Change[] {
  const changes: Change[] = [];
  // What comes again may come earlier than before, and a restart must find it.
  if ((request.progress.sinceBlock ?? 0) >= firstReplaced)
    changes.push({ request, progress: { sinceBlock: Math.max(0, Number(firstReplaced) - 1) } });
  const change = takeBack(request, firstReplaced);
  return change === undefined ? changes : [...changes, change];
}

/** What changes of a request when nothing that was read from the chain counts any more. */
function forgetChain(request: OpenRequest): readonly Change[] {
  const forget = CHAIN_FACTS.filter((name) => request.progress[name] !== undefined);
  return forget.length === 0 ? [] : [{ request, forget }];
}
