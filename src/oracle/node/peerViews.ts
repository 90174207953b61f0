import type { Hex } from "viem";
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
  /** Transaction of the last answer to a function that it transmitted; those to presets name no transmitter. */
  readonly lastTransmission: Hex | undefined;
  readonly transmissions: number;
  /** Requests in which it contradicted itself. */
  readonly contradictions: number;
  /** How many on-chain answers matched what it had observed or signed, out of those for which it had. */
  readonly agreement: { readonly same: number; readonly of: number };
}

/** Counts what each node does, by its signer, across configurations. */
export interface PeerViews {
  /** Records what a node observed: `answerKey` of an observation, or the digest of the report that it signed. */
  observed(requestId: Hex, signer: Hex, key: string): void;
  accuse(signer: Hex): void;
  /** Records an on-chain answer by its possible keys, and returns the signers that observed something else. */
  answered(requestId: Hex, keys: readonly string[]): readonly Hex[];
  /** Records who transmitted an answer. */
  transmitted(transmitter: Hex, transactionHash: Hex): void;
  /** Returns all nodes of a configuration. */
  list(member: Pick<Membership, "set" | "self" | "inbox">): readonly PeerView[];
}

/** Returns a key that two observations share if they are the same. */
export function answerKey({ ok, bytes }: Observation): string {
  return `${ok ? "result" : "error"} ${toHexText(bytes)}`;
}

interface Counter {
  contradictions: number;
  same: number;
  of: number;
}

/** Creates the counters, all at zero. */
export function createPeerViews(): PeerViews {
  const seen = new Map<Hex, Map<Hex, string>>();
  const counters = new Map<Hex, Counter>();
  /** By transmitter, lower case. */
  const transmitted = new Map<string, { transmissions: number; last: Hex }>();
  const counterOf = (signer: Hex): Counter => {
    const counter = counters.get(signer) ?? { contradictions: 0, same: 0, of: 0 };
    counters.set(signer, counter);
    return counter;
  };
  return {
    observed(requestId, signer, key) {
      const ofRequest = seen.get(requestId) ?? new Map<Hex, string>();
      if (!seen.has(requestId)) {
        if (seen.size >= MAX_OBSERVED) seen.delete(seen.keys().next().value!);
        seen.set(requestId, ofRequest);
      }
      // A node's first observation counts; a different later one is evidence.
      if (!ofRequest.has(signer)) ofRequest.set(signer, key);
    },
    accuse(signer) {
      counterOf(signer).contradictions += 1;
    },
    answered(requestId, keys) {
      const observations = seen.get(requestId) ?? new Map<Hex, string>();
      seen.delete(requestId);
      const others: Hex[] = [];
      for (const [signer, key] of observations) {
        const counter = counterOf(signer);
        counter.of += 1;
        if (keys.includes(key)) counter.same += 1;
        else others.push(signer);
      }
      return others;
    },
    transmitted(transmitter, transactionHash) {
      const before = transmitted.get(transmitter.toLowerCase())?.transmissions ?? 0;
      transmitted.set(transmitter.toLowerCase(), { transmissions: before + 1, last: transactionHash });
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
