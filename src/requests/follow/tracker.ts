import type { Hex } from "viem";
import { createMutex } from "../../lib/mutex.ts";
import { decodeLog } from "../../chainlink/events.ts";
import type { RawLog, Receipt } from "../../lib/nodeAnswers.ts";
import { deleteConsumers } from "../../store/chainRecords.ts";
import { forgetEnds } from "../../store/requests.ts";
import { changesOf, type RequestFinder } from "./logChanges.ts";
import type { BeaconWait } from "./beaconWait.ts";
import type { OpenRequest } from "../openRequest.ts";
import { type Change, type RequestBook, applyChange } from "../requestBook.ts";
import { CHAIN_FACTS, takeBack } from "./takeBack.ts";
import { readWordCharges } from "./wordCharges.ts";
import { isEnded } from "../../domain/vocabulary.ts";
import type { WatchedBlock } from "../../evm/blockReader.ts";

/** Follows requests on chain: turns each block's logs into changes of the requests they belong to. */
export interface Tracker {
  /** Indexes a request that is in a transaction, or about to be; drops one that something other than the chain has ended. */
  track(request: OpenRequest): void;
  /**
   * Adopts requests of an earlier process. What that process learned about them from the chain is read again from
   * `sinceBlock` on: there may have been a reorg in between.
   */
  adopt(requests: readonly OpenRequest[]): Promise<void>;
  onBlock(block: WatchedBlock): Promise<void>;
  /** Processes the logs of a transaction of ours without waiting for its block. */
  onReceipt(receipt: Receipt): Promise<void>;
  /** Takes back what came from blocks that the chain no longer has; requests that ended in them reopen, unless their end is final. */
  onReorg(firstReplaced: bigint): Promise<void>;
  /** Returns the newest block whose logs have taken effect, with all before it; `undefined` before the first. */
  readTo(): bigint | undefined;
  /** When the oracle last delivered words, or a result, by `performance.now()`; `undefined` if it hasn't since the start. */
  oracleSeenAt(what: "words" | "result"): number | undefined;
}

/** Events that only an oracle causes: its VRF nodes the first, its function nodes the others. */
const ANSWERS: Readonly<Record<"words" | "result", readonly string[]>> = {
  words: ["RandomWordsFulfilled"],
  result: ["BatchReported", "RequestProcessed"],
};

/**
 * Creates the tracker of one network. Idempotent: a log delivered again changes nothing.
 *
 * @param options.listNotFinal reads the requests that have ended and aren't final from the journal: memory holds only those of the
 * newest blocks.
 */
export function createTracker(
  book: RequestBook,
  network: string,
  options: {
    readonly listNotFinal?: (firstReplaced: bigint) => Promise<readonly OpenRequest[]>;
    readonly beaconWait?: BeaconWait;
  } = {},
): Tracker {
  const { listNotFinal = async () => [], beaconWait = () => undefined } = options;
  const index = createRequestIndex();
  const oracleSeenAt: { words?: number; result?: number } = {};
  let readTo: bigint | undefined;

  /** Processes blocks and receipts in sequence: each starts from what the previous one has stored. */
  const inTurn = createMutex();

  const take = async (logs: readonly RawLog[]): Promise<void> => {
    // All logs are decoded before the first takes effect: if a node sends a malformed one, the block is read again.
    const events = logs.map((log) => ({ log, event: decodeLog(log) }));
    for (const what of ["words", "result"] as const)
      if (events.some(({ event }) => event !== undefined && ANSWERS[what].includes(event.name)))
        oracleSeenAt[what] = performance.now();
    const charges = readWordCharges(events.map(({ event }) => event));
    const block = createBlockDraft(index);
    try {
      const decide = (): readonly Change[] => {
        for (const { log, event } of events)
          if (event !== undefined)
            for (const change of changesOf(event, log, block, { charges, beaconWait }))
              block.add(change, log);
        return block.changes;
      };
      await book.change(decide, undefined, { isOnChain: true });
    } finally {
      for (const { request } of block.changes) file(request);
    }
  };

  /** Indexes a request by what is stored of it. */
  const file = (request: OpenRequest): void => {
    if (isEnded(request.state)) index.delete(request);
    else index.set(request);
  };

  const goBack = async (firstReplaced: bigint): Promise<void> => {
    const held = new Set(book.notFinal(network).map(({ id }) => id));
    const stored = await listNotFinal(firstReplaced);
    book.restore(stored.filter(({ id }) => !held.has(id) && book.get(id) === undefined));
    let ended: OpenRequest[] = [];
    let changes: Change[] = [];
    const decide = (): readonly Change[] => {
      ended = book
        .notFinal(network)
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
      await book.change(() => requests.flatMap(forgetChain));
      for (const request of requests) file(request);
    },
    onBlock: (block) =>
      inTurn(async () => {
        await take(block.logs);
        readTo = block.number;
      }),
    onReceipt: (receipt) => inTurn(() => take(receipt.logs)),
    oracleSeenAt: (what) => oracleSeenAt[what],
    readTo: () => readTo,
    onReorg: (firstReplaced) =>
      inTurn(async () => {
        if (readTo !== undefined && readTo >= firstReplaced) readTo = firstReplaced - 1n;
        await goBack(firstReplaced);
      }),
  };
}

