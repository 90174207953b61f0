import type { Hex } from "viem";
import type { OpenRequest } from "./openRequest.ts";
import type { ConsumerResult, FunctionResult, PresetResult, RandomResult } from "./results.ts";
import type { Outcome, RequestRecord } from "./service.ts";

/**
 * Turns a stored request into what callers see.
 *
 * @param transactionUrl returns the URL of a transaction's explorer page on the request's network.
 */
export function presentRequest(request: OpenRequest, transactionUrl: (hash: Hex) => string): RequestRecord {
  const { id, dappId, kind, network, state, why, createdAt, updatedAt, timeline, error } = request;
  const { payloadDeletedAt } = request;
  return {
    id,
    dappId,
    kind,
    network,
    params: payloadDeletedAt === undefined ? request.params : presentRest(request),
    state,
    why,
    createdAt,
    updatedAt,
    timeline,
    outcome: presentOutcome(request, transactionUrl),
    error,
    ...(payloadDeletedAt === undefined ? {} : { payloadDeletedAt }),
  };
}

/** Returns the parameters that remain after the payload was deleted. */
function presentRest({ kind, params }: OpenRequest): object {
  if (kind === "preset") return { preset: params.preset };
  return kind === "function" ? { returnType: params.returnType } : params;
}

function presentOutcome(request: OpenRequest, transactionUrl: (hash: Hex) => string): Outcome | null {
  if (request.outcome === null) return null;
  const success = request.state === "fulfilled";
  const { transactionHash } = request.outcome;
  const url = transactionUrl(transactionHash);
  switch (request.kind) {
    case "consumer":
    case "unlink":
      return { success, transactionHash } satisfies ConsumerResult;
    case "random": {
      const { requestId, words } = request.outcome;
      return { success, requestId, transactionHash, url, randomNumber: [...words] } satisfies RandomResult;
    }
    case "function": {
      const { requestId, result, parsedResult, err } = request.outcome;
      const { warnings } = request.progress;
      return {
        success,
        requestId,
        result,
        parsedResult,
        err,
        url,
        ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      } satisfies FunctionResult;
    }
    case "preset": {
      const { requestId, result, parsedResult, err, vrfTransactionHash: vrfv2Hash = "0x" } = request.outcome;
      const vrfv2EventHash = transactionUrl(vrfv2Hash);
      return {
        success,
        vrfv2Hash,
        vrfv2EventHash,
        requestId,
        result,
        parsedResult,
        err,
        url,
      } satisfies PresetResult;
    }
  }
}
