import { Type, type Static, type TSchema } from "typebox";
import type { Hex } from "viem";
import {
  PRESET_REQUEST_PARAMETERS,
  RETURN_TYPES,
  type RequestKind,
  type ReturnType,
} from "../domain/vocabulary.ts";
import type { BeaconView, PresetValue } from "../api/types.ts";
import type { DrandRound } from "../beacon/drand.ts";
import type { PresetShow } from "../domain/presetShow.ts";
import { compileSchema, type SchemaCheck } from "../lib/schemaCheck.ts";
import { DamagedRecordError } from "../store/checksum.ts";
import type { StoredRequest } from "../store/requests.ts";

const text = Type.String();
const number = Type.Number();
const hex = Type.Unsafe<Hex>({ type: "string", pattern: "^0x[0-9a-fA-F]*$" });
const digits = Type.String({ pattern: "^[0-9]{1,78}$" });
const yes = Type.Literal(true);
const returnType = Type.Unsafe<ReturnType>({ enum: RETURN_TYPES });
const scalar = Type.Union([Type.Boolean(), text, number]);
const listOf = <Item extends TSchema>(item: Item) => Type.Unsafe<readonly Static<Item>[]>(Type.Array(item));
/** May also be present as `undefined` in a draft. */
const maybe = <Value extends TSchema>(value: Value) =>
  Type.Optional(Type.Unsafe<Static<Value> | undefined>(value));

/** One of the VRF requests whose words are joined; the facts about its word are absent until it arrives. */
const Part = Type.Object({
  id: hex,
  keyHash: hex,
  block: Type.Optional(number),
  transactionHash: Type.Optional(hex),
  /** Cost of the word, as in {@link RequestFacts}. */
  juels: Type.Optional(digits),
  wei: Type.Optional(digits),
});
export type JoinedPart = Readonly<Static<typeof Part>>;

const Facts = Type.Object({
  /** Transactions that may carry the request, all with the same nonce: several if a stuck one was repriced. */
  transactionHashes: Type.Optional(listOf(hex)),
  nonce: Type.Optional(number),
  /** Index of the request's entry in the transaction, and of its item in the entry. */
  entry: Type.Optional(number),
  item: Type.Optional(number),
  /** Preset: number of items in that entry, which share a VRF request. */
  items: Type.Optional(number),
  vrfRequestId: Type.Optional(hex),
  /** For joined words: the VRF requests that provide them, `vrfRequestId` first. */
  parts: Type.Optional(Type.Unsafe<readonly JoinedPart[]>(Type.Array(Part))),
  /** Function: the id of its request. */
  functionsRequestId: Type.Optional(hex),
  /** Preset: its id on chain, which follows from `vrfRequestId` and `item`. */
  presetRequestId: Type.Optional(hex),
  /** Newest block when the first transaction was signed: nothing about this request is on chain before it. */
  sinceBlock: Type.Optional(number),
  /** Block whose logs accepted the request. */
  acceptedBlock: Type.Optional(number),
  /** Preset: block and transaction that delivered the random word. */
  wordBlock: Type.Optional(number),
  wordTransactionHash: Type.Optional(hex),
  /** Cost of the words, in decimal: juels of LINK, or wei if paid in coin. Presets that share a proof pay equal parts. */
  wordJuels: Type.Optional(digits),
  wordWei: Type.Optional(digits),
  /** Cost of the function's result, in juels. */
  functionJuels: Type.Optional(digits),
  /** Function: what its dry run found that the caller should know. */
  warnings: Type.Optional(listOf(text)),
  /** What its dry run wrote and took, before it was sent: of a preset only if that failed. */
  dryRun: Type.Optional(
    Type.Object({ console: text, timeMs: number, memoryBytes: number, httpRequests: number }),
  ),
  /** The label as its caller spelled it, if otherwise than on chain. */
  givenLabel: Type.Optional(text),
});
/** Facts learned about a request as it progresses: its transactions, and what the chain reports. Each kind has those that concern it. */
export type RequestFacts = Readonly<Static<typeof Facts>>;

/** What a request is for, if its caller said it. */
const LABELS = { label: Type.Optional(text), once: Type.Optional(yes) };
/** The round of drand that it waits for, if the caller wants one. */
const beacon = Type.Optional(
  Type.Unsafe<BeaconView>(
    Type.Object({ round: digits, time: text, chainHash: hex, isLocal: Type.Optional(yes) }),
  ),
);

