import type { PresetRunView, ProgramView, RandomnessView } from "../api/types.ts";
import { hexToString, type Hex } from "viem";
import { decodeBatch } from "../chainlink/calldata.ts";
import { PRESET_CONSUMER_READS } from "../chainlink/presetConsumerReads.ts";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent } from "../chainlink/events.ts";
import { deriveWords } from "../chainlink/fulfilmentWords.ts";
import { decodeArgs } from "../chainlink/functionsRequest.ts";
import { beaconWord, presetRequestId, wordsOfBatch, type PresetItem } from "../chainlink/presetBatch.ts";
import { decodeResults, type PresetResult } from "../chainlink/presetReport.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { describeBeacon } from "../beacon/beaconRounds.ts";
import { AWAITED } from "../text/draw.ts";
import { showRound } from "../beacon/drand.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { toWord } from "../lib/uint256.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { readResponse } from "./readFunctions.ts";

/** The part of a chain that {@link readPresetRuns} reads. */
type PresetChain = Pick<ExploredChain, "contracts" | "drandChains"> & {
  readonly archive: Pick<ExploredChain["archive"], "findLogs">;
  readonly client: Pick<ExploredChain["client"], "request">;
};

/**
 * Reads the presets that a transaction requested, and those whose words or results it delivered. Trusts only our own consumer's events.
 *
 * @param logs the transaction's own, from the oracle's contracts
 * @param range blocks to search for what belongs to them
 * @param randomness the proofs that it delivered
 */
export async function readPresetRuns(
  logs: readonly RawLog[],
  { archive, client, contracts, drandChains }: PresetChain,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
  randomness: readonly { readonly commitment: Pick<RandomnessView["commitment"], "blockNum"> }[],
): Promise<readonly PresetRunView[]> {
  const { presetConsumer, vrfCoordinator } = contracts;
  const own = logs.filter(({ address }) => address === presetConsumer.toLowerCase());
  const begun = own.flatMap(batchOf);
  const answered = own.flatMap((log) => {
    const event = findEvent(log);
    return event?.name === "BatchReported" ? [event.vrfRequestId] : [];
  });
  const isBegun = (id: Hex): boolean => begun.some(({ vrfRequestId }) => vrfRequestId === id);
  const reported = answered.filter((id) => !isBegun(id));
  const given = logs.flatMap((log) => {
    const event = findEvent(log);
    const isGiven = event?.name === "RandomWordsFulfilled" || event?.name === "WordsJoined";
    return isGiven && !isBegun(event.requestId) && !reported.includes(event.requestId)
      ? [event.requestId]
      : [];
  });
  if (begun.length + reported.length + given.length === 0) return [];
  const find = (address: Hex, topics: readonly (Hex | readonly Hex[])[], { fromBlock, toBlock } = range) =>
    archive.findLogs({ address, topics, fromBlock, toBlock });
  // Words are requested in a block that their proof names, unless it came by a contract whose calls can't be decoded.
  const blocks = new Set(randomness.map(({ commitment }) => BigInt(commitment.blockNum)));
  const ranges =
    blocks.size === 0 ? [range] : [...blocks].map((block) => ({ fromBlock: block, toBlock: block }));
  const findBegun = (ids: readonly Hex[], within: typeof range) =>
    ids.length === 0 ? [] : find(presetConsumer, [EVENT_TOPICS.BatchRequested, ids], within);
  const earlier = await Promise.all([
    findBegun(reported, range),
    ...ranges.map((one) => findBegun(given, one)),
  ]);
  const batches = [...begun, ...earlier.flat().flatMap(batchOf)];
  const ids = batches.map(({ vrfRequestId }) => vrfRequestId);
  if (ids.length === 0) return [];
  const { BatchReported, Joining, WordsJoined } = EVENT_TOPICS;
  const [drawn, told] = await Promise.all([
    find(vrfCoordinator, [WORDS_TOPICS.fulfilled, ids]),
    find(presetConsumer, [[BatchReported, Joining, WordsJoined], ids]),
  ]);
  const seeds = readSeeds(drawn, told);
  const results = new Map(told.flatMap(resultsOf));
  const readSource = createSourceReader(client, presetConsumer);
  const views = batches.map(async ({ vrfRequestId, items, beacon, requestedBy }) => {
    const seed = seeds.get(vrfRequestId);
    const report = results.get(vrfRequestId);
    // With a round of drand, the words follow from its signature, too, which the report has.
    const signature = beacon && report?.results[items.length];
    const isKnown = seed !== undefined && (beacon === undefined || signature?.ok === true);
    const words = (isKnown ? wordsOfBatch(seed, items.length) : []).map((own, item) =>
      signature === undefined
        ? own
        : beaconWord(own, { signature: signature.bytes, requestId: presetRequestId(vrfRequestId, item) }),
    );
    const shown = beacon && showRound(beacon, drandChains).shown;
    const awaited = seed === undefined ? AWAITED.words : AWAITED.result;
    return await Promise.all(
      items.map(async (one, item): Promise<PresetRunView> => {
        const word = words[item] === undefined ? null : toWord(words[item]);
        return {
          requestId: presetRequestId(vrfRequestId, item),
          vrfRequestId,
          item,
          word,
          beacon: shown ?? null,
          program: await readItem(one, word, readSource),
          requestedBy,
          answer: answerOf(report?.results[item]),
          answeredBy: report?.transactionHash ?? null,
          ...(report === undefined && { waitsFor: describeBeacon(shown, seed !== undefined) ?? awaited }),
        };
      }),
    );
  });
  return (await Promise.all(views)).flat();
}

