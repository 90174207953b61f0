import { concatHex, keccak256, numberToHex } from "viem";
import type { Hex } from "viem";
import type { RawLog, Receipt } from "../evm/client.ts";
import { FULFILL_RESULTS, decodeLog } from "../chainlink/events.ts";
import type { ChainEvent, ChainEventOf } from "../chainlink/events.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import type { WatchedBlock } from "../evm/watcher.ts";
import { fromHexText } from "../lib/hex.ts";
import { decodeResult } from "../lib/decodeResult.ts";
import { deleteConsumers } from "../store/chainRecords.ts";
import { forgetEnds } from "../store/requests.ts";
import type { RequestState } from "../store/schema.ts";
import { applyChange, isEnded } from "./requestBook.ts";
import type { Change, RequestBook } from "./requestBook.ts";
import type { Facts, OpenRequest, RunRequest } from "./openRequest.ts";
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

/** Order of the states; a log that is told again takes no request back. */
const RANK: Readonly<Record<RequestState, number>> = {
  checking: 0,
  received: 0,
  submitted: 1,
  randomness: 2,
  executing: 3,
  fulfilled: 4,
  failed: 4,
};

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
  /** Requests as the logs read so far would make them, by the requests that they are drafts of; empty between two blocks. */
  const drafts = new Map<OpenRequest, OpenRequest>();
  const originals = new Map<OpenRequest, OpenRequest>();
  const draftIndex = createRequestIndex();
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
    const changes: Change[] = [];
    try {
      for (const { log, event } of events) {
        if (event === undefined) continue;
        if (event.name === "RandomWordsFulfilled" || event.name === "RequestProcessed")
          oracleSeenAt = Date.now();
        for (const change of changesOf(event, log)) changes.push(draft(change, log));
      }
      await book.change(changes);
    } finally {
      for (const each of drafts.values()) draftIndex.delete(each);
      drafts.clear();
      originals.clear();
    }
    for (const { request } of changes) file(request);
  };

  /** Lets the rest of the block see a change before it is stored with the others. */
  const draft = (change: Change, { blockNumber, blockHash }: RawLog): Change => {
    const request = originals.get(change.request) ?? change.request;
    const drafted = drafts.get(request) ?? { ...request };
    applyChange(drafted, change, Date.now());
    drafts.set(request, drafted);
    originals.set(drafted, request);
    if (!isEnded(drafted.state)) {
      draftIndex.set(drafted);
      return { ...change, request };
    }
    draftIndex.delete(drafted);
    return { ...change, request, endedIn: { number: Number(blockNumber), hash: blockHash } };
  };

  /** Files a request in the index under what is stored of it. */
  const file = (request: OpenRequest): void => {
    if (isEnded(request.state)) index.delete(request);
    else index.set(request);
  };

  /** What the index has, with the drafts in the places of their requests. */
  const seen = (stored: readonly OpenRequest[], drafted: readonly OpenRequest[]): OpenRequest[] => [
    ...stored.filter((request) => !drafts.has(request)),
    ...drafted,
  ];
  const ofVrfRequest = (id: Hex): OpenRequest[] => seen(index.ofVrfRequest(id), draftIndex.ofVrfRequest(id));
  const ofFunctionsRequest = (id: Hex): OpenRequest | undefined =>
    seen(index.ofFunctionsRequest(id), draftIndex.ofFunctionsRequest(id)).at(-1);

  const changesOf = (event: ChainEvent, { transactionHash, blockNumber }: RawLog): Change[] => {
    const block = Number(blockNumber);
    switch (event.name) {
      case "Accepted":
        return carriedBy(transactionHash, event.index).map((request) =>
          accepted(request, event, transactionHash, block),
        );
      case "Refused": {
        const reason = decodeRevertReason(event.reason).text;
        return carriedBy(transactionHash, event.index).map((request) =>
          failure(request, transactionHash, `the oracle contract refused the request: ${reason}`),
        );
      }
      case "RandomWordsFulfilled":
        return ofVrfRequest(event.requestId).flatMap((request) =>
          words(request, event, transactionHash, block),
        );
      case "PresetSent":
      case "PresetRefused": {
        // The consumer's log comes before the coordinator's of the same fulfilment; both are told in the order of states.
        const request = ofVrfRequest(event.vrfRequestId).find((one) => one.progress.item === event.item);
        if (request === undefined || request.progress.functionsRequestId !== undefined) return [];
        const word = advance(request, "randomness", transactionHash, {
          wordBlock: block,
          wordTransactionHash: transactionHash,
        });
        if (event.name === "PresetRefused") {
          const reason = decodeRevertReason(event.reason).text;
          return [word, failure(request, transactionHash, `the function request was refused: ${reason}`)];
        }
        return [
          word,
          advance(request, "executing", transactionHash, { functionsRequestId: event.requestId }),
        ];
      }
      case "RequestProcessed": {
        const request = ofFunctionsRequest(event.requestId);
        const hasRun = request?.kind === "preset" || request?.kind === "function";
        return hasRun ? [functionResult(request, transactionHash, event)] : [];
      }
      case "RequestNotProcessed": {
        const request = ofFunctionsRequest(event.requestId);
        const result = FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`;
        return request === undefined
          ? []
          : [{ request, why: `the oracle's report was not accepted: ${result}` }];
      }
      case "RequestTimedOut": {
        const request = ofFunctionsRequest(event.requestId);
        const error = {
          code: "oracle_timeout",
          message: "the oracle network gave no result in time; the function request is taken off the chain",
        };
        return request === undefined ? [] : [{ request, state: "failed", transactionHash, error }];
      }
      default:
        return [];
    }
  };

  /** Requests in one entry of a transaction of ours, so far as they are not known to be on chain. */
  const carriedBy = (transactionHash: Hex, entry: number): OpenRequest[] =>
    seen(index.ofTransaction(transactionHash), draftIndex.ofTransaction(transactionHash)).filter(
      ({ progress }) => progress.entry === entry && progress.acceptedBlock === undefined,
    );

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

