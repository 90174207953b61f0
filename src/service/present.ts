import type { Hex } from "viem";
import type { OpenRequest } from "./requestBook.ts";
import type { ConsumerResult, FunctionResult, PresetResult, RandomResult } from "./results.ts";
import type { Outcome, RequestRecord } from "./service.ts";

/** What the tracker and the desk leave in a request's journal entry; links are made when somebody asks. */
interface StoredOutcome {
  readonly transactionHash: Hex;
  readonly requestId: Hex;
  readonly vrfTransactionHash?: Hex;
  readonly result: Hex;
  readonly parsedResult: string;
  readonly err: string;
  readonly words: readonly string[];
}

/**
 * Turns a stored request into what callers see.
 *
 * @param transactionUrl gives the explorer's page of a transaction on the request's network.
 */
export function presentRequest(request: OpenRequest, transactionUrl: (hash: Hex) => string): RequestRecord {
  const { id, dappId, kind, network, params, state, why, createdAt, updatedAt, timeline, error } = request;
  const outcome = request.outcome && presentOutcome(request, transactionUrl);
  return { id, dappId, kind, network, params, state, why, createdAt, updatedAt, timeline, outcome, error };
}

function presentOutcome(
  { kind, state, outcome }: OpenRequest,
  transactionUrl: (hash: Hex) => string,
): Outcome {
  const { transactionHash, ...stored } = outcome as unknown as StoredOutcome;
  const success = state === "fulfilled";
  if (kind === "consumer") return { success, transactionHash } satisfies ConsumerResult;
  const url = transactionUrl(transactionHash);
  const { requestId, result, parsedResult, err } = stored;
  if (kind === "random")
    return {
      success,
      requestId,
      transactionHash,
      url,
      randomNumber: [...stored.words],
    } satisfies RandomResult;
  if (kind === "function")
    return { success, requestId, result, parsedResult, err, url } satisfies FunctionResult;
  const vrfv2Hash = stored.vrfTransactionHash ?? "0x";
  return {
    success,
    vrfv2Hash,
    vrfv2EventHash: transactionUrl(vrfv2Hash),
    requestId,
    result,
    parsedResult,
    err,
    url,
  } satisfies PresetResult;
}
