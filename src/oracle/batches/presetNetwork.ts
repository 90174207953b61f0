import type { Hex } from "viem";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import {
  batchReportDigest,
  encodeBatchReport,
  encodeDelivery,
  encodeResults,
  type SignedReport,
} from "../../chainlink/presetReport.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { RawLog, Receipt } from "../../lib/nodeAnswers.ts";
import type { BeaconRounds } from "../../beacon/beaconRounds.ts";
import { outputOf } from "../../vrf/randomWords.ts";
import type { ProofCompanion } from "../answerer.ts";
import { aggregate } from "../aggregateObservations.ts";
import type { SourceRunner } from "../functions/execute.ts";
import type { FunctionsNode } from "../functions/functionsNetwork.ts";
import type { OracleLog } from "../log.ts";
import { createRequestWork, type RequestWork } from "../requestWork.ts";
import {
  createPresetBatches,
  presetIdsOf,
  takenIn,
  type BatchEntry,
  type BatchRequest,
  type PresetBatches,
} from "./presetBatches.ts";
import { createBatchRunner, RUNNING_BATCHES } from "./runBatch.ts";
import { askContract } from "../../chainlink/contractRead.ts";
import { findEvent } from "../../chainlink/events.ts";
import { deliveryGas } from "../../chainlink/gas.ts";
import { readyRecord } from "../../chainlink/presetBatch.ts";
import { PRESET_CONSUMER_READS, type AdoptedNodes } from "../../chainlink/presetConsumerReads.ts";
import { signaturesOf } from "../../chainlink/quorum.ts";
import type { Sender } from "../../evm/sender.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { tellAnswers } from "../../lib/spans.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import { createGroupCommit, measureFront, type CommitPipelining, type Fitting } from "../groupCommit.ts";

/** How long a proof waits for the results of its presets: a source that takes longer gets its report in a later transaction. */
export const GRACE_MS = 1_000;

export interface PresetNetworkOptions {
  readonly client: Pick<ChainClient, "call" | "getHead">;
  readonly chainId: number;
  /** Lower case. */
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  readonly beaconRounds: BeaconRounds;
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
    read(logs) {
      for (const one of logs) if (one.address === presetConsumer) reports.onLog(one);
      batches.read(logs);
    },
    next(entry) {
      const { request } = entry;
      if (entry.state === "working") return undefined;
      const seed = batches.seedOf(entry);
      if (seed === undefined) return "waiting for its random word";
      if (requests.isPaused(entry)) return undefined;
      if (!results.has(request))
        return {
          why: "running its presets",
          run: () => run(entry, seed.value).finally(() => waiting.get(request)?.()),
        };
      if (seed.block === undefined) return "its random word is on its way to the chain";
      reports.push(entry);
      return undefined;
    },
  });
  const { beacons } = work;
  const runner = createBatchRunner({ ...options, beacons, nodes: nodes.length });
  /** Bytes of `encodeResults`. */
  const results = new WeakMap<BatchRequest, Uint8Array>();
  const reports = createPresetReports({
    ...options,
    batches,
    resultsOf: (request) => results.get(request)!,
  });
  const waiting = new WeakMap<BatchRequest, () => void>();

  async function run(entry: BatchEntry, seed: bigint): Promise<void> {
    const observed = await runner.run(entry.request, seed);
    results.set(entry.request, encodeResults(observed.map(aggregate)));
    entry.state = "waiting";
  }

  return {
    presetConsumer,
    addresses: [options.vrfCoordinator, presetConsumer],
    async accompany({ requestId }, proof) {
      const entry = batches.prove(requestId, deriveWords(outputOf(proof.gamma), 1)[0]!);
      if (entry === undefined || results.has(entry.request)) return;
      // The proof goes first: with the round, whoever has the proof would know the results that it brings.
      if (beacons.findUnknown(entry.request) !== undefined) return;
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
    onBlock: work.onBlock,
    onReorg(firstReplaced) {
      runner.forgetSources();
      return batches.onReorg(firstReplaced);
    },
    pending: () => requests.pending("presets"),
  };
}

/** Maximum bytes of results in one transaction, unless one batch has more; pools refuse transactions above 128 KiB (geth, `txMaxSize`). */
const MAX_REPORTED_BYTES = 60_000;

interface PresetReportsOptions extends PresetNetworkOptions {
  readonly batches: PresetBatches;
  /** Returns the results of a batch that is delivered, as bytes of `encodeResults`. */
  readonly resultsOf: (request: BatchRequest) => Uint8Array;
}

