import type { Hex } from "viem";
import type { ChainEventOf } from "../../chainlink/events.ts";
import { toHexText } from "../../lib/hex.ts";
import type { Observation } from "../aggregateObservations.ts";
import type { Membership } from "./membership.ts";

/** Maximum number of requests whose observations wait for the on-chain answer. */
const MAX_OBSERVED = 4_096;

/** What one node knows of another, or of itself, since its process started. */
export interface PeerView {
  readonly signer: Hex;
  readonly transmitter: Hex;
  readonly url: string;
  readonly isSelf: boolean;
  /** Unix time in milliseconds of its last message. */
  readonly lastHeardAt: number | undefined;
  /** Transaction of the last answer that it transmitted. */
  readonly lastTransmission: Hex | undefined;
  readonly transmissions: number;
  /** Requests in which it contradicted itself. */
  readonly contradictions: number;
  /** How many on-chain answers matched its observation, out of those for which it revealed one beforehand. */
  readonly agreement: { readonly same: number; readonly of: number };
}

/** Counts what each node does, by its signer, across configurations. */
export interface PeerViews {
  /** Records a node's observation. */
  observed(requestId: Hex, signer: Hex, observation: Observation): void;
  accuse(signer: Hex): void;
  /** Records an on-chain answer, and returns the signers that observed something else. */
  answered(event: ChainEventOf<"RequestProcessed">, transactionHash: Hex): readonly Hex[];
  /** Returns all nodes of a configuration. */
  list(member: Pick<Membership, "set" | "self" | "inbox">): readonly PeerView[];
}

interface Counter {
  contradictions: number;
  same: number;
  of: number;
}

/** Creates the counters, all at zero. */
export function createPeerViews(): PeerViews {
  const seen = new Map<Hex, Map<Hex, Observation>>();
  const counters = new Map<Hex, Counter>();
  /** By transmitter, lower case. */
  const transmitted = new Map<string, { transmissions: number; last: Hex }>();
  const counterOf = (signer: Hex): Counter => {
    const counter = counters.get(signer) ?? { contradictions: 0, same: 0, of: 0 };
    counters.set(signer, counter);
    return counter;
  };
  return {
    observed(requestId, signer, observation) {
      const ofRequest = seen.get(requestId) ?? new Map<Hex, Observation>();
      if (!seen.has(requestId)) {
        if (seen.size >= MAX_OBSERVED) seen.delete(seen.keys().next().value!);
        seen.set(requestId, ofRequest);
      }
      // A node's first observation counts; a different later one is evidence.
      if (!ofRequest.has(signer)) ofRequest.set(signer, observation);
    },
    accuse(signer) {
      counterOf(signer).contradictions += 1;
    },
    answered({ requestId, transmitter, response, err }, transactionHash) {
      const before = transmitted.get(transmitter.toLowerCase())?.transmissions ?? 0;
      transmitted.set(transmitter.toLowerCase(), { transmissions: before + 1, last: transactionHash });
      const observations = seen.get(requestId) ?? new Map<Hex, Observation>();
      seen.delete(requestId);
      const others: Hex[] = [];
      for (const [signer, { ok, bytes }] of observations) {
        const counter = counterOf(signer);
        const [result, error] = ok ? [toHexText(bytes), "0x"] : ["0x", toHexText(bytes)];
        const isSame = result === response && error === err;
        counter.of += 1;
        if (isSame) counter.same += 1;
        else others.push(signer);
      }
      return others;
    },
    list: ({ set, self, inbox }) =>
      set.signers.map((signer, index) => {
        const { contradictions, same, of } = counterOf(signer);
        const transmitter = set.transmitters[index]!;
        const { transmissions = 0, last } = transmitted.get(transmitter.toLowerCase()) ?? {};
        return {
          signer,
          transmitter,
          url: set.urls[index]!,
          isSelf: index === self,
          lastHeardAt: inbox.lastHeardAt(index),
          lastTransmission: last,
          transmissions,
          contradictions,
          agreement: { same, of },
        };
      }),
  };
}
