import type { Hex } from "viem";
import type { Observation } from "../aggregate.ts";

/** What every message has: the index of the node that signed it, in the order of the coordinator's configuration. */
interface FromNode {
  readonly sender: number;
}

/** Fixes an observation without showing it. */
export interface Commit extends FromNode {
  readonly kind: "commit";
  /** 32 bytes. */
  readonly commitment: Hex;
}

/** Shows the observation that a commitment fixed. */
export interface Reveal extends FromNode {
  readonly kind: "reveal";
  /** 32 bytes. */
  readonly salt: Hex;
  readonly observation: Observation;
}

/** Asks the nodes to sign the result that follows from 2f + 1 reveals. */
export interface Proposal extends FromNode {
  readonly kind: "proposal";
  /** Stage at which the sender may transmit. */
  readonly rank: number;
  readonly reveals: readonly Sealed<Reveal>[];
}

/** A node's signature of the report that it derived from a proposal. */
export interface Endorsement extends FromNode {
  readonly kind: "endorsement";
  readonly rank: number;
  /** Of the report, 32 bytes: what the coordinator recovers the signers from. */
  readonly digest: Hex;
  /** r ‖ s ‖ recovery id, 65 bytes. */
  readonly signature: Hex;
}

/** Two messages of one node that no honest node sends both of. */
export interface Evidence extends FromNode {
  readonly kind: "evidence";
  readonly first: Sealed;
  readonly second: Sealed;
}

/** What nodes tell each other about one request. */
export type Message = Commit | Reveal | Proposal | Endorsement | Evidence;

/** A message with the bytes that its sender signed, as they are passed on. The signature has been checked. */
export interface Sealed<Of extends Message = Message> {
  readonly message: Of;
  readonly bytes: Uint8Array;
}
