import type { Hex } from "viem";
import { FULFILL_RESULTS, type ChainEvent, type ChainEventOf } from "../../chainlink/events.ts";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import { presetRequestId } from "../../chainlink/presetBatch.ts";
import { decodeResults, PresetReportError, type PresetResult } from "../../chainlink/presetReport.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { decodeResult } from "../../domain/decodeResult.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { readValue } from "../../domain/presetShow.ts";
import type { RequestState } from "../../domain/vocabulary.ts";
import type { RequestFacts, OpenRequest, RunRequest } from "../openRequest.ts";
import type { Change } from "../requestBook.ts";
import { arrive, missingParts, partsOf } from "./joinedParts.ts";
import type { BeaconWait } from "./beaconWait.ts";
import type { WordCharge, WordCharges } from "./wordCharges.ts";

/** Order of the states: a log delivered again never moves a request back. */
const RANK: Readonly<Record<RequestState, number>> = {
  checking: 0,
  received: 0,
  submitted: 1,
  randomness: 2,
  executing: 3,
  fulfilled: 4,
  failed: 4,
};

/** Finds requests by their on-chain identifiers. */
export interface RequestFinder {
  /** Returns the requests with a transaction hash, a VRF request id or a Functions request id: 32 bytes each, which don't collide. */
  find(id: Hex): readonly OpenRequest[];
}

/** Returns what an event changes in the requests it belongs to. Idempotent: the same event delivered again changes nothing. */
export function changesOf(
  event: ChainEvent,
  { transactionHash, blockNumber }: Pick<RawLog, "transactionHash" | "blockNumber">,
  requests: RequestFinder,
  { charges, beaconWait }: { readonly charges: WordCharges; readonly beaconWait: BeaconWait },
): Change[] {
  const block = Number(blockNumber);
  switch (event.name) {
    case "Accepted":
      return carriedBy(requests, transactionHash, event.index).map((request) =>
        accepted(request, event, transactionHash, block),
      );
    case "Refused": {
      const reason = decodeRevertReason(event.reason).text;
      return carriedBy(requests, transactionHash, event.index).map((request) =>
        failure(request, transactionHash, `the oracle contract refused the request: ${reason}`),
      );
    }
    case "Joining":
      return requests
        .find(event.requestId)
        .filter(({ progress }) => progress.parts === undefined)
        .map((request) => ({ request, progress: { parts: partsOf(event) } }));
    case "WordsJoined":
      return requests
        .find(event.requestId)
        .flatMap((request) => joined(request, event, { transactionHash, block }, charges));
    case "RandomWordsFulfilled":
      return requests.find(event.requestId).flatMap((request) =>
        isJoined(request)
          ? part(request, event, { transactionHash, block }, charges)
          : words(request, event, {
              transactionHash,
              block,
              charge: charges(event.requestId, request),
            }),
      );
    case "BatchReported":
      return requests
        .find(event.vrfRequestId)
        .flatMap((request) => reported(request, transactionHash, event));
    case "RequestProcessed": {
      const request = requests.find(event.requestId).at(-1);
      return request?.kind === "function" ? [functionResult(request, transactionHash, event)] : [];
    }
    case "RequestNotProcessed": {
      const request = requests.find(event.requestId).at(-1);
      const result = FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`;
      return request === undefined
        ? []
        : [{ request, why: `the oracle's report was not accepted: ${result}` }];
    }
    case "RequestTimedOut": {
      const request = requests.find(event.requestId).at(-1);
      return request === undefined ? [] : [timedOut(request, transactionHash, beaconWait(request)?.why)];
    }
    default:
      return [];
  }
}

/** Returns the requests in one entry of a transaction of ours that aren't known to be on chain yet. */
function carriedBy(requests: RequestFinder, transactionHash: Hex, entry: number): OpenRequest[] {
  return requests
    .find(transactionHash)
    .filter(({ progress }) => progress.entry === entry && progress.acceptedBlock === undefined);
}

