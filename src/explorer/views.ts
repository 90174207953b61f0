import type { Hex } from "viem";
import type { DecodedCall, DecodedValue, Party } from "../chainlink/decoded.ts";

export type { DecodedCall, DecodedValue, Party } from "../chainlink/decoded.ts";

// Plain data that can be serialized as JSON: amounts and numbers above 2^53 are decimal strings, times ISO
// 8601, bytes `0x` hex.

/** One log. */
export interface EventView {
  /** Position among the logs of the block. */
  readonly logIndex: number;
  readonly contract: Party;
  /** Absent if no known interface declares the event. */
  readonly event?: string;
  readonly fields: readonly DecodedValue[];
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** The coordinator's struct Proof. Numbers are 32-byte hex; points are pairs of x and y. */
export interface ProofView {
  readonly pk: readonly [Hex, Hex];
  readonly gamma: readonly [Hex, Hex];
  readonly c: Hex;
  readonly s: Hex;
  /** The pre-seed; the seed of the proof is its hash with the request's block hash. */
  readonly seed: Hex;
  readonly uWitness: Hex;
  readonly cGammaWitness: readonly [Hex, Hex];
  readonly sHashWitness: readonly [Hex, Hex];
  readonly zInv: Hex;
}

/** The coordinator's struct RequestCommitment. */
export interface CommitmentView {
  readonly blockNum: string;
  readonly subId: string;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Party;
  /** VRF v2.5 only, from the extra arguments: whether the payment is in coin instead of LINK. */
  readonly nativePayment?: boolean;
}

/** One proof in a transaction, and the coordinator's verdict on it. */
export interface RandomnessView {
  readonly requestId: Hex;
  readonly keyHash: Hex;
  readonly proof: ProofView;
  readonly commitment: CommitmentView;
  /** keccak256(3 ‖ gamma). */
  readonly output: Hex;
  /** Word i is keccak256(output ‖ i), in decimal. */
  readonly words: readonly string[];
  readonly outcome: "fulfilled" | "callback failed" | "refused";
  /** Why it was refused, or why the callback failed, if that can be determined. */
  readonly reason?: string;
  readonly paymentJuels?: string;
  /** Replaces `paymentJuels` if coin was paid. */
  readonly paymentWei?: string;
  /** VRF v2.5 only: whether gas was excluded from the payment. */
  readonly onlyPremium?: boolean;
  /** The transaction that made the request, if it is still known. */
  readonly requestedBy?: Hex;
}

/** A request for random words that a transaction made. */
export interface RandomRequestView {
  readonly requestId: Hex;
  readonly keyHash: Hex;
  readonly preSeed: Hex;
  readonly subId: string;
  readonly confirmations: number;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Party;
  /** VRF v2.5 only. */
  readonly nativePayment?: boolean;
  /** The transaction with the proof, once there is one. */
  readonly answeredBy?: Hex;
  /** Its words, in decimal. */
  readonly words?: readonly string[];
  /** Why there is no proof yet. */
  readonly waitsFor?: string;
}

/** One request's words, joined from those of several proving keys. */
export interface JoinView {
  /** VRF request of the first part, and the id of the join as a whole. */
  readonly requestId: Hex;
  /** The transaction that made the request. */
  readonly requestedBy: Hex;
  /** In the order in which they are joined. */
  readonly parts: readonly {
    readonly requestId: Hex;
    readonly keyHash: Hex;
    /** The transaction with the proof; `null` while there is none. */
    readonly answeredBy: Hex | null;
  }[];
  /** Word i of the request is keccak256(seed ‖ i); `null` until every part has been delivered. */
  readonly seed: Hex | null;
  /** The transaction that delivered the last part. */
  readonly joinedBy: Hex | null;
}

/** What the oracle nodes are asked to run. */
export interface ProgramView {
  readonly source: string;
  /** The installed preset whose source is exactly this one. */
  readonly preset?: PresetSourceView;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
}

/** A preset as its author wrote it. */
export interface PresetSourceView {
  readonly name: string;
  readonly title: string;
  /** The source before it was minified, preceded by the modules that it imports. */
  readonly source: string;
}

/** A Functions request that a transaction made. */
export interface FunctionRequestView {
  readonly requestId: Hex;
  readonly subscriptionId: string;
  readonly consumer: Party;
  readonly callbackGasLimit: number;
  /** `null` if the request's data is not something that a node could run. */
  readonly program: ProgramView | null;
  /** For a preset: the VRF request whose word it carries, and the index of that word. */
  readonly word?: { readonly vrfRequestId: Hex; readonly item: number };
  /** The transaction with the response, once there is one. */
  readonly answeredBy?: Hex;
  readonly answer?: FunctionAnswer;
  /** Why there is no response yet. */
  readonly waitsFor?: string;
}

/** Ways to read a response; the chain doesn't say which one is meant. */
export interface ReadingsView {
  /** Only for valid UTF-8 without control characters. */
  readonly text?: string;
  /** Only for 1 to 32 bytes. */
  readonly uint256?: string;
  readonly int256?: string;
}

/** The response to a Functions request. */
export interface FunctionAnswer {
  /** Name of the `FunctionsResponse.FulfillResult` value. */
  readonly outcome: string;
  readonly response: Hex;
  readonly readings: ReadingsView;
  /** The error's text; empty if there was none. */
  readonly err: string;
  /** Why the consumer's callback failed, if it did. */
  readonly callbackReason?: string;
}

/** A response that a transaction delivered. */
export interface FunctionResultView extends FunctionAnswer {
  readonly requestId: Hex;
  readonly transmitter: Party;
  readonly totalCostJuels?: string;
  readonly program: ProgramView | null;
  /** The transaction that made the request, if it is still known. */
  readonly requestedBy?: Hex;
}

/** The oracle network's signed report that a transaction delivered. */
export interface ReportView {
  readonly configDigest: Hex;
  readonly epoch: number;
  readonly round: number;
  readonly requestIds: readonly Hex[];
  /** keccak256(keccak256(report) ‖ context): the digest that the nodes signed. */
  readonly digest: Hex;
  readonly signatures: readonly {
    readonly r: Hex;
    readonly s: Hex;
    readonly recoveryId: number;
    /** Recovered from the signature; `null` if the signature is invalid. */
    readonly signer: Party | null;
  }[];
}

/** A transaction with everything that could be decoded from it. */
export interface TransactionView {
  readonly network: string;
  readonly hash: Hex;
  readonly status: "pending" | "succeeded" | "reverted";
  /** Why it reverted, if that can be determined. */
  readonly revertReason?: string;
  readonly block: {
    readonly number: string;
    readonly hash: Hex;
    readonly at: string;
    readonly confirmations: string;
  } | null;
  readonly index: number | null;
  readonly from: Party;
  readonly to: Party | null;
  readonly created: Party | null;
  readonly nonce: number;
  readonly valueWei: string;
  readonly gasLimit: string;
  readonly gasUsed: string | null;
  readonly gasPriceWei: string;
  readonly input: Hex;
  readonly call: DecodedCall | null;
  readonly randomRequests: readonly RandomRequestView[];
  readonly randomness: readonly RandomnessView[];
  readonly joins: readonly JoinView[];
  readonly functionRequests: readonly FunctionRequestView[];
  readonly functionResults: readonly FunctionResultView[];
  readonly report: ReportView | null;
  readonly events: readonly EventView[];
}

/** A search hit. */
export type SearchHit = { readonly network: string } & (
  | { readonly kind: "transaction"; readonly transactionHash: Hex }
  | { readonly kind: "block"; readonly number: string }
  | { readonly kind: "address"; readonly party: Party }
  | {
      /** A VRF or Functions request. */
      readonly kind: "random" | "function";
      readonly requestId: Hex;
      readonly isAnswered: boolean;
      /** The transaction with the answer or, while there is none, with the request. */
      readonly transactionHash: Hex;
    }
);
