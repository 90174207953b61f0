import type { Hex } from "viem";
import { RETURN_TYPES, type RequestKind, type ReturnType } from "../lib/vocabulary.ts";
import { DamagedRecordError } from "../store/checksum.ts";
import type { StoredRequest } from "../store/requests.ts";

/** What is learnt of a request as it goes on: its transactions, and what the chain says. Each kind has what concerns it. */
export type Facts = {
  /** Transactions that may carry the request, all with the same nonce: more than one when a stuck one was repriced. */
  readonly transactionHashes?: readonly Hex[];
  readonly nonce?: number;
  /** Which entry of the transaction, and which item of the entry, the request is. */
  readonly entry?: number;
  readonly item?: number;
  readonly vrfRequestId?: Hex;
  /** Of joined words: the VRF requests that they are joined of, `vrfRequestId` first. */
  readonly parts?: readonly JoinedPart[];
  readonly functionsRequestId?: Hex;
  /** Newest block when the first of them was signed: nothing of this request is on chain before. */
  readonly sinceBlock?: number;
  /** Block whose logs accepted the request. */
  readonly acceptedBlock?: number;
  /** Preset: block and transaction that brought the random word. */
  readonly wordBlock?: number;
  readonly wordTransactionHash?: Hex;
  /** What the words cost, in decimal: juels of LINK, or wei where coin was paid. Of a proof that presets share, an equal part. */
  readonly wordJuels?: string;
  readonly wordWei?: string;
  /** What the function's result cost, in juels. */
  readonly functionJuels?: string;
};

/** One VRF request of those whose words are joined; what is learnt of its word is absent until it has come. */
export type JoinedPart = {
  readonly id: Hex;
  readonly keyHash: Hex;
  readonly block?: number;
  readonly transactionHash?: Hex;
  /** What the word cost, as in {@link Facts}. */
  readonly juels?: string;
  readonly wei?: string;
};

/** What is fixed when a preset is accepted, whatever becomes of the preset. */
type PresetPlan = {
  /** keccak256 of the stored source prefix that the request uses. */
  readonly prefixHash: Hex;
  /** Length in bytes of that prefix. */
  readonly prefixBytes: number;
  /** What the source gets as `args`. */
  readonly args: readonly string[];
  readonly returnType: ReturnType;
};
type FunctionPlan = { readonly returnType: ReturnType };

type PresetParams = { readonly preset: string; readonly [parameter: string]: unknown };
type FunctionParams = {
  readonly source: string;
  readonly args: readonly string[];
  readonly returnType: ReturnType;
};
type RandomParams = {
  readonly numWords: number;
  readonly confirmations: number;
  readonly keyHash: Hex;
  /** 2 to 4 keys whose words are joined, `keyHash` first; absent where it is one. */
  readonly keyHashes?: readonly Hex[];
};
type ConsumerParams = { readonly dappId: string; readonly consumer: Hex };
type UnlinkParams = { readonly consumer: Hex };

/** What a function that was run has ended with; links are made when somebody asks. */
type RunOutcome = {
  readonly transactionHash: Hex;
  readonly requestId: Hex;
  /** Preset: the transaction with the proof. */
  readonly vrfTransactionHash?: Hex | undefined;
  readonly result: Hex;
  readonly parsedResult: string;
  /** `0x`: none. */
  readonly err: string;
};
/** Random words, each in decimal. */
type WordsOutcome = {
  readonly transactionHash: Hex;
  readonly requestId: Hex;
  readonly words: readonly string[];
};
/** A linking or an unlinking. */
export type LinkOutcome = { readonly transactionHash: Hex };

/** What a kind has of its own. `progress`: what the service must know to go on, after a restart too. */
interface Kind<Name extends RequestKind, Params, Plan, Outcome> {
  readonly kind: Name;
  readonly params: Params;
  progress: Facts & Plan;
  outcome: Outcome | null;
}

/** The part of a request that differs from kind to kind. */
export type RequestContent =
  | Kind<"preset", PresetParams, PresetPlan, RunOutcome>
  | Kind<"function", FunctionParams, FunctionPlan, RunOutcome>
  | Kind<"random", RandomParams, unknown, WordsOutcome>
  | Kind<"consumer", ConsumerParams, unknown, LinkOutcome>
  | Kind<"unlink", UnlinkParams, unknown, LinkOutcome>;

