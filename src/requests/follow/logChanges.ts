import type { Hex } from "viem";
import { FULFILL_RESULTS } from "../../chainlink/events.ts";
import type { ChainEvent, ChainEventOf } from "../../chainlink/events.ts";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { RawLog } from "../../evm/client.ts";
import { decodeResult } from "../../lib/decodeResult.ts";
import { fromHexText } from "../../lib/hex.ts";
import { readValue } from "../../presets/presetShow.ts";
import type { RequestState } from "../../store/schema.ts";
import type { RequestFinder } from "./blockDraft.ts";
import type { Facts, JoinedPart, OpenRequest, RunRequest } from "../openRequest.ts";
import type { Change } from "../change.ts";
import { arrive, missingParts, partsOf } from "./joinedParts.ts";
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

/** Returns what an event changes in the requests it belongs to. Idempotent: the same event delivered again changes nothing. */
export function changesOf(
  event: ChainEvent,
  { transactionHash, blockNumber }: Pick<RawLog, "transactionHash" | "blockNumber">,
  requests: RequestFinder,
  charges: WordCharges,
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
        .ofVrfRequest(event.requestId)
        .filter(({ progress }) => progress.parts === undefined)
        .map((request) => ({ request, progress: { parts: partsOf(event) } }));
    case "WordsJoined":
      return requests
        .ofVrfRequest(event.requestId)
        .flatMap((request) => joined(request, event, { transactionHash, block }, charges));
    case "RandomWordsFulfilled":
      return requests.ofVrfRequest(event.requestId).flatMap((request) =>
        isJoined(request)
          ? part(request, event, { transactionHash, block }, charges)
          : words(request, event, {
              transactionHash,
              block,
              charge: charges(event.requestId, request.progress.item ?? 0),
            }),
      );
    case "PresetSent":
    case "PresetRefused": {
      // Within a fulfilment, the consumer logs before the coordinator does. Both steps are reported here, in the order of states.
      const request = requests
        .ofVrfRequest(event.vrfRequestId)
        .find((one) => one.progress.item === event.item);
      if (request === undefined || request.progress.functionsRequestId !== undefined) return [];
      const word = advance(request, "randomness", transactionHash, {
        wordBlock: block,
        wordTransactionHash: transactionHash,
        // The last missing word arrived in this transaction.
        ...(isJoined(request)
          ? arrive(request, idsOf(missingParts(request)), { transactionHash, block }, charges)
          : charges(event.vrfRequestId, event.item)),
      });
      if (event.name === "PresetRefused") {
        const reason = decodeRevertReason(event.reason).text;
        return [word, wordUnused(request, transactionHash, reason)];
      }
      return [word, advance(request, "executing", transactionHash, { functionsRequestId: event.requestId })];
    }
    case "RequestProcessed": {
      const request = requests.ofFunctionsRequest(event.requestId).at(-1);
      const hasRun = request?.kind === "preset" || request?.kind === "function";
      return hasRun ? [functionResult(request, transactionHash, event)] : [];
    }
    case "RequestNotProcessed": {
      const request = requests.ofFunctionsRequest(event.requestId).at(-1);
      const result = FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`;
      return request === undefined
        ? []
        : [{ request, why: `the oracle's report was not accepted: ${result}` }];
    }
    case "RequestTimedOut": {
      const request = requests.ofFunctionsRequest(event.requestId).at(-1);
      return request === undefined ? [] : [timedOut(request, transactionHash)];
    }
    default:
      return [];
  }
}

/** Returns the requests in one entry of a transaction of ours that aren't known to be on chain yet. */
function carriedBy(requests: RequestFinder, transactionHash: Hex, entry: number): OpenRequest[] {
  return requests
    .ofTransaction(transactionHash)
    .filter(({ progress }) => progress.entry === entry && progress.acceptedBlock === undefined);
}

