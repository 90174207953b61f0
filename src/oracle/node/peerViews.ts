import type { Hex } from "viem";
import type { ChainEventOf } from "../../chainlink/events.ts";
import { toHexText } from "../../lib/hex.ts";
import type { Observation } from "../aggregate.ts";
import type { Membership } from "./membership.ts";

/** Requests whose observations wait for the chain's answer. */
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
  /** Answers on chain that were what it had seen, of how many that it showed before they were there. */
  readonly agreement: { readonly same: number; readonly of: number };
}

/** Counts what each node does, by its signer, whatever the configuration. */
export interface PeerViews {
  /** Notes what a node has seen. */
  observed(requestId: Hex, signer: Hex, observation: Observation): void;
  accuse(signer: Hex): void;
  /** Notes an answer on chain, and returns the signers that have seen something else. */
  answered(event: ChainEventOf<"RequestProcessed">, transactionHash: Hex): readonly Hex[];
  /** All nodes of a configuration. */
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
      // What a node says first counts; what it says besides is evidence.
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
