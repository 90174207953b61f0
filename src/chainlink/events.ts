import { encodeEventTopics, hexToString, type Abi, type Hex } from "viem";
import {
  batchVrfCoordinatorAbi,
  functionsCoordinatorAbi,
  functionsRouterAbi,
  presetConsumerAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "./contracts/abi.ts";
import { addressOf, bytes, slice, topic, uint, word, words } from "./eventData.ts";
import { TycheError } from "../lib/errors.ts";

/** The part of a log that is needed to decode it; a node's logs have more. */
export interface EncodedLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** Meaning of `resultCode`, by its number (FunctionsResponse.FulfillResult). */
export const FULFILL_RESULTS = [
  "FULFILLED",
  "USER_CALLBACK_ERROR",
  "INVALID_REQUEST_ID",
  "COST_EXCEEDS_COMMITMENT",
  "INSUFFICIENT_GAS_PROVIDED",
  "SUBSCRIPTION_BALANCE_INVARIANT_VIOLATION",
  "INVALID_COMMITMENT",
] as const;

/**
 * The events that Tyche follows. Request ids, hashes and data are lower-case hex, as are addresses; subscription ids,
 * seeds and amounts are integers.
 */
export type ChainEvent = {
  [Name in keyof typeof DECODERS]: { readonly name: Name } & ReturnType<(typeof DECODERS)[Name]>;
}[keyof typeof DECODERS];

/** The event of a given name. */
export type ChainEventOf<Name extends ChainEvent["name"]> = Extract<ChainEvent, { readonly name: Name }>;

/**
 * Decodes a log by its first topic; `undefined` if it isn't a known event. The caller must check which contract emitted it.
 * Slices the words out of the hex text: 1 µs for an OracleRequest of 1,000 bytes, against 75 µs with viem's decoder.
 *
 * @throws MalformedLogError when topics or data don't match the event's declaration.
 */
export function decodeLog(log: EncodedLog): ChainEvent | undefined {
  const known = log.topics[0] === undefined ? undefined : KNOWN.get(log.topics[0]);
  if (known === undefined) return undefined;
  const { name, decode } = known;
  try {
    return { name, ...decode(log) } as ChainEvent;
  } catch (cause) {
    throw new MalformedLogError(name, cause);
  }
}

/** Decodes a log as {@link decodeLog} does, but returns `undefined` for a malformed one, too. */
export function findEvent(log: EncodedLog): ChainEvent | undefined {
  try {
    return decodeLog(log);
  } catch {
    return undefined;
  }
}

/**
 * Returns the logs that some contracts emitted, whose addresses are in lower case. A transaction with answers has logs of consumers, too,
 * whose callbacks can emit any.
 */
export function logsOf<Log extends { readonly address: Hex }>(
  logs: readonly Log[],
  contracts: readonly Hex[],
): readonly Log[] {
  return logs.filter(({ address }) => contracts.includes(address));
}

/** First topic of each event, to filter logs by; for an event with several versions, that of the first version. */
export const EVENT_TOPICS = {
  ...topicsOf(vrfCoordinatorAbi, "RandomWordsRequested", "RandomWordsFulfilled"),
  ...topicsOf(batchVrfCoordinatorAbi, "ErrorReturned", "RawErrorReturned"),
  ...topicsOf(
    functionsRouterAbi,
    "RequestStart",
    "RequestProcessed",
    "RequestNotProcessed",
    "RequestTimedOut",
  ),
  ...topicsOf(functionsCoordinatorAbi, "OracleRequest", "OracleResponse"),
  ...topicsOf(
    presetConsumerAbi,
    "SourceStored",
    "Accepted",
    "Refused",
    "Labelled",
    "BatchRequested",
    "Joining",
    "WordsJoined",
    "BatchReported",
    "NodesAdopted",
  ),
  ...topicsOf(subscriptionOwnerAbi, "Provisioned", "Closed"),
} as const;

const V2_PLUS_TOPICS = topicsOf(vrfCoordinatorV2PlusAbi, "RandomWordsRequested", "RandomWordsFulfilled");
/** First topics of the coordinators' events in both versions of VRF. */
export const WORDS_TOPICS = {
  requested: [EVENT_TOPICS.RandomWordsRequested, V2_PLUS_TOPICS.RandomWordsRequested],
  fulfilled: [EVENT_TOPICS.RandomWordsFulfilled, V2_PLUS_TOPICS.RandomWordsFulfilled],
} as const;

interface WordsRequest {
  readonly keyHash: Hex;
  readonly requestId: Hex;
  readonly preSeed: bigint;
  readonly subId: bigint;
  readonly minimumRequestConfirmations: number;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Hex;
  /** VRF v2.5 only: as normalised by the coordinator, part of its commitment. */
  readonly extraArgs?: Hex;
}

interface WordsFulfilment {
  readonly requestId: Hex;
  readonly outputSeed: bigint;
  /** 0 if coin was paid. */
  readonly paymentJuels: bigint;
  readonly success: boolean;
  /** VRF v2.5 only; `paymentWei` if coin was paid. */
  readonly subId?: bigint;
  readonly paymentWei?: bigint;
  readonly onlyPremium?: boolean;
}

const DECODERS = {
  /** Coordinator: words are requested. */
  RandomWordsRequested: ({ topics, data }: EncodedLog): WordsRequest => ({
    keyHash: topic(topics, 1),
    requestId: word(data, 0),
    preSeed: uint(data, 1),
    subId: BigInt(topic(topics, 2)),
    minimumRequestConfirmations: Number(uint(data, 2)),
    callbackGasLimit: Number(uint(data, 3)),
    numWords: Number(uint(data, 4)),
    sender: addressOf(topic(topics, 3)),
  }),
  /** Coordinator: the proof is on chain. `success`: the consumer's callback did not revert. */
  RandomWordsFulfilled: ({ topics, data }: EncodedLog): WordsFulfilment => ({
    requestId: topic(topics, 1),
    outputSeed: uint(data, 0),
    paymentJuels: uint(data, 1),
    success: uint(data, 2) !== 0n,
  }),
  /** BatchVRFCoordinatorV2: a fulfilment reverted with a text. */
  ErrorReturned: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    reason: hexToString(bytes(data, 0)),
  }),
  /** BatchVRFCoordinatorV2: a fulfilment reverted with a custom error of the coordinator. */
  RawErrorReturned: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    reason: bytes(data, 0),
  }),
  /** FunctionsRouter: a request is accepted. */
  RequestStart: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    donId: topic(topics, 2),
    subscriptionId: BigInt(topic(topics, 3)),
    subscriptionOwner: addressOf(word(data, 0)),
    requestingContract: addressOf(word(data, 1)),
    requestInitiator: addressOf(word(data, 2)),
    data: bytes(data, 3),
    dataVersion: Number(uint(data, 4)),
    callbackGasLimit: Number(uint(data, 5)),
    estimatedTotalCostJuels: uint(data, 6),
  }),
  /** FunctionsRouter: a result is on chain. */
  RequestProcessed: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    subscriptionId: BigInt(topic(topics, 2)),
    totalCostJuels: uint(data, 0),
    transmitter: addressOf(word(data, 1)),
    resultCode: Number(uint(data, 2)),
    response: bytes(data, 3),
    err: bytes(data, 4),
    callbackReturnData: bytes(data, 5),
  }),
  /** FunctionsRouter: an item of a report was refused; `resultCode` 2 to 6 says why. */
  RequestNotProcessed: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    coordinator: addressOf(word(data, 0)),
    transmitter: addressOf(word(data, 1)),
    resultCode: Number(uint(data, 2)),
  }),
  /** FunctionsRouter: a request without a result is timed out; the LINK reserved for it returns to the subscription. */
  RequestTimedOut: ({ topics }: EncodedLog) => ({ requestId: topic(topics, 1) }),
  /** FunctionsCoordinator: a request for the nodes to run. */
  OracleRequest: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    requestingContract: addressOf(topic(topics, 2)),
    requestInitiator: addressOf(word(data, 0)),
    subscriptionId: uint(data, 1),
    subscriptionOwner: addressOf(word(data, 2)),
    data: bytes(data, 3),
    dataVersion: Number(uint(data, 4)),
    flags: word(data, 5),
    callbackGasLimit: Number(uint(data, 6)),
    /** The 11 words of the commitment as they are: a report repeats them byte for byte. */
    commitment: slice(data, 7 * 32, 11 * 32),
  }),
  /** FunctionsCoordinator: an item of a report was processed. */
  OracleResponse: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    transmitter: addressOf(word(data, 0)),
  }),
  /** PresetConsumer: see the contract for these nine. */
  SourceStored: ({ topics }: EncodedLog) => ({
    sourceId: Number(topic(topics, 1)),
    sourceHash: topic(topics, 2),
  }),
  Accepted: ({ data }: EncodedLog) => ({ index: Number(uint(data, 0)), requestId: word(data, 1) }),
  Refused: ({ data }: EncodedLog) => ({ index: Number(uint(data, 0)), reason: bytes(data, 1) }),
  Labelled: ({ topics, data }: EncodedLog) => ({
    labelHash: topic(topics, 1),
    index: uint(data, 0),
    item: uint(data, 1),
    dapp: hexToString(bytes(data, 2)),
    label: hexToString(bytes(data, 3)),
  }),
  BatchRequested: ({ topics, data }: EncodedLog) => ({
    vrfRequestId: topic(topics, 1),
    batch: bytes(data, 0),
  }),
  Joining: ({ topics, data }: EncodedLog) => ({
    requestId: topic(topics, 1),
    keyHashes: words(data, 0),
    parts: words(data, 1),
  }),
  WordsJoined: ({ topics, data }: EncodedLog) => ({ requestId: topic(topics, 1), seed: uint(data, 0) }),
  BatchReported: ({ topics, data }: EncodedLog) => ({
    vrfRequestId: topic(topics, 1),
    /** Bytes of `encodeResults`. */
    results: bytes(data, 0),
  }),
  NodesAdopted: ({ data }: EncodedLog) => ({ configDigest: word(data, 0) }),
  /** SubscriptionOwner: a dapp's subscriptions, newly created or existing. */
  Provisioned: ({ topics, data }: EncodedLog) => ({
    dapp: topic(topics, 1),
    vrfSubId: BigInt(topic(topics, 2)),
    functionsSubId: BigInt(topic(topics, 3)),
    created: uint(data, 0) !== 0n,
  }),
  Closed: ({ topics, data }: EncodedLog) => ({
    dapp: topic(topics, 1),
    vrfSubId: BigInt(topic(topics, 2)),
    functionsSubId: BigInt(topic(topics, 3)),
    to: addressOf(word(data, 0)),
  }),
} as const;

