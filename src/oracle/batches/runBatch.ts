import type { Hex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import { isPureSource } from "../../../sandbox/index.ts";
import { PRESET_CONSUMER_READS } from "../../chainlink/presetConsumerReads.ts";
import { decodeArgs } from "../../chainlink/functionsRequest.ts";
import { beaconWord, presetRequestId, wordsOfBatch, type PresetItem } from "../../chainlink/presetBatch.ts";
import { MAX_RESULT_BYTES } from "../../chainlink/presetReport.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { ChainClient } from "../../evm/client.ts";
import { fromHexText } from "../../lib/hex.ts";
import { shareByKey } from "../../lib/memo.ts";
import { tellStep } from "../../lib/spans.ts";
import { toWord } from "../../lib/uint256.ts";
import type { Observation } from "../aggregateObservations.ts";
import { failure, runSource, type SourceRunner } from "../functions/execute.ts";
import type { RequestBeacons } from "../requestBeacons.ts";
import { presetIdsOf, type BatchRequest } from "./presetBatches.ts";

/** Maximum number of batches run concurrently, in all and of one subscription. */
export const RUNNING_BATCHES = { total: 16, each: 4 } as const;
/** Maximum number of presets of one batch that are run concurrently. */
const MAX_RUNNING = 8;
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Runs the presets of batches. */
export interface BatchRunner {
  /**
   * Lets every node run each preset of a batch with its word, and returns what each observed: for each preset, one observation
   * of each node. Of a pure source, one run stands for all. A preset that can't be run yields an error that says so. If the batch waits for
   * a round of drand, its signature comes last, which must be known.
   *
   * @throws what the node or the sandbox throws when it can't answer now.
   */
  run(request: BatchRequest, seed: bigint): Promise<readonly (readonly Observation[])[]>;
  /** Returns the source of each preset of a batch; `undefined` where none is stored. */
  sourcesOf(request: BatchRequest): Promise<readonly (string | undefined)[]>;
  /** Must be called after a reorg: source ids may mean other sources. */
  forgetSources(): void;
}

/** Creates the runner of one PresetConsumer's batches for some nodes of one process. */
export function createBatchRunner(options: {
  readonly client: Pick<ChainClient, "call">;
  readonly presetConsumer: Hex;
  readonly beacons: Pick<RequestBeacons, "read">;
  readonly runner: SourceRunner;
  readonly nodes: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}): BatchRunner {
  const { client, presetConsumer, beacons, runner, nodes, signal } = options;
  const maxResponseBytes = Math.min(options.maxResponseBytes, MAX_RESULT_BYTES);
  /** By id; `undefined`: there is no such source. */
  const sources = new Map<number, Promise<string | undefined>>();

  async function readSource(sourceId: number): Promise<string | undefined> {
    try {
      const source = await askContract(client, presetConsumer, PRESET_CONSUMER_READS.source(sourceId));
      return DECODER.decode(fromHexText(source));
    } catch (error) {
      const name = decodeRevertReason((error as { data?: Hex }).data ?? "0x").name;
      if (name === "UnknownSource" || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  const sourceOf = (sourceId: number): Promise<string | undefined> =>
    shareByKey(sources, sourceId, () => readSource(sourceId));

  async function runItem(
    { sourceId, args }: PresetItem,
    word: bigint,
    group: string,
  ): Promise<Observation[]> {
    const impossible = (reason: string): Observation[] => [failure(reason, maxResponseBytes)];
    const source = await sourceOf(sourceId);
    if (source === undefined) return impossible(`source ${sourceId} is not stored`);
    let decoded: readonly string[];
    try {
      decoded = decodeArgs(args);
    } catch {
      return impossible("the arguments are malformed");
    }
    const run = { source, args: decoded, bytesArgs: [toWord(word)], group, sharesContext: true };
    const runs = isPureSource(source) ? 1 : nodes;
    return await runSource(run, { runner, nodes: runs, maxResponseBytes, signal });
  }

  return {
    async run(request, seed) {
      const { items, subscriptionId, requestId } = request;
      const signature = beacons.read(request);
      if (typeof signature === "string")
        return [...items, undefined].map(() => [failure(signature, maxResponseBytes)]);
      const words = wordsOfBatch(seed, items.length).map((word, i) =>
        signature === undefined
          ? word
          : beaconWord(word, { signature, requestId: presetRequestId(requestId, i) }),
      );
      const group = `presets of ${subscriptionId} at ${presetConsumer}`;
      const observed: (readonly Observation[])[] = [];
      const startMs = Date.now();
      let next = 0;
      const work = async (): Promise<void> => {
        for (let i = next++; i < items.length; i = next++)
          observed[i] = await runItem(items[i]!, words[i]!, group);
      };
      await Promise.all(Array.from({ length: Math.min(MAX_RUNNING, items.length) }, work));
      for (const id of presetIdsOf(request)) tellStep(id, { name: "run source", startMs });
      if (signature !== undefined) observed.push([{ ok: true, bytes: signature }]);
      return observed;
    },
    async sourcesOf({ items }) {
      return await Promise.all(items.map(({ sourceId }) => sourceOf(sourceId)));
    },
    forgetSources: () => sources.clear(),
  };
}