/** Returns the changes to a request when the blocks from `firstReplaced` on are gone. */
function setBack(request: OpenRequest, firstReplaced: bigint): readonly Change[] {
  const changes: Change[] = [];
  // Transactions may be mined again in earlier blocks than before, and a restart must find them.
  if ((request.progress.sinceBlock ?? 0) >= firstReplaced)
    changes.push({ request, progress: { sinceBlock: Math.max(0, Number(firstReplaced) - 1) } });
  const change = takeBack(request, firstReplaced);
  return change === undefined ? changes : [...changes, change];
}

/** Returns the change that discards everything read from the chain. */
function forgetChain(request: OpenRequest): readonly Change[] {
  const forget = CHAIN_FACTS.filter((name) => request.progress[name] !== undefined);
  return forget.length === 0 ? [] : [{ request, forget }];
}

/** Finds open requests by their on-chain identifiers. */
interface RequestIndex extends RequestFinder {
  /** Adds a request, or reindexes it by its current progress. */
  set(request: OpenRequest): void;
  delete(request: OpenRequest): void;
  all(): readonly OpenRequest[];
}

/** Creates an empty index. */
export function createRequestIndex(): RequestIndex {
  const byId = new Map<Hex, Set<OpenRequest>>();
  const idsOf = new Map<OpenRequest, readonly Hex[]>();

  const remove = (request: OpenRequest): void => {
    for (const id of idsOf.get(request) ?? []) {
      const requests = byId.get(id);
      requests?.delete(request);
      if (requests?.size === 0) byId.delete(id);
    }
    idsOf.delete(request);
  };

  return {
    set(request) {
      remove(request);
      const { transactionHashes = [], vrfRequestId, functionsRequestId, parts = [] } = request.progress;
      const ids = [...transactionHashes];
      if (vrfRequestId !== undefined) ids.push(vrfRequestId);
      if (functionsRequestId !== undefined) ids.push(functionsRequestId);
      // The first part has the request's own id.
      for (const { id } of parts.slice(1)) ids.push(id);
      idsOf.set(request, ids);
      for (const id of ids) {
        const requests = byId.get(id);
        if (requests === undefined) byId.set(id, new Set([request]));
        else requests.add(request);
      }
    },
    delete: remove,
    find: (id) => [...(byId.get(id) ?? [])],
    all: () => [...idsOf.keys()],
  };
}

/** The changes that one block's logs bring. Each log is read as if the changes of the earlier ones were already stored. */
interface BlockDraft extends RequestFinder {
  /** The changes so far; each refers to the stored request, not to its draft. */
  readonly changes: readonly Change[];
  /** Adds the change that a log brings to a request found through this draft. */
  add(change: Change, log: Pick<RawLog, "blockNumber" | "blockHash">): void;
}

/** Creates an empty draft over the requests of an index, without modifying them. */
export function createBlockDraft(index: RequestFinder): BlockDraft {
  const changes: Change[] = [];
  const drafts = new Map<OpenRequest, OpenRequest>();
  const originals = new Map<OpenRequest, OpenRequest>();
  const draftIndex = createRequestIndex();

  return {
    changes,
    add(change, { blockNumber, blockHash }) {
      const request = originals.get(change.request) ?? change.request;
      const drafted = drafts.get(request) ?? { ...request };
      applyChange(drafted, change, Date.now());
      drafts.set(request, drafted);
      originals.set(drafted, request);
      if (isEnded(drafted.state)) {
        draftIndex.delete(drafted);
        changes.push({ ...change, request, endedIn: { number: Number(blockNumber), hash: blockHash } });
      } else {
        draftIndex.set(drafted);
        changes.push({ ...change, request });
      }
    },
    find: (id) => [
      // A request that ended otherwise stays ended: late words change nothing.
      ...index.find(id).filter((request) => !drafts.has(request) && !isEnded(request.state)),
      ...draftIndex.find(id),
    ],
  };
}
