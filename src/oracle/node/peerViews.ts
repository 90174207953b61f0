import type { Hex } from "viem";
import type { ChainEventOf } from "../../chainlink/events.ts";
import { toHexText } from "../../lib/hex.ts";
import type { Observation } from "../aggregate.ts";
import type { NodeSet } from "./nodeSet.ts";

/** Observations of this node that wait for the chain's answer. */
const MAX_OBSERVED = 4_096;

/** What one node knows of another, or of itself. */
export interface PeerView {
  readonly signer: Hex;
  readonly transmitter: Hex;
  readonly url: string;
  readonly isSelf: boolean;
  /** Unix time in milliseconds of its last message. */
  readonly lastHeardAt: number | undefined;
  /** Transaction of the last answer that it transmitted, as far as this process has seen. */
  readonly lastTransmission: Hex | undefined;
  readonly transmissions: number;
  /** Requests in which it contradicted itself. */
  readonly contradictions: number;
  /** Of this node itself: answers on chain that were what it had seen, of how many. */
  readonly agreement?: { readonly same: number; readonly of: number };
}

/** Counts what each node does. */
export interface PeerViews {
  observed(requestId: Hex, observation: Observation): void;
  accuse(node: number): void;
  /** Notes an answer on chain, and tells whether it is what this node saw. */
  answered(event: ChainEventOf<"RequestProcessed">, transactionHash: Hex): "same" | "differs" | "unknown";
  list(): readonly PeerView[];
}

/** Creates the counters, all at zero. */
export function createPeerViews(options: {
  readonly set: NodeSet;
  readonly self: number;
  readonly lastHeardAt: (node: number) => number | undefined;
}): PeerViews {
  const { set, self } = options;
  const observations = new Map<Hex, Observation>();
  const counters = set.signers.map(() => ({
    transmissions: 0,
    contradictions: 0,
    last: undefined as Hex | undefined,
  }));
  let same = 0;
  let of = 0;
  return {
    observed(requestId, observation) {
      if (observations.size >= MAX_OBSERVED) observations.delete(observations.keys().next().value!);
      observations.set(requestId, observation);
    },
    accuse(node) {
      counters[node]!.contradictions += 1;
    },
    answered({ requestId, transmitter, response, err }, transactionHash) {
      const index = set.transmitters.findIndex((one) => one.toLowerCase() === transmitter.toLowerCase());
      const counter = counters[index];
      if (counter !== undefined) {
        counter.transmissions += 1;
        counter.last = transactionHash;
      }
      const own = observations.get(requestId);
      if (own === undefined) return "unknown";
      observations.delete(requestId);
      const isSame = toHexText(own.bytes) === (own.ok ? response : err);
      of += 1;
      same += Number(isSame);
      return isSame ? "same" : "differs";
    },
    list: () =>
      counters.map(({ transmissions, contradictions, last }, index) => ({
        signer: set.signers[index]!,
        transmitter: set.transmitters[index]!,
        url: set.urls[index]!,
        isSelf: index === self,
        lastHeardAt: options.lastHeardAt(index),
        lastTransmission: last,
        transmissions,
        contradictions,
        ...(index === self ? { agreement: { same, of } } : {}),
      })),
  };
}