/** Returns the new facts, along with the state they bring unless the request is already there or further on. */
function advance(
  request: OpenRequest,
  state: RequestState,
  transactionHash: Hex,
  progress: RequestFacts,
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
  const { transactionHashes = [] } = request.progress;
  // The one that is mined comes last, whichever versions a reprice added.
  const sent =
    transactionHashes.at(-1) === transactionHash
      ? {}
      : {
          transactionHashes: [...transactionHashes.filter((one) => one !== transactionHash), transactionHash],
        };
  if (request.kind === "function") {
    const functionsRequestId = requestId;
    return advance(request, "executing", transactionHash, { functionsRequestId, acceptedBlock, ...sent });
  }
  const progress = { vrfRequestId: requestId, acceptedBlock, ...sent };
  if (request.kind !== "preset") return { request, why: null, progress };
  const id = presetRequestId(requestId, request.progress.item ?? 0);
  return { request, why: null, progress: { ...progress, presetRequestId: id } };
}

function words(
  request: OpenRequest,
  { requestId, outputSeed, success }: ChainEventOf<"RandomWordsFulfilled">,
  found: { readonly transactionHash: Hex; readonly block: number; readonly charge: WordCharge },
): Change[] {
  const { transactionHash, block, charge } = found;
  if (request.kind === "random") {
    const drawn = deriveWords(outputSeed, request.params.numWords).map(String);
    const outcome = { words: drawn, requestId, transactionHash };
    return [{ request, state: "fulfilled", transactionHash, outcome, progress: charge }];
  }
  if (!success) {
    const message = `the random word was on chain in the transaction ${transactionHash}, but the callback that takes it ran out of gas`;
    return [{ ...failure(request, transactionHash, message), progress: charge }];
  }
  return [
    advance(request, "randomness", transactionHash, {
      wordBlock: block,
      wordTransactionHash: transactionHash,
      ...charge,
    }),
  ];
}

/** Whether the request joins several words; its own VRF request then brings the first of them. */
function isJoined({ kind, params, progress }: OpenRequest): boolean {
  return progress.parts !== undefined || (kind === "random" && params.keyHashes !== undefined);
}

/** Returns the changes when one of several joined words arrives. */
function part(
  request: OpenRequest,
  { requestId, success }: ChainEventOf<"RandomWordsFulfilled">,
  found: { readonly transactionHash: Hex; readonly block: number },
  charges: WordCharges,
): Change[] {
  const { parts = [] } = request.progress;
  const one = missingParts(request).find(({ id }) => id === requestId);
  if (one === undefined) return [];
  const { transactionHash } = found;
  const progress = arrive(request, new Set([requestId]), found, charges);
  if (!success) {
    const message = `the callback that takes the word of the key hash ${one.keyHash} ran out of gas`;
    return [{ ...failure(request, transactionHash, message), progress }];
  }
  const left = missingParts(request).length - 1;
  const detail = `word ${parts.length - left} of ${parts.length}, of the key hash ${one.keyHash}`;
  // Blocks are read again after a restart: each word that the transaction has brought is in the timeline once.
  const isInIt = (entry: { readonly transactionHash?: string }): boolean =>
    entry.transactionHash === transactionHash;
  const brought = progress.parts?.filter(isInIt).length ?? 0;
  const told = request.timeline.filter((entry) => entry.state === "submitted" && isInIt(entry)).length;
  if (told >= brought) return [{ request, progress }];
  return [{ request, progress, why: null, state: "submitted", detail, transactionHash }];
}