/** A request with what its kind has: in work, or ended in a way that may yet be taken back. */
export type OpenRequest = Omit<StoredRequest, keyof RequestContent> & RequestContent;
type OfKind<Name extends RequestKind> = Extract<OpenRequest, { readonly kind: Name }>;

/** What ends in a function's result. */
export type RunRequest = OfKind<"preset" | "function">;
/** What PresetConsumer submits. */
export type SubmittedRequest = OfKind<"preset" | "function" | "random">;
/** What links or unlinks a contract. */
export type LinkRequest = OfKind<"consumer" | "unlink">;

/** Whether a request links or unlinks a contract; all others go through PresetConsumer. */
export function isLinking(request: OpenRequest): request is LinkRequest {
  return request.kind === "consumer" || request.kind === "unlink";
}

/**
 * Parses a request of the store into that of its kind.
 *
 * @throws {DamagedRecordError} for what no request of the kind holds.
 */
export function parseRequest(stored: StoredRequest): OpenRequest {
  const { kind, params, progress, outcome } = stored;
  const wanted = SHAPES[kind];
  const holds =
    hasShape(params, wanted.params) &&
    hasShape(progress, { ...FACTS, ...wanted.progress }) &&
    (outcome === null || hasShape(outcome, wanted.outcome));
  if (!holds) throw new DamagedRecordError(`the ${kind} request ${stored.id}`);
  // The shapes are those of the kinds' types: a test compares them by example.
  return stored as OpenRequest;
}

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === "string";
const hex: Check = (value) => typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);
const digits: Check = (value) => typeof value === "string" && /^[0-9]{1,78}$/.test(value);
const number: Check = (value) => typeof value === "number";
const returnType: Check = (value) => RETURN_TYPES.some((one) => one === value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const PART: Shape = {
  id: hex,
  keyHash: hex,
  block: optional(number),
  transactionHash: optional(hex),
  juels: optional(digits),
  wei: optional(digits),
} satisfies Record<keyof JoinedPart, Check>;
const FACTS: Shape = {
  transactionHashes: optional(listOf(hex)),
  nonce: optional(number),
  entry: optional(number),
  item: optional(number),
  vrfRequestId: optional(hex),
  parts: optional(listOf((part) => hasShape(part, PART))),
  functionsRequestId: optional(hex),
  sinceBlock: optional(number),
  acceptedBlock: optional(number),
  wordBlock: optional(number),
  wordTransactionHash: optional(hex),
  wordJuels: optional(digits),
  wordWei: optional(digits),
  functionJuels: optional(digits),
} satisfies Record<keyof Facts, Check>;
const RUN_OUTCOME: Shape = {
  transactionHash: hex,
  requestId: hex,
  vrfTransactionHash: optional(hex),
  result: hex,
  parsedResult: text,
  err: text,
} satisfies Record<keyof RunOutcome, Check>;

const SHAPES: Readonly<
  Record<RequestKind, { readonly params: Shape; readonly progress: Shape; readonly outcome: Shape }>
> = {
  preset: {
    params: { preset: text },
    progress: { prefixHash: hex, prefixBytes: number, args: listOf(text), returnType },
    outcome: RUN_OUTCOME,
  },
  function: {
    params: { source: text, args: listOf(text), returnType },
    progress: { returnType },
    outcome: RUN_OUTCOME,
  },
  random: {
    params: { numWords: number, confirmations: number, keyHash: hex, keyHashes: optional(listOf(hex)) },
    progress: {},
    outcome: { transactionHash: hex, requestId: hex, words: listOf(text) },
  },
  consumer: {
    params: { dappId: text, consumer: hex },
    progress: {},
    outcome: { transactionHash: hex },
  },
  unlink: { params: { consumer: hex }, progress: {}, outcome: { transactionHash: hex } },
};

function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(shape).every(([name, check]) =>
    check((value as Readonly<Record<string, unknown>>)[name]),
  );
}
