import type { Hex } from "viem";
import {
  PRESET_REQUEST_OVERHEAD_BYTES,
  encodeArgs,
  encodeFunctionsRequest,
} from "../../chainlink/functionsRequest.ts";
import { MAX_CONSUMERS } from "../../chainlink/limits.ts";
import { toHexText } from "../../lib/hex.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import type { SubmittedRequest } from "../openRequest.ts";
import type { SourceStore } from "../accept/sources.ts";
import type { Submission } from "./submission.ts";
import type { Subscriptions } from "../../dapps/subscriptions.ts";

/**
 * Creates the function that turns a request into what goes on chain. It creates the dapp's subscriptions if they don't exist
 * yet, and throws `chain_unavailable` when the chain lacks what the request needs.
 */
export function createPreparer(options: {
  readonly network: string;
  /** Key hash of the proving key that presets request words from. */
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words presets join instead. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Confirmations that presets request. */
  readonly presetConfirmations: number;
  readonly subscriptions: Subscriptions;
  readonly sourceStore: SourceStore;
  /** Number of a dapp's contracts that are being linked to its subscriptions. */
  readonly linkings: (dappId: string) => number;
}): (request: SubmittedRequest) => Promise<Submission> {
  const { subscriptions, sourceStore } = options;

  /** Returns the most consumers there may be when the router loads them: without PresetConsumer, with those being linked. */
  const countLinked = async (dappId: string): Promise<number> => {
    const linkings = options.linkings(dappId);
    const consumers = await subscriptions.countConsumers(dappId);
    return Math.min(consumers + linkings, MAX_CONSUMERS) - 1;
  };

  return async (request) => {
    const { vrfSubscriptionId, functionsSubscriptionId } = await subscriptions.ensure(request.dappId);
    subscriptions.used(request.dappId);
    subscriptions.assertFunded(request.dappId);
    const requestId = request.id;
    if (request.kind === "random") {
      const { keyHash, keyHashes: joinedKeyHashes, confirmations, numWords } = request.params;
      return {
        kind: "random",
        requestId,
        vrfSubscriptionId,
        keyHash,
        joinedKeyHashes,
        confirmations,
        numWords,
      };
    }
    const linked = await countLinked(request.dappId);
    if (request.kind === "function") {
      const { source, args } = request.params;
      const data = encodeFunctionsRequest({ source, args });
      return { kind: "function", requestId, functionsSubscriptionId, data: toHexText(data), linked };
    }
    const { prefixHash, prefixBytes, args } = request.progress;
    // The dry run stored it on chain; whether the preset still exists doesn't matter.
    const sourceId = await sourceStore.find(prefixHash);
    if (sourceId === undefined)
      throw new ChainUnavailableError(options.network, "the preset's source is not visible on the chain yet");
    const argsCbor = encodeArgs(args);
    return {
      kind: "preset",
      requestId,
      vrfSubscriptionId,
      functionsSubscriptionId,
      keyHash: options.keyHash,
      joinedKeyHashes: options.presetKeyHashes,
      confirmations: options.presetConfirmations,
      sourceId,
      argsCbor,
      linked,
      requestBytes: prefixBytes + argsCbor.length + PRESET_REQUEST_OVERHEAD_BYTES,
    };
  };
}