function batchOf(log: RawLog) {
  const event = findEvent(log);
  if (event?.name !== "BatchRequested") return [];
  const { vrfRequestId, batch } = event;
  return [{ vrfRequestId, ...decodeBatch(batch), requestedBy: log.transactionHash }];
}

/** Returns the seeds of batches: word 0 of their request or, if it joins several, what the consumer joined. */
function readSeeds(drawn: readonly RawLog[], told: readonly RawLog[]): ReadonlyMap<Hex, bigint> {
  const seeds = new Map<Hex, bigint>();
  for (const event of drawn.map(findEvent))
    if (event?.name === "RandomWordsFulfilled")
      seeds.set(event.requestId, deriveWords(event.outputSeed, 1)[0]!);
  for (const event of told.map(findEvent)) if (event?.name === "Joining") seeds.delete(event.requestId);
  for (const event of told.map(findEvent))
    if (event?.name === "WordsJoined") seeds.set(event.requestId, event.seed);
  return seeds;
}

function resultsOf(log: RawLog) {
  const event = findEvent(log);
  if (event?.name !== "BatchReported") return [];
  let results: readonly PresetResult[] = [];
  try {
    results = decodeResults(fromHexText(event.results));
  } catch {
    // The nodes signed something else; there is nothing to show.
  }
  return [[event.vrfRequestId, { results, transactionHash: log.transactionHash }] as const];
}

function answerOf(result: PresetResult | undefined): PresetRunView["answer"] {
  if (result === undefined) return null;
  const bytes = toHexText(result.bytes);
  return result.ok
    ? { response: bytes, readings: readResponse(bytes), err: "" }
    : { response: "0x", readings: {}, err: hexToString(bytes) };
}

/** Returns what the nodes are asked to run; `null` if it can't be read. */
async function readItem(
  { sourceId, args }: PresetItem,
  word: Hex | null,
  readSource: (sourceId: number) => Promise<string | undefined>,
): Promise<ProgramView | null> {
  const source = await readSource(sourceId);
  try {
    return source === undefined
      ? null
      : { source, args: [...decodeArgs(args)], bytesArgs: word === null ? [] : [word] };
  } catch {
    return null;
  }
}

/** Creates the function that reads stored sources, each once; `undefined` for one that the contract or the node doesn't have. */
function createSourceReader(
  client: PresetChain["client"],
  presetConsumer: Hex,
): (sourceId: number) => Promise<string | undefined> {
  const known = new Map<number, Promise<string | undefined>>();
  const read = async (sourceId: number): Promise<string | undefined> => {
    const { data, decode } = PRESET_CONSUMER_READS.source(sourceId);
    try {
      const answer = await client.request("eth_call", [{ to: presetConsumer, data }, "latest"]);
      return hexToString(decode(answer as Hex));
    } catch {
      return undefined;
    }
  };
  return (sourceId) => {
    const found = known.get(sourceId) ?? read(sourceId);
    known.set(sourceId, found);
    return found;
  };
}
