import type { Hex } from "viem";
import type { Proof } from "../../vrf/proof.ts";
import type { VrfRequest } from "../vrf/fulfillment.ts";
import type { OracleLog } from "../log.ts";
import { createPresetBatches } from "../batches/presetBatches.ts";
import type { ProofCompanion } from "../answerer.ts";
import { createWire } from "../protocol/wire.ts";
import { ORACLE_TOPICS } from "../topics.ts";
import { decodeNodeSet, type NodeSet } from "./nodeSet.ts";
import { createPeer } from "./peerClient.ts";
import { followNodeSet } from "./setFollower.ts";
import { createStageClock } from "./stageClock.ts";

export interface ProofSenderOptions {
  readonly chainId: number;
  /** FunctionsCoordinator, lower case. */
  readonly coordinator: Hex;
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  /** The coordinator's current configuration; later ones are followed. */
  readonly set: NodeSet;
  /** Reads the current configuration again. */
  readonly readSet: () => Promise<NodeSet>;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** The nodes of a configuration, as their peer. */
interface Nodes {
  /** How many have a URL. */
  readonly count: number;
  send(requestId: Hex, proof: Proof): void;
  close(): void;
}

/**
 * Creates the sender of a VRF operator's proofs to the nodes, which deliver them with the results of presets.
 *
 * The nodes have two blocks' time to deliver the word of a batch of presets; the VRF operator delivers the word itself if they don't, and
 * any other word at once. Joined words can't come with their presets' results, as no single proof shows them, and words that wait for a
 * round of drand go first.
 */
export function createProofSender(options: ProofSenderOptions): ProofCompanion {
  const { chainId, coordinator, presetConsumer, log, signal } = options;
  const batches = createPresetBatches({ ...options, onDue() {} });
  const clock = createStageClock();
  /** Proofs of batches whose word is not on chain, by request id. */
  const waiting = new Map<Hex, { readonly proof: Proof; readonly end: () => void }>();
  let nodes = connect(options.set);
  const sets = followNodeSet({
    first: options.set,
    read: options.readSet,
    log,
    signal,
    onChange(set) {
      nodes.close();
      nodes = connect(set);
      for (const [requestId, { proof }] of waiting) nodes.send(requestId, proof);
    },
  });

  function connect(set: NodeSet): Nodes {
    const closing = new AbortController();
    const wire = createWire({ chainId, coordinator, configDigest: set.configDigest, signers: set.signers });
    const peers = set.urls.map((url) => createPeer(url, AbortSignal.any([signal, closing.signal])));
    return {
      count: peers.length,
      send(requestId, proof) {
        const message = wire.encodeProofMessage(requestId, proof);
        for (const peer of peers) peer.send(message);
      },
      close: () => closing.abort(),
    };
  }

  return {
    presetConsumer,
    addresses: [coordinator, options.vrfCoordinator, presetConsumer],
    async accompany({ requestId }: VrfRequest, { finish }) {
      const entry = batches.requests.find(requestId);
      if (entry === undefined || entry.request.isJoined || nodes.count === 0) return;
      // The word must be on chain before the round of drand is known: then nobody can withhold it for the result that it would bring.
      if (entry.request.beacon !== undefined) return;
      const proof = finish();
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = clock.start(1, resolve);
      waiting.set(requestId, { proof, end: resolve });
      nodes.send(requestId, proof);
      await promise;
      stop();
      waiting.delete(requestId);
    },
    withReports: (_, send) => send([]),
    onBlock(block) {
      batches.requests.onHead(block.number);
      for (const eventLog of block.logs) {
        if (eventLog.address !== coordinator) continue;
        if (eventLog.topics[0] === ORACLE_TOPICS.ConfigSet) sets.onLog(decodeNodeSet(eventLog));
      }
      batches.read(block.logs);
      for (const [requestId, { proof, end }] of waiting) {
        const entry = batches.requests.find(requestId);
        if (entry === undefined || batches.seedOf(entry) !== undefined) end();
        // A node may have lost it, or not have seen the request's block.
        else nodes.send(requestId, proof);
      }
      clock.onBlock(block.number);
    },
    onReorg(firstReplaced) {
      sets.onReorg(firstReplaced);
      clock.onReorg(firstReplaced);
      return batches.onReorg(firstReplaced);
    },
    // The batches are the nodes' to answer, and their words are the VRF node's.
    pending: () => [],
  };
}