/** Outcome of a function that ran; explorer links are added when it is presented. */
const RunOutcome = Type.Object({
  transactionHash: hex,
  requestId: hex,
  /** Preset: the transaction with the proof. */
  vrfTransactionHash: maybe(hex),
  result: hex,
  parsedResult: text,
  /** Preset: what programs get; absent after a failure, and if the text doesn't have the form that the preset says. */
  value: maybe(Type.Unsafe<PresetValue>(Type.Union([scalar, Type.Array(scalar)]))),
  /** `0x` means no error. */
  err: text,
});
/** A linking or an unlinking. */
const LinkOutcome = Type.Object({ transactionHash: hex });
export type LinkOutcome = Readonly<Static<typeof LinkOutcome>>;

/** What the members specific to each kind hold; whatever else is stored in them stays. */
const KINDS = {
  preset: {
    params: Type.Object({
      preset: text,
      /** If the caller chose them. */
      confirmations: Type.Optional(number),
      beacon,
      ...LABELS,
    }),
    /** What is fixed when the request is accepted, whatever happens to the preset later. */
    plan: Type.Object({
      /** keccak256 of the stored source; absent from requests of versions before it. */
      sourceHash: Type.Optional(hex),
      /** What the source receives as `args`. */
      args: listOf(text),
      returnType,
      /** How the text of the result is read; absent if it is the value itself. */
      show: Type.Optional(Type.Unsafe<PresetShow>(Type.Object({ as: text }))),
    }),
    outcome: RunOutcome,
  },
  function: {
    params: Type.Object({
      source: text,
      args: listOf(text),
      /** Names of secrets. */
      secrets: Type.Optional(listOf(text)),
      returnType,
      beacon,
      ...LABELS,
    }),
    plan: Type.Object({
      returnType,
      /** What the request says on chain about its secrets. */
      secretsReference: Type.Optional(hex),
    }),
    outcome: RunOutcome,
  },
  random: {
    params: Type.Object({
      numWords: number,
      confirmations: number,
      keyHash: hex,
      /** Key hashes of 2 to 4 keys whose words are joined, `keyHash` first; absent for a single key. */
      keyHashes: Type.Optional(listOf(hex)),
      ...LABELS,
    }),
    plan: Type.Object({}),
    /** Random words, each in decimal. */
    outcome: Type.Object({ transactionHash: hex, requestId: hex, words: listOf(text) }),
  },
  consumer: {
    params: Type.Object({ dappId: text, consumer: hex }),
    plan: Type.Object({}),
    outcome: LinkOutcome,
  },
  unlink: { params: Type.Object({ consumer: hex }), plan: Type.Object({}), outcome: LinkOutcome },
} satisfies Record<
  RequestKind,
  { readonly params: TSchema; readonly plan: TSchema; readonly outcome: TSchema }
>;

/** A preset's own parameters stand beside those of every preset request. */
type ParamsOf<Name extends RequestKind> = Readonly<Static<(typeof KINDS)[Name]["params"]>> &
  (Name extends "preset" ? { readonly [parameter: string]: unknown } : unknown);

/** Members specific to a kind. `progress` is what the service needs to continue, including after a restart. */
type Kind<Name extends RequestKind> = {
  readonly kind: Name;
  readonly params: ParamsOf<Name>;
  progress: RequestFacts & Readonly<Static<(typeof KINDS)[Name]["plan"]>>;
  outcome: Readonly<Static<(typeof KINDS)[Name]["outcome"]>> | null;
};

/** The part of a request that differs from kind to kind. */
export type RequestContent = { [Name in RequestKind]: Kind<Name> }[RequestKind];

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
export function beaconOfRequest(request: OpenRequest): BeaconView | undefined {
  return request.kind === "preset" || request.kind === "function" ? request.params.beacon : undefined;
}

/** A request before a change (absent if it is new) and after it. */
export interface RequestStep {
  readonly before?: OpenRequest;
  readonly after: OpenRequest;
}

/** Returns a round as it goes on chain. */
export function toDrandRound({ round, chainHash }: BeaconView): DrandRound {
  return { round: BigInt(round), chainHash };
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
  const check = (checks[stored.kind] ??= compileKind(stored.kind));
  if (check(stored).length > 0) throw new DamagedRecordError(`the ${stored.kind} request ${stored.id}`);
  return stored as OpenRequest;
}

const checks: Partial<Record<RequestKind, SchemaCheck>> = {};

function compileKind(kind: RequestKind): SchemaCheck {
  const { params, plan, outcome } = KINDS[kind];
  const progress = Type.Intersect([Facts, plan]);
  const schema = Type.Object({ params, progress, outcome: Type.Union([Type.Null(), outcome]) });
  return compileSchema(schema, { describeUnknown: () => "" });
}
