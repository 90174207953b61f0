import type { Hex } from "viem";
import { decodeLog, findEvent, type ChainEventOf } from "../../chainlink/events.ts";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import { decodePresetBatch, presetRequestId, type PresetBatch } from "../../chainlink/presetBatch.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import type { OracleLog } from "../log.ts";
import { createRequestSet, type Entry, type OnChainRequest, type RequestSet } from "../requestSet.ts";

/** A batch of presets as PresetConsumer announced it. Its request id is that of its VRF request, or of the first part of a join. */
export interface BatchRequest extends OnChainRequest, PresetBatch {
  readonly batch: Hex;
  /** Whether its seed is joined from the words of several keys. */
  readonly isJoined: boolean;
}

export type BatchEntry = Entry<BatchRequest>;

/** The seed that a batch's words are derived from. */
export interface Seed {
  readonly value: bigint;
  /** Block that brought it; `undefined` while only a checked proof shows it. */
  readonly block: bigint | undefined;
}

/** The batches of presets on one chain that have no results yet, with their seeds. */
export interface PresetBatches {
  readonly requests: RequestSet<BatchRequest>;
  seedOf(entry: BatchEntry): Seed | undefined;
  /** Takes the seed that a valid proof shows before it is on chain. Returns the entry, unless the request is no open batch or joins several words. */
  prove(requestId: Hex, seed: bigint): BatchEntry | undefined;
  /** Reads the logs of a block or receipt, in order. Nobody can answer a malformed batch, so it is left out. */
  read(logs: readonly RawLog[]): void;
  /** Returns the first block to reread, if earlier than `firstReplaced`. */
  onReorg(firstReplaced: bigint): bigint | undefined;
}

/** Follows the batches of one PresetConsumer; addresses in lower case. */
export function createPresetBatches(options: {
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  /** Called when the pause of a batch has ended. */
  readonly onDue: () => void;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}): PresetBatches {
  const { presetConsumer, vrfCoordinator, log } = options;
  const requests = createRequestSet<BatchRequest>(options);
  const seeds = new WeakMap<BatchRequest, Seed>();

  function arrive(requestId: Hex, value: bigint, block: bigint): void {
    const request = requests.find(requestId)?.request;
    if (request !== undefined) seeds.set(request, { value, block });
  }

  function readBatch({
    vrfRequestId: requestId,
    batch,
  }: ChainEventOf<"BatchRequested">): PresetBatch | undefined {
    try {
      return decodePresetBatch(batch);
    } catch (error) {
      log.warn({ err: error, requestId }, "presets: a malformed batch gets no results");
      return undefined;
    }
  }

  return {
    requests,
    seedOf: ({ request }) => seeds.get(request),
    prove(requestId, value) {
      const entry = requests.find(requestId);
      if (entry === undefined || entry.request.isJoined) return undefined;
      if (!seeds.has(entry.request)) seeds.set(entry.request, { value, block: undefined });
      return entry;
    },
    read(logs) {
      // Within a transaction, these two come before the batch that they belong to.
      const subscriptions = new Map<Hex, bigint>();
      const joins = new Set<Hex>();
      for (const one of logs) {
        if (one.address !== presetConsumer && one.address !== vrfCoordinator) continue;
        const event = decodeLog(one);
        if (one.address === vrfCoordinator) {
          if (event?.name === "RandomWordsRequested") subscriptions.set(event.requestId, event.subId);
          else if (event?.name === "RandomWordsFulfilled") {
            if (requests.find(event.requestId)?.request.isJoined === false)
              arrive(event.requestId, deriveWords(event.outputSeed, 1)[0]!, one.blockNumber);
          }
        } else if (event?.name === "Joining") joins.add(event.requestId);
        else if (event?.name === "WordsJoined") arrive(event.requestId, event.seed, one.blockNumber);
        else if (event?.name === "BatchRequested") {
          const batch = readBatch(event);
          if (batch === undefined) continue;
          requests.add({
            requestId: event.vrfRequestId,
            subscriptionId: subscriptions.get(event.vrfRequestId) ?? 0n,
            blockNumber: one.blockNumber,
            batch: event.batch,
            ...batch,
            isJoined: joins.has(event.vrfRequestId),
          });
        } else if (event?.name === "BatchReported") {
          const entry = requests.find(event.vrfRequestId);
          if (entry !== undefined) requests.finish(entry.request, one.blockNumber);
        }
      }
    },
    onReorg(firstReplaced) {
      const first = requests.onReorg(firstReplaced);
      for (const { request } of requests.open()) {
        const seed = seeds.get(request);
        if (seed?.block === undefined || seed.block < firstReplaced) continue;
        // The proof follows from the request's block, which stands; parts of a join may come in other blocks, but bring the same words.
        seeds.set(request, { value: seed.value, block: undefined });
      }
      return first;
    },
  };
}

/** Returns the ids of a batch's presets. */
export function presetIdsOf({ requestId, items }: BatchRequest): Hex[] {
  return items.map((_, item) => presetRequestId(requestId, item));
}

/** Returns the event of a report that PresetConsumer has taken. */
export function findReported(presetConsumer: Hex, one: RawLog) {
  const event = one.address === presetConsumer ? findEvent(one) : undefined;
  return event?.name === "BatchReported" ? event : undefined;
}

/** Returns the ids of the batches whose results PresetConsumer has taken. */
export function takenIn(presetConsumer: Hex, logs: readonly RawLog[]): ReadonlySet<Hex> {
  return new Set(logs.flatMap((one) => findReported(presetConsumer, one)?.vrfRequestId ?? []));
}
