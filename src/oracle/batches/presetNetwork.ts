import type { Hex } from "viem";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import { encodeResults, type SignedReport } from "../../chainlink/presetReport.ts";
import type { ChainClient, Receipt } from "../../evm/client.ts";
import type { BeaconRounds } from "../../lib/beaconRounds.ts";
import { tellStep } from "../../lib/spans.ts";
import type { BegunProof } from "../../vrf/proof.ts";
import { outputOf } from "../../vrf/randomWords.ts";
import type { Answerer } from "../answerer.ts";
import { aggregate } from "../aggregateObservations.ts";
import type { SourceRunner } from "../functions/execute.ts";
import type { VrfRequest } from "../vrf/fulfillment.ts";
import type { FunctionsNode } from "../functions/functionsDelivery.ts";
import type { CommitPipelining } from "../groupCommit.ts";
import type { OracleLog } from "../log.ts";
import { createRequestWork, type RequestWork } from "../requestWork.ts";
import { createPresetBatches, presetIdsOf, type BatchEntry, type BatchRequest } from "./presetBatches.ts";
import { createPresetReports } from "./presetReports.ts";
import { createBatchRunner, RUNNING_BATCHES } from "./runBatch.ts";

/** How long a proof waits for the results of its presets: a source that takes longer gets its report in a later transaction. */
const GRACE_MS = 1_000;
/** What goes with the proofs of presets' words: their results, in the same transaction. */
export interface ProofCompanion extends Answerer {
  /** Lower case. */
  readonly presetConsumer: Hex;
  /** Takes a proof that may be delivered now. Resolves when it should be: its results are ready, or would take too long. */
  accompany(request: VrfRequest, proof: BegunProof): Promise<void>;
  /** Sends a transaction with the results of these VRF requests that are ready, in `reports`; there may be none. */
  withReports(
    requestIds: readonly Hex[],
    send: (reports: readonly SignedReport[]) => Promise<Receipt>,
  ): Promise<Receipt>;
}

export interface PresetNetworkOptions {
  readonly client: Pick<ChainClient, "call" | "getHead">;
  readonly chainId: number;
  /** Lower case. */
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  readonly rounds: BeaconRounds;
  /** All nodes of the configuration that PresetConsumer has adopted. */
  readonly nodes: readonly FunctionsNode[];
  readonly runner: SourceRunner;
  readonly maxResponseBytes: number;
  readonly pipelining: CommitPipelining;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/**
 * Creates the network of nodes that answers presets, all in one process: it runs their sources with their words, and signs the results.
 *
 * A result follows from the seed, and the seed from the proof: where the proof is made in this process, both go in one transaction.
 * Otherwise the report follows once the word is on chain. PresetConsumer takes the results of a batch once, and passes over what it has.
 */
export function createPresetNetwork(options: PresetNetworkOptions): ProofCompanion {
  const { presetConsumer, nodes } = options;
  const batches = createPresetBatches({ ...options, onDue: () => work.review() });
  const { requests } = batches;
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "presets",
    requests,
    places: RUNNING_BATCHES,
    next(entry) {
      const { request } = entry;
      if (entry.state === "working") return undefined;
      const seed = batches.seedOf(entry);
      if (seed === undefined) return "waiting for its random word";
      if (requests.isPaused(entry)) return undefined;
      if (!results.has(request)) return { why: "running its presets", run: () => run(entry, seed.value) };
      if (seed.block === undefined) return "its random word is on its way to the chain";
      reports.push(entry);
      return undefined;
    },
  });
  const { rounds } = work;
  const runner = createBatchRunner({ ...options, rounds, nodes: nodes.length });
  /** Bytes of `encodeResults`. */
  const results = new WeakMap<BatchRequest, Uint8Array>();
  const reports = createPresetReports({
    ...options,
    batches,
    resultsOf: (request) => results.get(request)!,
  });
  const waiting = new WeakMap<BatchRequest, () => void>();

  async function run(entry: BatchEntry, seed: bigint): Promise<void> {
    const { request } = entry;
    const startMs = Date.now();
    try {
      const observed = await runner.run(request, seed);
      for (const id of presetIdsOf(request)) tellStep(id, { name: "run source", startMs });
      results.set(request, encodeResults(observed.map(aggregate)));
      entry.state = "waiting";
    } finally {
      waiting.get(request)?.();
    }
  }

  return {
    presetConsumer,
    addresses: [options.vrfCoordinator, presetConsumer],
    async accompany({ requestId }, proof) {
      const entry = batches.prove(requestId, deriveWords(outputOf(proof.gamma), 1)[0]!);
      if (entry === undefined || results.has(entry.request)) return;
      // The proof goes first: with the round, whoever has the proof would know the results that it brings.
      if (rounds.findUnknown(entry.request) !== undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(entry.request, resolve);
      const timer = setTimeout(resolve, GRACE_MS).unref();
      work.review();
      await promise;
      clearTimeout(timer);
      waiting.delete(entry.request);
    },
    async withReports(requestIds, send) {
      const ready = requestIds.flatMap((requestId) => {
        const entry = requests.find(requestId);
        const isReady = entry?.state === "waiting" && !entry.alone && results.has(entry.request);
        return isReady ? [entry] : [];
      });
      return await reports.withReports(ready, send);
    },
    onBlock(block, isLive) {
      work.isLive = isLive;
      for (const one of block.logs) if (one.address === presetConsumer) reports.onLog(one);
      batches.read(block.logs);
      requests.onHead(block.number);
      work.review();
    },
    onReorg(firstReplaced) {
      runner.forgetSources();
      return batches.onReorg(firstReplaced);
    },
    pending: () => requests.pending("presets"),
  };
}