/** Returns the changes when all words of a request are there: the last missing one arrived in this transaction. */
function joined(
  request: OpenRequest,
  { requestId, seed }: ChainEventOf<"WordsJoined">,
  found: { readonly transactionHash: Hex; readonly block: number },
  charges: WordCharges,
): Change[] {
  if (request.progress.parts === undefined) return [];
  const { transactionHash, block } = found;
  const progress = arrive(request, new Set(missingParts(request).map(({ id }) => id)), found, charges);
  if (request.kind !== "random") {
    const word = { wordBlock: block, wordTransactionHash: transactionHash };
    return [advance(request, "randomness", transactionHash, { ...progress, ...word })];
  }
  const drawn = deriveWords(seed, request.params.numWords).map(String);
  const outcome = { words: drawn, requestId, transactionHash };
  return [{ request, state: "fulfilled", transactionHash, outcome, progress }];
}

function failure(request: OpenRequest, transactionHash: Hex, message: string): Change {
  return { request, state: "failed", transactionHash, error: { code: "request_failed", message } };
}

/**
 * Fails a request whose function got no result in time.
 *
 * @param unknownBeacon why its round of drand isn't known; `undefined` if that isn't what it waited for
 */
function timedOut(request: OpenRequest, transactionHash: Hex, unknownBeacon: string | undefined): Change {
  const removed = "the function request has been removed from the chain";
  const error =
    unknownBeacon === undefined
      ? { code: "oracle_timeout", message: `the oracle network gave no result in time; ${removed}` }
      : {
          code: "beacon_late",
          message: `the round did not come in time, and no other is ever taken; ${removed}: ${unknownBeacon}`,
        };
  return { request, state: "failed", transactionHash, error };
}

/** Returns the end of a preset whose batch got its results. */
function reported(
  request: OpenRequest,
  transactionHash: Hex,
  { results }: ChainEventOf<"BatchReported">,
): Change[] {
  const { item = 0, presetRequestId: requestId, wordTransactionHash } = request.progress;
  // A node may omit the block of the word; then both are read again, see OmittedAnswers.
  if (request.kind !== "preset" || requestId === undefined || wordTransactionHash === undefined) return [];
  let result: PresetResult | undefined;
  try {
    result = decodeResults(fromHexText(results))[item];
  } catch (error) {
    if (!(error instanceof PresetReportError)) throw error;
    return [
      failure(request, transactionHash, `the nodes signed results that can't be read: ${error.message}`),
    ];
  }
  if (result === undefined)
    return [failure(request, transactionHash, `the nodes signed no result for item ${item} of the batch`)];
  const outcome = { requestId, transactionHash, vrfTransactionHash: wordTransactionHash };
  return [ended(request, outcome, result)];
}

function functionResult(
  request: RunRequest,
  transactionHash: Hex,
  { requestId, response, err, totalCostJuels }: ChainEventOf<"RequestProcessed">,
): Change {
  const isOk = err === "0x";
  const result = { ok: isOk, bytes: fromHexText(isOk ? response : err) };
  const progress = { functionJuels: String(totalCostJuels) };
  return { ...ended(request, { requestId, transactionHash }, result), progress };
}

/** Returns the end of a request with what its source gave. */
function ended(
  request: RunRequest,
  outcome: Pick<NonNullable<RunRequest["outcome"]>, "requestId" | "transactionHash" | "vrfTransactionHash">,
  { ok, bytes }: PresetResult,
): Change {
  const { transactionHash } = outcome;
  const failed = (result: Hex, err: string): Change => ({
    request,
    state: "failed",
    transactionHash,
    outcome: { ...outcome, result, parsedResult: "", err },
  });
  if (!ok) return failed("0x", Buffer.from(bytes).toString());
  const result = toHexText(bytes);
  try {
    const parsedResult = decodeResult(bytes, request.progress.returnType);
    const value =
      request.kind === "preset" ? readValue(request.progress.show, parsedResult, request.params) : undefined;
    return {
      request,
      state: "fulfilled",
      transactionHash,
      outcome: { ...outcome, result, parsedResult, value, err: "0x" },
    };
  } catch (error) {
    return failed(result, error instanceof Error ? error.message : String(error));
  }
}
