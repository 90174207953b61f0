import type { Hex } from "viem";
import type { Observation } from "../aggregateObservations.ts";
import type { CommitmentOf } from "./conflict.ts";
import type { Endorsement, Evidence, Message, Proposal, Sealed } from "./message.ts";

/** A round's dependencies; all of them are pure functions of their arguments. */
export interface RoundOptions {
  /** Index of this node. */
  readonly self: number;
  readonly nodes: number;
  readonly faulty: number;
  /** Permutation of the nodes: which one transmits at which stage, see `transmitOrder`. */
  readonly order: readonly number[];
  readonly commitmentOf: CommitmentOf;
  /** Returns the result of 2f + 1 observations; unused where nodes derive it. */
  readonly agree: (observations: readonly Observation[]) => Observation;
  /** Signs a message of this node. */
  readonly seal: <Of extends Message>(message: Of) => Sealed<Of>;
  /** Signs the report of a result. */
  readonly signReport: (
    rank: number,
    result: Observation,
  ) => { readonly digest: Hex; readonly signature: Hex };
}

/** Events that a round handles. */
export type RoundInput =
  | { readonly type: "observed"; readonly observation: Observation; readonly salt: Hex }
  /** A message whose signature was verified as its sender's. */
  | { readonly type: "received"; readonly sealed: Sealed }
  /** The current stage timed out. */
  | { readonly type: "stageOver" }
  /** Time to repeat what others may have missed. */
  | { readonly type: "resend" };

/** Facts that must survive the process. */
export type RoundRecord =
  | { readonly kind: "observed"; readonly observation: Observation; readonly salt: Hex }
  | { readonly kind: "proposed"; readonly sealed: Sealed<Proposal> }
  | { readonly kind: "endorsed"; readonly rank: number; readonly digest: Hex };

/** Effects to perform in this order: a record must be on disk before any effect after it is performed. */
export type RoundEffect =
  | { readonly type: "record"; readonly record: RoundRecord }
  | { readonly type: "send"; readonly to: "all" | number; readonly sealed: Sealed }
  | { readonly type: "startStage" }
  | { readonly type: "accuse"; readonly evidence: Sealed<Evidence> }
  | {
      readonly type: "transmit";
      readonly rank: number;
      readonly result: Observation;
      /** Exactly as many as the coordinator requires, from different nodes. */
      readonly endorsements: readonly Endorsement[];
    };
