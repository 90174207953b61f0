import type { Hex } from "viem";
import { encodeArgs, encodeFunctionsRequest } from "../../chainlink/functionsRequest.ts";
import { MAX_CONSUMERS } from "../../chainlink/limits.ts";
import { toHexText } from "../../lib/hex.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import { toDrandRound, type SubmittedRequest } from "../openRequest.ts";
import { assertBeaconAhead } from "./beaconAhead.ts";
import type { SourceStore } from "./sources.ts";
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
  /** Confirmations of a preset whose caller chose none. */
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
    assertBeaconAhead(request, options.network);
    const { vrfSubscriptionId, functionsSubscriptionId } = await subscriptions.ensure(request.dappId);
    subscriptions.used(request.dappId);
    subscriptions.assertFunded(request.dappId, request.kind === "function" ? "functions" : "vrf");
    const requestId = request.id;
    const { label: text } = request.params;
    const labelled = text === undefined ? {} : { label: { dapp: request.dappId, text } };
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
        ...labelled,
      };
    }
    if (request.kind === "function") {
      const { source, args, beacon } = request.params;
      const linked = await countLinked(request.dappId);
      const { secretsReference } = request.progress;
      const round = beacon && toDrandRound(beacon);
      const data = encodeFunctionsRequest({ source, args, secretsReference, beacon: round });
      return {
        kind: "function",
        requestId,
        functionsSubscriptionId,
        data: toHexText(data),
        linked,
        ...labelled,
      };
    }
    const { sourceHash, args } = request.progress;
    const { beacon } = request.params;
    // The dry run stored it on chain; whether the preset still exists doesn't matter.
    const sourceId = sourceHash === undefined ? undefined : await sourceStore.find(sourceHash);
    if (sourceId === undefined)
      throw new ChainUnavailableError(options.network, "the preset's source is not visible on the chain yet");
    return {
      kind: "preset",
      requestId,
      vrfSubscriptionId,
      keyHash: options.keyHash,
      joinedKeyHashes: options.presetKeyHashes,
      confirmations: request.params.confirmations ?? options.presetConfirmations,
      sourceId,
      argsCbor: encodeArgs(args),
      beacon: beacon && toDrandRound(beacon),
      ...labelled,
    };
  };
}
