import type { ConsumerResult, FunctionResult, Outcome, PresetResult, RandomResult } from "../../api/types.ts";
import type { Hex } from "viem";
import { takeApart } from "../../presets/presetShow.ts";
import { isLinking, type OpenRequest } from "../openRequest.ts";
import type { RequestRecord } from "../service.ts";

/** Addresses of pages about a request. */
export interface PageUrls {
  /** Returns the URL of a transaction's explorer page on the request's network. */
  readonly transaction: (hash: Hex) => string;
  /** The public page with the request's result. */
  readonly share: string;
}

/** Turns a stored request into what callers see. */
export function presentRequest(request: OpenRequest, urls: PageUrls): RequestRecord {
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
    outcome: presentOutcome(request, urls),
    ...presentShown(request),
    error,
    ...(isLinking(request) ? {} : { shareUrl: urls.share }),
    ...(payloadDeletedAt === undefined ? {} : { payloadDeletedAt }),
  };
}

/** Returns the parameters that remain after the payload was deleted. */
function presentRest({ kind, params }: OpenRequest): object {
  if (kind === "preset") return { preset: params.preset };
  return kind === "function" ? { returnType: params.returnType } : params;
}

/** Splits a preset's result into parts as the preset said when the request was accepted. */
function presentShown({ kind, params, progress, outcome }: OpenRequest): Pick<RequestRecord, "shown"> {
  const shown = kind === "preset" ? takeApart(progress.show, outcome?.value, params) : undefined;
  return shown === undefined ? {} : { shown };
}

function presentOutcome(request: OpenRequest, urls: PageUrls): Outcome | null {
  if (request.outcome === null) return null;
  const { id } = request;
  const success = request.state === "fulfilled";
  const { transactionHash } = request.outcome;
  const url = urls.transaction(transactionHash);
  const shareUrl = urls.share;
  const failure = success ? {} : ({ code: "function_failed" } as const);
  switch (request.kind) {
    case "consumer":
    case "unlink":
      return { success, id, transactionHash } satisfies ConsumerResult;
    case "random": {
      const { requestId, words } = request.outcome;
      const randomNumber = [...words];
      return {
        success,
        id,
        requestId,
        transactionHash,
        url,
        shareUrl,
        randomNumber,
        value: randomNumber,
      } satisfies RandomResult;
    }
    case "function": {
      const { requestId, result, parsedResult, err } = request.outcome;
      const { warnings } = request.progress;
      const value = success ? parsedResult : null;
      return {
        success,
        id,
        requestId,
        result,
        parsedResult,
        value,
        err,
        ...failure,
        url,
        shareUrl,
        ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      } satisfies FunctionResult;
    }
    case "preset": {
      const { requestId, result, parsedResult, value = null, err } = request.outcome;
      const { vrfTransactionHash: vrfv2Hash = "0x" } = request.outcome;
      const vrfv2EventHash = urls.transaction(vrfv2Hash);
      return {
        success,
        id,
        vrfv2Hash,
        vrfv2EventHash,
        requestId,
        result,
        parsedResult,
        value: typeof value === "object" && value !== null ? [...value] : value,
        err,
        ...failure,
        url,
        shareUrl,
      } satisfies PresetResult;
    }
  }
}