/** What is learnt, and the state it brings unless the request has that behind it. */
function advance(request: OpenRequest, state: RequestState, transactionHash: Hex, progress: Facts): Change {
  const learnt = { request, why: null, progress };
  return RANK[request.state] < RANK[state] ? { ...learnt, state, transactionHash } : learnt;
}

function accepted(
  request: OpenRequest,
  { requestId }: ChainEventOf<"Accepted">,
  transactionHash: Hex,
  acceptedBlock: number,
): Change {
  if (request.kind === "function") {
    return advance(request, "executing", transactionHash, { functionsRequestId: requestId, acceptedBlock });
  }
  return { request, why: null, progress: { vrfRequestId: requestId, acceptedBlock } };
}

function words(
  request: OpenRequest,
  { requestId, outputSeed, success }: ChainEventOf<"RandomWordsFulfilled">,
  transactionHash: Hex,
  block: number,
): Change[] {
  if (request.kind === "random") {
    const drawn = deriveWords(outputSeed, request.params.numWords);
    const outcome = { words: drawn, requestId, transactionHash };
    return [{ request, state: "fulfilled", transactionHash, outcome }];
  }
  if (request.progress.functionsRequestId !== undefined) return [];
  if (!success) {
    const message = "the callback that takes the word to the function ran out of gas";
    return [failure(request, transactionHash, message)];
  }
  return [
    advance(request, "randomness", transactionHash, {
      wordBlock: block,
      wordTransactionHash: transactionHash,
    }),
  ];
}

function failure(request: OpenRequest, transactionHash: Hex, message: string): Change {
  return { request, state: "failed", transactionHash, error: { code: "request_failed", message } };
}

function functionResult(
  request: RunRequest,
  transactionHash: Hex,
  event: ChainEventOf<"RequestProcessed">,
): Change {
  const outcome = {
    requestId: event.requestId,
    transactionHash,
    vrfTransactionHash: request.progress.wordTransactionHash,
  };
  const failed = (result: Hex, err: string): Change => ({
    request,
    state: "failed",
    transactionHash,
    outcome: { ...outcome, result, parsedResult: "", err },
  });
  if (event.err !== "0x") return failed("0x", Buffer.from(event.err.slice(2), "hex").toString());
  try {
    const parsedResult = decodeResult(fromHexText(event.response), request.progress.returnType);
    return {
      request,
      state: "fulfilled",
      transactionHash,
      outcome: { ...outcome, result: event.response, parsedResult, err: "0x" },
    };
  } catch (error) {
    return failed(event.response, error instanceof Error ? error.message : String(error));
  }
}

/** Word i = keccak256(output ‖ i), as VRFCoordinatorV2.fulfillRandomWords derives them; decimal. */
function deriveWords(outputSeed: bigint, numWords: number): string[] {
  const seed = numberToHex(outputSeed, { size: 32 });
  return Array.from({ length: numWords }, (_, i) =>
    BigInt(keccak256(concatHex([seed, numberToHex(i, { size: 32 })]))).toString(),
  );
}
