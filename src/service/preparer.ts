import type { Hex } from "viem";
import {
  PRESET_REQUEST_OVERHEAD_BYTES,
  encodeArgs,
  encodeFunctionsRequest,
} from "../chain/functionsRequest.ts";
import { toHexText } from "../lib/hex.ts";
import { ChainUnavailableError } from "./errors.ts";
import type { ServedChain } from "./networkDesk.ts";
import type { OpenRequest } from "./requestBook.ts";
import type { SourceShelf } from "./sources.ts";
import type { Submission } from "./submission.ts";
import type { Subscriptions } from "./subscriptions.ts";

/**
 * Makes what turns a request into what goes on chain. It makes the dapp's subscriptions when they aren't there yet, and throws
 * `chain_unavailable` when the chain lacks what the request needs.
 */
export function createPreparer(options: {
  readonly chain: Pick<ServedChain, "network" | "keyHash" | "presetConfirmations">;
  readonly subscriptions: Subscriptions;
  readonly shelf: SourceShelf;
}): (request: OpenRequest) => Promise<Submission> {
  const { chain, subscriptions, shelf } = options;
  return async (request) => {
    const { vrfSubscriptionId, functionsSubscriptionId } = await subscriptions.ensure(request.dappId);
    subscriptions.used(request.dappId);
    const { params, progress } = request;
    const requestId = request.id;
    if (request.kind === "random") {
      return {
        kind: "random",
        requestId,
        vrfSubscriptionId,
        keyHash: params["keyHash"] as Hex,
        confirmations: params["confirmations"] as number,
        numWords: params["numWords"] as number,
      };
    }
    if (request.kind === "function") {
      const data = encodeFunctionsRequest({
        source: params["source"] as string,
        args: params["args"] as string[],
      });
      return { kind: "function", requestId, functionsSubscriptionId, data: toHexText(data) };
    }
    // Stored there before the request was accepted; whether the preset still exists doesn't matter.
    const sourceId = await shelf.find(progress.prefixHash!);
    if (sourceId === undefined)
      throw new ChainUnavailableError(chain.network, "the preset's source is not to be seen on the chain");
    const argsCbor = encodeArgs(progress.args ?? []);
    return {
      kind: "preset",
      requestId,
      vrfSubscriptionId,
      functionsSubscriptionId,
      keyHash: chain.keyHash,
      confirmations: chain.presetConfirmations,
      sourceId,
      argsCbor,
      requestBytes: (progress.prefixBytes ?? 0) + argsCbor.length + PRESET_REQUEST_OVERHEAD_BYTES,
    };
  };
}
