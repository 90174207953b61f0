import type { Hex } from "viem";
import type { Observation } from "../aggregate.ts";
import type { CommitmentOf } from "./conflict.ts";
import type { Endorsement, Evidence, Message, Proposal, Sealed } from "./message.ts";

/** What a round is given; nothing of it has a side effect, and the same arguments give the same values. */
export interface RoundOptions {
  /** Index of this node. */
  readonly self: number;
  readonly nodes: number;
  readonly faulty: number;
  /** Permutation of the nodes: who transmits at which stage, see `transmitOrder`. */
  readonly order: readonly number[];
  readonly commitmentOf: CommitmentOf;
  /** Signs a message of this node. */
  readonly seal: <Of extends Message>(message: Of) => Sealed<Of>;
  /** Signs the report of a result. */
  readonly signReport: (
    rank: number,
    result: Observation,
  ) => { readonly digest: Hex; readonly signature: Hex };
}

/** What happens to a round. */
export type RoundInput =
  | { readonly type: "observed"; readonly observation: Observation; readonly salt: Hex }
  /** A message whose signature is its sender's. */
  | { readonly type: "received"; readonly sealed: Sealed }
  /** The time of a stage is over. */
  | { readonly type: "stageOver" }
  /** Time to say again what others may not have heard. */
  | { readonly type: "resend" };

/** What must survive the process. */
export type RoundRecord =
  | { readonly kind: "observed"; readonly observation: Observation; readonly salt: Hex }
  | { readonly kind: "proposed"; readonly sealed: Sealed<Proposal> }
  | { readonly kind: "endorsed"; readonly rank: number; readonly digest: Hex };

/** What is to be done, in this order: a record is on disk before anything after it is done. */
export type RoundEffect =
  | { readonly type: "record"; readonly record: RoundRecord }
  | { readonly type: "send"; readonly to: "all" | number; readonly sealed: Sealed }
  | { readonly type: "startStage" }
  | { readonly type: "accuse"; readonly evidence: Sealed<Evidence> }
  | {
      readonly type: "transmit";
      readonly rank: number;
      readonly result: Observation;
      /** Exactly as many as the coordinator wants, of different nodes. */
      readonly endorsements: readonly Endorsement[];
    };
