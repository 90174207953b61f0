import type { Hex } from "viem";
import {
  PRESET_REQUEST_PARAMETERS,
  RETURN_TYPES,
  type RequestKind,
  type ReturnType,
} from "../lib/vocabulary.ts";
import type { BeaconView, PresetValue } from "../api/types.ts";
import type { PresetShow } from "../lib/presetShow.ts";
import { DamagedRecordError } from "../store/checksum.ts";
import type { StoredRequest } from "../store/requestRows.ts";

/** Facts learned about a request as it progresses: its transactions, and what the chain reports. Each kind has those that concern it. */
export type RequestFacts = {
  /** Transactions that may carry the request, all with the same nonce: several if a stuck one was repriced. */
  readonly transactionHashes?: readonly Hex[];
  readonly nonce?: number;
  /** Index of the request's entry in the transaction, and of its item in the entry. */
  readonly entry?: number;
  readonly item?: number;
  /** Preset: number of items in that entry, which share a VRF request. */
  readonly items?: number;
  readonly vrfRequestId?: Hex;
  /** For joined words: the VRF requests that provide them, `vrfRequestId` first. */
  readonly parts?: readonly JoinedPart[];
  /** Function: the id of its request. */
  readonly functionsRequestId?: Hex;
  /** Preset: its id on chain, which follows from `vrfRequestId` and `item`. */
  readonly presetRequestId?: Hex;
  /** Newest block when the first transaction was signed: nothing about this request is on chain before it. */
  readonly sinceBlock?: number;
  /** Block whose logs accepted the request. */
  readonly acceptedBlock?: number;
  /** Preset: block and transaction that delivered the random word. */
  readonly wordBlock?: number;
  readonly wordTransactionHash?: Hex;
  /** Cost of the words, in decimal: juels of LINK, or wei if paid in coin. Presets that share a proof pay equal parts. */
  readonly wordJuels?: string;
  readonly wordWei?: string;
  /** Cost of the function's result, in juels. */
  readonly functionJuels?: string;
  /** Function: what its dry run found that the caller should know. */
  readonly warnings?: readonly string[];
};

/** One of the VRF requests whose words are joined; the facts about its word are absent until it arrives. */
export type JoinedPart = {
  readonly id: Hex;
  readonly keyHash: Hex;
  readonly block?: number;
  readonly transactionHash?: Hex;
  /** Cost of the word, as in {@link RequestFacts}. */
  readonly juels?: string;
  readonly wei?: string;
};

/** What is fixed when a preset request is accepted, whatever happens to the preset later. */
type PresetPlan = {
  /** keccak256 of the stored source; absent from requests of versions before it. */
  readonly sourceHash?: Hex;
  /** What the source receives as `args`. */
  readonly args: readonly string[];
  readonly returnType: ReturnType;
  /** How the text of the result is read; absent if it is the value itself. */
  readonly show?: PresetShow;
};
type FunctionPlan = {
  readonly returnType: ReturnType;
  /** What the request says on chain about its secrets. */
  readonly secretsReference?: Hex;
};

/** What a request is for, if its caller said it. */
type Labels = { readonly label?: string; readonly once?: true };

type PresetParams = Labels & {
  readonly preset: string;
  /** The round of drand that it waits for, if the caller wants one. */
  readonly beacon?: BeaconView;
  /** If the caller chose them. */
  readonly confirmations?: number;
  readonly [parameter: string]: unknown;
};
type FunctionParams = Labels & {
  /** The round of drand that it waits for, if the caller wants one. */
  readonly beacon?: BeaconView;
  readonly source: string;
  readonly args: readonly string[];
  /** Names of secrets. */
  readonly secrets?: readonly string[];
  readonly returnType: ReturnType;
};
type RandomParams = Labels & {
  readonly numWords: number;
  readonly confirmations: number;
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words are joined, `keyHash` first; absent for a single key. */
  readonly keyHashes?: readonly Hex[];
};
type ConsumerParams = { readonly dappId: string; readonly consumer: Hex };
type UnlinkParams = { readonly consumer: Hex };

