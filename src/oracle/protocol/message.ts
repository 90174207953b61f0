import type { Hex } from "viem";
import type { Observation } from "../aggregateObservations.ts";

/** Common to all messages: the index of the node that signed it, in the order of the coordinator's configuration. */
interface FromNode {
  readonly sender: number;
}

/** Commits to an observation without revealing it. */
export interface Commit extends FromNode {
  readonly kind: "commit";
  /** 32 bytes. */
  readonly commitment: Hex;
}

/** Reveals the observation that a commitment fixed. */
export interface Reveal extends FromNode {
  readonly kind: "reveal";
  /** 32 bytes. */
  readonly salt: Hex;
  readonly observation: Observation;
}

/** Asks the nodes to sign the result of 2f + 1 reveals. */
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
  /** Digest of the report, 32 bytes, from which the coordinator recovers the signers. */
  readonly digest: Hex;
  /** r ‖ s ‖ recovery id, 65 bytes. */
  readonly signature: Hex;
}

/** Two messages of one node that no honest node would both send. */
export interface Evidence extends FromNode {
  readonly kind: "evidence";
  readonly first: Sealed;
  readonly second: Sealed;
}

/** Messages between nodes about one request. */
export type Message = Commit | Reveal | Proposal | Endorsement | Evidence;

/** A message with the bytes that its sender signed, as they are forwarded. The signature has been checked. */
export interface Sealed<Of extends Message = Message> {
  readonly message: Of;
  readonly bytes: Uint8Array;
}