/** Creates the delivery of presets' results for one process that holds all keys: it signs them and sends them. */
function createPresetReports(options: PresetReportsOptions) {
  const { presetConsumer, nodes, batches, resultsOf, log, signal } = options;
  const { requests } = batches;
  const signing = createSigning(options);

  const fitting: Fitting<BatchEntry> = {
    isAlone: (entry) => entry.alone,
    fits: (entries) =>
      entries.reduce((bytes, { request }) => bytes + resultsOf(request).length, 0) <= MAX_REPORTED_BYTES,
  };
  const group = createGroupCommit<BatchEntry, Sender>({
    ...fitting,
    lanes: nodes.map(({ transmitter }) => transmitter),
    pipelining: options.pipelining,
    signal,
    async commit(entries, transmitter) {
      const open = entries.filter((entry) => requests.isOpen(entry));
      const reports = await signTogether(open);
      if (reports.length === 0) return;
      const call = { to: presetConsumer, data: encodeDelivery("0x", reports), gas: deliveryGas(reports) };
      await sendTogether(open, () => transmitter.send(call, undefined));
    },
    // Each batch was postponed by then.
    onError() {},
  });

  /** Signs the results of some batches; no report if there are none, or if they can't be signed now, which postpones them. */
  async function signTogether(entries: readonly BatchEntry[]): Promise<readonly SignedReport[]> {
    if (entries.length === 0) return [];
    for (const entry of entries) entry.state = "working";
    try {
      return [await signing.sign(entries)];
    } catch (error) {
      onFailure(entries, "the results could not be signed yet", error);
      return [];
    }
  }

  /** Sends a transaction with the results of some batches; the receipt tells which were taken. */
  async function sendTogether(
    entries: readonly BatchEntry[],
    send: () => Promise<Receipt>,
  ): Promise<Receipt> {
    const startMs = Date.now();
    try {
      const receipt = await send();
      const presetIds = entries.flatMap(({ request }) => presetIdsOf(request));
      tellAnswers("report", presetIds, { startMs, receipt });
      settle(entries, receipt);
      return receipt;
    } catch (error) {
      onFailure(entries, "the report could not be sent", error);
      throw error;
    }
  }

  function onFailure(entries: readonly BatchEntry[], what: string, error: unknown): void {
    if (signal.aborted) return;
    log.error({ err: error, batches: entries.length }, `presets: ${what}`);
    for (const entry of entries)
      requests.postpone(entry, `${what}: ${messageOf(error)}`, LONGEST_FREE_PAUSE_MS);
  }

  function settle(entries: readonly BatchEntry[], receipt: Receipt): void {
    const { transactionHash } = receipt;
    if (!receipt.succeeded) {
      signing.forgetNodes();
      log.error({ transactionHash, batches: entries.length }, "presets: PresetConsumer refused a report");
    }
    const taken = takenIn(presetConsumer, receipt.logs);
    for (const entry of entries) {
      const { requestId } = entry.request;
      if (taken.has(requestId)) {
        log.info({ requestId, transactionHash }, "presets: answered");
        requests.finish(entry.request, receipt.blockNumber);
      } else {
        entry.alone ||= !receipt.succeeded;
        requests.postpone(entry, `the transaction ${transactionHash} did not bring its results`);
      }
    }
  }

  return {
    /** Sends a batch's results in a report of their own. The batch is finished or postponed by that. */
    push(entry: BatchEntry): void {
      entry.state = "working";
      entry.why = "in the next report";
      group.push(entry);
    },
    /** Sends a transaction with the results of these batches, as far as they fit: the others follow later. */
    async withReports(
      ready: readonly BatchEntry[],
      send: (reports: readonly SignedReport[]) => Promise<Receipt>,
    ): Promise<Receipt> {
      const entries = ready.length === 0 ? [] : ready.slice(0, measureFront(ready, fitting).count);
      const reports = await signTogether(entries);
      // The proofs wait for no signature.
      return await sendTogether(reports.length === 0 ? [] : entries, () => send(reports));
    },
    /** Reads a log of PresetConsumer: it may have adopted other nodes. */
    onLog(eventLog: RawLog): void {
      if (findEvent(eventLog)?.name === "NodesAdopted") signing.forgetNodes();
    },
  };
}

/** Creates what signs results as the nodes that PresetConsumer has adopted. */
function createSigning(options: PresetReportsOptions) {
  const { client, presetConsumer, nodes, batches, resultsOf } = options;
  let adopted: Promise<AdoptedNodes> | undefined;
  const forgetNodes = (): void => void (adopted = undefined);

  async function sign(entries: readonly BatchEntry[]): Promise<SignedReport> {
    adopted ??= askContract(client, presetConsumer, PRESET_CONSUMER_READS.adoptedNodes());
    adopted.catch(forgetNodes);
    const { configDigest, faulty, signers } = await adopted;
    const report = encodeBatchReport(
      entries.map((entry) => ({
        vrfRequestId: entry.request.requestId,
        ready: readyRecord(entry.request.batch, batches.seedOf(entry)!.value),
        results: resultsOf(entry.request),
      })),
    );
    const digest = batchReportDigest(report, { ...options, configDigest });
    const wanted = signaturesOf(signers.length, faulty);
    const signing = nodes
      .map(({ signer }) => ({ signer, index: signers.indexOf(signer.address) }))
      .filter(({ index }) => index >= 0)
      .slice(0, wanted);
    if (signing.length < wanted) {
      forgetNodes();
      throw new TycheError(
        `PresetConsumer ${presetConsumer} has adopted ${signing.length} of the ${wanted} nodes that must sign; send it adoptNodes`,
        { code: "chain_unavailable", blame: "upstream" },
      );
    }
    return { report, signatures: signing.map(({ signer, index }) => ({ index, ...signer.sign(digest) })) };
  }

  return { sign, forgetNodes };
}
