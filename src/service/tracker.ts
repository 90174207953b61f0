import { concatHex, keccak256, numberToHex } from "viem";
import type { Hex } from "viem";
import type { RawLog, Receipt } from "../chain/client.ts";
import { FULFILL_RESULTS, decodeLog } from "../chain/events.ts";
import type { ChainEvent, ChainEventOf } from "../chain/events.ts";
import { decodeRevertReason } from "../chain/revertReason.ts";
import type { WatchedBlock } from "../chain/watcher.ts";
import { fromHexText } from "../lib/hex.ts";
import { decodeResult } from "../lib/decodeResult.ts";
import { deleteConsumers } from "../store/chainRecords.ts";
import { forgetEnds } from "../store/requests.ts";
import type { RequestState } from "../store/schema.ts";
import { isEnded } from "./requestBook.ts";
import type { Change, OpenRequest, Progress, RequestBook } from "./requestBook.ts";
import { createRequestIndex } from "./requestIndex.ts";
import { takeBack, withoutChainFacts } from "./takeBack.ts";

/** Follows requests on chain: turns each block's logs into changes of the requests they belong to. */
export interface Tracker {
  /** Takes a request that is, or is about to be, in a transaction. */
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
  received: 0,
  submitted: 1,
  randomness: 2,
  executing: 3,
  fulfilled: 4,
  failed: 4,
};

/** Makes the tracker of one network. Told the same log twice, it changes nothing the second time. */
export function createTracker(book: RequestBook, network: string): Tracker {
  const index = createRequestIndex();
  let oracleSeenAt: number | undefined;

  const take = async (logs: readonly RawLog[]): Promise<void> => {
    // All are decoded before the first is acted on: a node that sends a malformed one is asked for the block again.
    const events = logs.map((log) => ({ log, event: decodeLog(log) }));
    const changes: Change[] = [];
    for (const { log, event } of events) {
      if (event === undefined) continue;
      if (event.name === "RandomWordsFulfilled" || event.name === "RequestProcessed")
        oracleSeenAt = Date.now();
      for (const change of changesOf(event, log)) {
        // A later log of the same block may build on this one.
        index.remove(change.request);
        preview(change);
        if (isEnded(change.request.state)) {
          const endedIn = { number: Number(log.blockNumber), hash: log.blockHash };
          changes.push({ ...change, endedIn });
        } else {
          changes.push(change);
          index.add(change.request);
        }
      }
    }
    await book.change(changes);
  };

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
        return index
          .ofVrfRequest(event.requestId)
          .flatMap((request) => words(request, event, transactionHash, block));
      case "PresetSent":
      case "PresetRefused": {
        // The consumer's log comes before the coordinator's of the same fulfilment; both are told in the order of states.
        const request = index
          .ofVrfRequest(event.vrfRequestId)
          .find((one) => one.progress.item === event.item);
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
        const request = index.ofFunctionsRequest(event.requestId);
        return request === undefined ? [] : [functionResult(request, transactionHash, event)];
      }
      case "RequestNotProcessed": {
        const request = index.ofFunctionsRequest(event.requestId);
        const result = FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`;
        return request === undefined
          ? []
          : [{ request, why: `the oracle's report was not accepted: ${result}` }];
      }
      case "RequestTimedOut": {
        const request = index.ofFunctionsRequest(event.requestId);
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
    index
      .ofTransaction(transactionHash)
      .filter(({ progress }) => progress.entry === entry && progress.acceptedBlock === undefined);

  return {
    track: (request) => index.add(request),
    adopt(request) {
      index.remove(request);
      request.progress = withoutChainFacts(request.progress);
      index.add(request);
    },
    onBlock: (block) => take(block.logs),
    onReceipt: (receipt) => take(receipt.logs),
    oracleSeenAt: () => oracleSeenAt,
    async onReorg(firstReplaced) {
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
        index.remove(request);
        const change = takeBack(request, firstReplaced);
        index.add(request);
        if (change !== undefined) changes.push(change);
      }
      const linked = ended.flatMap(({ kind, outcome }) =>
        kind === "consumer" && outcome !== null ? [outcome["transactionHash"] as Hex] : [],
      );
      await book.change(changes, async (db) => {
        await forgetEnds(db, network, Number(firstReplaced));
        for (const hash of linked) await deleteConsumers(db, network, hash);
      });
    },
  };
}

/** Lets the rest of the block see a change before it is stored with the others; what is applied again then is the same. */
function preview({ request, progress, state }: Change): void {
  if (progress !== undefined) request.progress = { ...request.progress, ...progress };
  if (state !== undefined) request.state = state;
}

/** What is learnt, and the state it brings unless the request has that behind it. */
function advance(
  request: OpenRequest,
  state: RequestState,
  transactionHash: Hex,
  progress: Partial<Progress>,
): Change {
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
  { outputSeed, success }: ChainEventOf<"RandomWordsFulfilled">,
  transactionHash: Hex,
  block: number,
): Change[] {
  if (request.kind === "random") {
    const numWords = Number(request.params["numWords"]);
    const outcome = {
      words: deriveWords(outputSeed, numWords),
      requestId: request.progress.vrfRequestId,
      transactionHash,
    };
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
  request: OpenRequest,
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
    const parsedResult = decodeResult(fromHexText(event.response), request.progress.returnType ?? "string");
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