/** Events of VRFCoordinatorV2_5, decoded like those of the same name of VRFCoordinatorV2. */
const V2_PLUS_DECODERS = {
  RandomWordsRequested: (log: EncodedLog): WordsRequest => ({
    ...DECODERS.RandomWordsRequested(log),
    extraArgs: bytes(log.data, 5),
  }),
  RandomWordsFulfilled: ({ topics, data }: EncodedLog): WordsFulfilment => {
    const payment = uint(data, 1);
    const isNative = uint(data, 2) !== 0n;
    return {
      requestId: topic(topics, 1),
      outputSeed: uint(data, 0),
      subId: BigInt(topic(topics, 2)),
      paymentJuels: isNative ? 0n : payment,
      ...(isNative ? { paymentWei: payment } : {}),
      success: uint(data, 3) !== 0n,
      onlyPremium: uint(data, 4) !== 0n,
    };
  },
} as const;

type Name = keyof typeof DECODERS;
interface KnownEvent {
  readonly name: Name;
  readonly decode: (log: EncodedLog) => object;
}

/** By first topic. */
const KNOWN: ReadonlyMap<string, KnownEvent> = new Map([
  ...Object.entries(EVENT_TOPICS).map(
    ([name, topic]) => [topic, { name: name as Name, decode: DECODERS[name as Name] }] as const,
  ),
  ...Object.entries(V2_PLUS_TOPICS).map(
    ([name, topic]) =>
      [
        topic,
        { name: name as Name, decode: V2_PLUS_DECODERS[name as keyof typeof V2_PLUS_DECODERS] },
      ] as const,
  ),
]);

function topicsOf<const Names extends string>(
  abi: Abi,
  ...names: readonly Names[]
): Readonly<Record<Names, Hex>> {
  const topics = names.map((eventName) => [eventName, encodeEventTopics({ abi, eventName })[0]] as const);
  return Object.fromEntries(topics) as Record<Names, Hex>;
}

/** A log claims to be one of our events but isn't. */
export class MalformedLogError extends TycheError {
  constructor(event: string, cause: unknown) {
    super(`a log named ${event} does not hold what that event declares`, {
      code: "chain_unavailable",
      blame: "upstream",
      cause,
    });
  }
}
