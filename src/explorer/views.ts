import type { Hex } from "viem";
import type { DecodedCall, DecodedValue, Party } from "../chainlink/decoded.ts";

export type { DecodedCall, DecodedValue, Party } from "../chainlink/decoded.ts";

// Plain data, fit for JSON: amounts and numbers past 2^53 are decimal strings, times ISO 8601, bytes `0x` hex.

/** One log. */
export interface EventView {
  /** Place among the logs of the block. */
  readonly logIndex: number;
  readonly contract: Party;
  /** Absent where no known interface declares the event. */
  readonly event?: string;
  readonly fields: readonly DecodedValue[];
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** The coordinator's struct Proof. Numbers are 32-byte hex; points are x and y. */
export interface ProofView {
  readonly pk: readonly [Hex, Hex];
  readonly gamma: readonly [Hex, Hex];
  readonly c: Hex;
  readonly s: Hex;
  /** The pre-seed; the seed that is proved is its hash with the request's block hash. */
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
  /** VRF v2.5 alone, of the extra arguments: whether coin is paid rather than LINK. */
  readonly nativePayment?: boolean;
}

/** One proof in a transaction, and what the coordinator made of it. */
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
  /** Why it was refused, or why the callback failed, as far as that can be found out. */
  readonly reason?: string;
  readonly paymentJuels?: string;
  /** Instead, where coin was paid. */
  readonly paymentWei?: string;
  /** VRF v2.5 alone: the gas was not charged. */
  readonly onlyPremium?: boolean;
  /** The transaction that asked, where it is still known. */
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
  /** VRF v2.5 alone. */
  readonly nativePayment?: boolean;
  /** The transaction with the proof, once there is one. */
  readonly answeredBy?: Hex;
  /** Its words, in decimal. */
  readonly words?: readonly string[];
  /** Why there is none. */
  readonly waitsFor?: string;
}

/** The words of one request that are joined of those of several proving keys. */
export interface JoinView {
  /** VRF request of the first part, and the id of the whole. */
  readonly requestId: Hex;
  /** The transaction that asked. */
  readonly requestedBy: Hex;
  /** In the order in which they are joined. */
  readonly parts: readonly {
    readonly requestId: Hex;
    readonly keyHash: Hex;
    /** The transaction with the proof; `null` while there is none. */
    readonly answeredBy: Hex | null;
  }[];
  /** Word i of the request is keccak256(seed ‖ i); `null` until every part is there. */
  readonly seed: Hex | null;
  /** The transaction that brought the last part. */
  readonly joinedBy: Hex | null;
}

/** What the oracle nodes are asked to run. */
export interface ProgramView {
  readonly source: string;
  /** The installed preset whose source this is, to the letter. */
  readonly preset?: PresetSourceView;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
}

/** A preset as its author wrote it. */
export interface PresetSourceView {
  readonly name: string;
  readonly title: string;
  /** Before it was minified, behind the modules that it imports. */
  readonly source: string;
}

/** A request of functions that a transaction made. */
export interface FunctionRequestView {
  readonly requestId: Hex;
  readonly subscriptionId: string;
  readonly consumer: Party;
  readonly callbackGasLimit: number;
  /** `null` where the request's data is no request that a node could run. */
  readonly program: ProgramView | null;
  /** Of a preset: the VRF request whose word it carries, and which of its words. */
  readonly word?: { readonly vrfRequestId: Hex; readonly item: number };
  /** The transaction with the answer, once there is one. */
  readonly answeredBy?: Hex;
  readonly answer?: FunctionAnswer;
  /** Why there is none. */
  readonly waitsFor?: string;
}

/** Ways to read a response; the chain doesn't say which one is meant. */
export interface ReadingsView {
  /** Only where it is valid UTF-8 without control characters. */
  readonly text?: string;
  /** Only of 1 to 32 bytes. */
  readonly uint256?: string;
  readonly int256?: string;
}

/** What a request of functions was answered with. */
export interface FunctionAnswer {
  /** Name of `FunctionsResponse.FulfillResult`. */
  readonly outcome: string;
  readonly response: Hex;
  readonly readings: ReadingsView;
  /** The error's text; empty when there was none. */
  readonly err: string;
  /** Why the consumer's callback failed, where it did. */
  readonly callbackReason?: string;
}

/** An answer that a transaction brought. */
export interface FunctionResultView extends FunctionAnswer {
  readonly requestId: Hex;
  readonly transmitter: Party;
  readonly totalCostJuels?: string;
  readonly program: ProgramView | null;
  /** The transaction that asked, where it is still known. */
  readonly requestedBy?: Hex;
}

/** The signed report of the oracle network that a transaction brought. */
export interface ReportView {
  readonly configDigest: Hex;
  readonly epoch: number;
  readonly round: number;
  readonly requestIds: readonly Hex[];
  /** keccak256(keccak256(report) ‖ context): what the nodes signed. */
  readonly digest: Hex;
  readonly signatures: readonly {
    readonly r: Hex;
    readonly s: Hex;
    readonly recoveryId: number;
    /** Recovered from the signature; `null` where it is none. */
    readonly signer: Party | null;
  }[];
}

/** A transaction with everything that could be read out of it. */
export interface TransactionView {
  readonly network: string;
  readonly hash: Hex;
  readonly status: "pending" | "succeeded" | "reverted";
  /** Why it reverted, as far as that can be found out. */
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

/** Something that a search has found. */
export type SearchHit = { readonly network: string } & (
  | { readonly kind: "transaction"; readonly transactionHash: Hex }
  | { readonly kind: "block"; readonly number: string }
  | { readonly kind: "address"; readonly party: Party }
  | {
      /** A request of VRF or of functions. */
      readonly kind: "random" | "function";
      readonly requestId: Hex;
      readonly isAnswered: boolean;
      /** The one with the answer; while there is none, the one that asked. */
      readonly transactionHash: Hex;
    }
);