/** Outcome of a function that ran; explorer links are added when it is presented. */
type RunOutcome = {
  readonly transactionHash: Hex;
  readonly requestId: Hex;
  /** Preset: the transaction with the proof. */
  readonly vrfTransactionHash?: Hex | undefined;
  readonly result: Hex;
  readonly parsedResult: string;
  /** Preset: what programs get; absent after a failure, and if the text doesn't have the form that the preset says. */
  readonly value?: PresetValue | undefined;
  /** `0x` means no error. */
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

/** Members specific to a kind. `progress` is what the service needs to continue, including after a restart. */
interface Kind<Name extends RequestKind, Params, Plan, Outcome> {
  readonly kind: Name;
  readonly params: Params;
  progress: RequestFacts & Plan;
  outcome: Outcome | null;
}

/** The part of a request that differs from kind to kind. */
export type RequestContent =
  | Kind<"preset", PresetParams, PresetPlan, RunOutcome>
  | Kind<"function", FunctionParams, FunctionPlan, RunOutcome>
  | Kind<"random", RandomParams, unknown, WordsOutcome>
  | Kind<"consumer", ConsumerParams, unknown, LinkOutcome>
  | Kind<"unlink", UnlinkParams, unknown, LinkOutcome>;

/** A stored request with the members of its kind: open, or ended, perhaps in a block that a reorg may still remove. */
export type OpenRequest = Omit<StoredRequest, keyof RequestContent> & RequestContent;
type OfKind<Name extends RequestKind> = Extract<OpenRequest, { readonly kind: Name }>;

/** A request that ends with a function's result. */
export type RunRequest = OfKind<"preset" | "function">;
/** A request that PresetConsumer submits. */
export type SubmittedRequest = OfKind<"preset" | "function" | "random">;
/** A request that links or unlinks a contract. */
export type LinkRequest = OfKind<"consumer" | "unlink">;

/** Whether a request links or unlinks a contract; all others go through PresetConsumer. */
export function isLinking(request: OpenRequest): request is LinkRequest {
  return request.kind === "consumer" || request.kind === "unlink";
}

/** Returns the round of drand that a request waits for. */
export function roundOf(request: OpenRequest): BeaconView | undefined {
  return request.kind === "preset" || request.kind === "function" ? request.params.beacon : undefined;
}

/** Returns the preset's own among the parameters of a preset request. */
export function ownParamsOf(params: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).filter(([name]) => !PRESET_REQUEST_PARAMETERS.includes(name)),
  );
}

/**
 * Parses a stored request into the type of its kind.
 *
 * @throws {DamagedRecordError} when a member doesn't have the shape that the kind requires.
 */
export function parseStoredRequest(stored: StoredRequest): OpenRequest {
  const { kind, params, progress, outcome } = stored;
  const wanted = SHAPES[kind];
  const holds =
    hasShape(params, wanted.params) &&
    hasShape(progress, { ...FACTS, ...wanted.progress }) &&
    (outcome === null || hasShape(outcome, wanted.outcome));
  if (!holds) throw new DamagedRecordError(`the ${kind} request ${stored.id}`);
  // The shapes match the types of the kinds: a test compares them by example.
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

const scalar: Check = (value) => ["boolean", "string", "number"].includes(typeof value);
const presetValue: Check = (value) => scalar(value) || listOf(scalar)(value);
const show: Check = (value) =>
  typeof value === "object" && value !== null && text((value as { as?: unknown }).as);

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
  items: optional(number),
  vrfRequestId: optional(hex),
  parts: optional(listOf((part) => hasShape(part, PART))),
  functionsRequestId: optional(hex),
  presetRequestId: optional(hex),
  sinceBlock: optional(number),
  acceptedBlock: optional(number),
  wordBlock: optional(number),
  wordTransactionHash: optional(hex),
  wordJuels: optional(digits),
  wordWei: optional(digits),
  functionJuels: optional(digits),
  warnings: optional(listOf(text)),
} satisfies Record<keyof RequestFacts, Check>;
const RUN_OUTCOME: Shape = {
  transactionHash: hex,
  requestId: hex,
  vrfTransactionHash: optional(hex),
  result: hex,
  parsedResult: text,
  value: optional(presetValue),
  err: text,
} satisfies Record<keyof RunOutcome, Check>;

const ROUND_MEMBERS: Shape = {
  round: digits,
  time: text,
  chainHash: hex,
  isLocal: optional((value) => value === true),
} satisfies Record<keyof BeaconView, Check>;
const ROUND: Check = optional((value) => hasShape(value, ROUND_MEMBERS));
const LABELS: Shape = { label: optional(text), once: optional((value) => value === true) };

const SHAPES: Readonly<
  Record<RequestKind, { readonly params: Shape; readonly progress: Shape; readonly outcome: Shape }>
> = {
  preset: {
    params: {
      preset: text,
      confirmations: optional(number),
      beacon: ROUND,
      ...LABELS,
    },
    progress: { sourceHash: optional(hex), args: listOf(text), returnType, show: optional(show) },
    outcome: RUN_OUTCOME,
  },
  function: {
    params: {
      source: text,
      args: listOf(text),
      secrets: optional(listOf(text)),
      returnType,
      beacon: ROUND,
      ...LABELS,
    },
    progress: { returnType, secretsReference: optional(hex) },
    outcome: RUN_OUTCOME,
  },
  random: {
    params: {
      numWords: number,
      confirmations: number,
      keyHash: hex,
      keyHashes: optional(listOf(hex)),
      ...LABELS,
    },
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