/** Returns the new facts, along with the state they bring unless the request is already there or further on. */
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
  found: { readonly transactionHash: Hex; readonly block: number; readonly charge: WordCharge },
): Change[] {
  const { transactionHash, block, charge } = found;
  if (request.kind === "random") {
    const drawn = deriveWords(outputSeed, request.params.numWords).map(String);
    const outcome = { words: drawn, requestId, transactionHash };
    return [{ request, state: "fulfilled", transactionHash, outcome, progress: charge }];
  }
  if (request.progress.functionsRequestId !== undefined) return [];
  if (!success) {
    const reason = "the callback that passes the word on ran out of gas";
    return [{ ...wordUnused(request, transactionHash, reason), progress: charge }];
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

function idsOf(parts: readonly JoinedPart[]): ReadonlySet<Hex> {
  return new Set(parts.map(({ id }) => id));
}

/** Returns the changes when one of several joined words arrives. */
function part(
  request: OpenRequest,
  { requestId, success }: ChainEventOf<"RandomWordsFulfilled">,
  found: { readonly transactionHash: Hex; readonly block: number },
  charges: WordCharges,
): Change[] {
  const { parts = [], functionsRequestId } = request.progress;
  const one = missingParts(request).find(({ id }) => id === requestId);
  if (one === undefined || functionsRequestId !== undefined) return [];
  const { transactionHash } = found;
  const progress = arrive(request, new Set([requestId]), found, charges);
  if (!success) {
    const message = `the callback that takes the word of the key hash ${one.keyHash} ran out of gas`;
    return [{ ...failure(request, transactionHash, message), progress }];
  }
  const left = missingParts(request).length - 1;
  const detail = `word ${parts.length - left} of ${parts.length}, of the key hash ${one.keyHash}`;
  // Blocks are read again after a restart.
  if (request.timeline.some((entry) => entry.detail === detail && entry.transactionHash === transactionHash))
    return [{ request, progress }];
  return [{ request, progress, why: null, state: "submitted", detail, transactionHash }];
}

/**
 * Returns the changes when all words of a `random` request are there. A preset changes later in the same transaction, with
 * its function request.
 */
function joined(
  request: OpenRequest,
  { requestId, seed }: ChainEventOf<"WordsJoined">,
  found: { readonly transactionHash: Hex; readonly block: number },
  charges: WordCharges,
): Change[] {
  if (request.kind !== "random" || request.progress.parts === undefined) return [];
  const { transactionHash } = found;
  const drawn = deriveWords(seed, request.params.numWords).map(String);
  const outcome = { words: drawn, requestId, transactionHash };
  const progress = arrive(request, idsOf(missingParts(request)), found, charges);
  return [{ request, state: "fulfilled", transactionHash, outcome, progress }];
}

function failure(request: OpenRequest, transactionHash: Hex, message: string): Change {
  return { request, state: "failed", transactionHash, error: { code: "request_failed", message } };
}

/**
 * Fails a preset that has a word and no function. Whoever can cause this, by unlinking the consumer or emptying its subscription, sees the word first:
 * the caller must be able to tell such a failure from one before any word.
 */
function wordUnused(request: OpenRequest, transactionHash: Hex, reason: string): Change {
  const message = `the random word was on chain in the transaction ${transactionHash}, but the function request did not follow: ${reason}`;
  return failure(request, transactionHash, message);
}

/** Fails a request whose function got no result in time; a preset had its word by then. */
function timedOut(request: OpenRequest, transactionHash: Hex): Change {
  const word = request.progress.wordTransactionHash;
  const hadWord = word === undefined ? "" : `the random word was on chain in the transaction ${word}, but `;
  const message = `${hadWord}the oracle network gave no result in time; the function request has been removed from the chain`;
  return { request, state: "failed", transactionHash, error: { code: "oracle_timeout", message } };
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
  const progress = { functionJuels: String(event.totalCostJuels) };
  const failed = (result: Hex, err: string): Change => ({
    request,
    state: "failed",
    transactionHash,
    progress,
    outcome: { ...outcome, result, parsedResult: "", err },
  });
  if (event.err !== "0x") return failed("0x", Buffer.from(event.err.slice(2), "hex").toString());
  try {
    const parsedResult = decodeResult(fromHexText(event.response), request.progress.returnType);
    const value =
      request.kind === "preset" ? readValue(request.progress.show, parsedResult, request.params) : undefined;
    return {
      request,
      state: "fulfilled",
      transactionHash,
      progress,
      outcome: { ...outcome, result: event.response, parsedResult, value, err: "0x" },
    };
  } catch (error) {
    return failed(event.response, error instanceof Error ? error.message : String(error));
  }
}
