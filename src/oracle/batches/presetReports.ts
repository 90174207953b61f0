import type { Hex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import { findEvent } from "../../chainlink/events.ts";
import { readyRecord } from "../../chainlink/presetBatch.ts";
import { PRESET_CONSUMER_READS, type AdoptedNodes } from "../../chainlink/presetConsumerReads.ts";
import {
  batchReportDigest,
  deliveryGas,
  encodeBatchReport,
  encodeDelivery,
  type SignedReport,
} from "../../chainlink/presetReport.ts";
import { signaturesOf } from "../../chainlink/quorum.ts";
import type { ChainClient, RawLog, Receipt } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { tellAnswers } from "../answerSpans.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import type { FunctionsNode } from "../functions/functionsDelivery.ts";
import { createGroupCommit, lanesOf, type CommitPipelining } from "../groupCommit.ts";
import type { OracleLog } from "../log.ts";
import { presetIdsOf, type BatchEntry, type BatchRequest, type PresetBatches } from "./presetBatches.ts";

/** Maximum bytes of results in one transaction, unless one batch has more; pools refuse transactions above 128 KiB (geth, `txMaxSize`). */
const MAX_REPORTED_BYTES = 60_000;

/** Signs the results of batches and delivers them. */
export interface PresetReports {
  /** Sends a batch's results in a report of their own. The batch is finished or postponed by that. */
  push(entry: BatchEntry): void;
  /** Sends a transaction with the results of these batches, as far as they fit: the others follow later. */
  withReports(
    ready: readonly BatchEntry[],
    send: (reports: readonly SignedReport[]) => Promise<Receipt>,
  ): Promise<Receipt>;
  /** Reads a log of PresetConsumer: it may have adopted other nodes. */
  onLog(eventLog: RawLog): void;
}

export interface PresetReportsOptions {
  readonly client: Pick<ChainClient, "call">;
  readonly chainId: number;
  readonly presetConsumer: Hex;
  readonly nodes: readonly FunctionsNode[];
  readonly pipelining: CommitPipelining;
  readonly batches: PresetBatches;
  /** Returns the results of a batch that is delivered, as bytes of `encodeResults`. */
  readonly resultsOf: (request: BatchRequest) => Uint8Array;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** Creates the delivery of presets' results for one process that holds all keys. */
export function createPresetReports(options: PresetReportsOptions): PresetReports {
  const { presetConsumer, nodes, batches, resultsOf, log, signal } = options;
  const { requests } = batches;
  let adopted: Promise<AdoptedNodes> | undefined;

  const { maxInFlight, paceMs } = options.pipelining;
  const group = createGroupCommit<BatchEntry, Sender>({
    lanes: lanesOf(
      nodes.map(({ transmitter }) => transmitter),
      maxInFlight,
    ),
    paceMs,
    signal,
    measure: (queue) => {
      const count = queue[0]!.alone ? 1 : countFitting(queue);
      return { count, full: count < queue.length };
    },
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

  /** Returns how many batches from the front, at least one, have results that fit one transaction. */
  function countFitting(entries: readonly BatchEntry[]): number {
    let bytes = 0;
    const count = entries.findIndex(({ request }, index) => {
      bytes += resultsOf(request).length;
      return index > 0 && bytes > MAX_REPORTED_BYTES;
    });
    return count === -1 ? entries.length : count;
  }

  /** Signs the results of some batches; no report if there are none, or if they can't be signed now, which postpones them. */
  async function signTogether(entries: readonly BatchEntry[]): Promise<readonly SignedReport[]> {
    if (entries.length === 0) return [];
    for (const entry of entries) entry.state = "working";
    try {
      return [await sign(entries)];
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

  async function sign(entries: readonly BatchEntry[]): Promise<SignedReport> {
    adopted ??= readAdoptedNodes();
    adopted.catch(() => (adopted = undefined));
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
      adopted = undefined;
      throw new TycheError(
        `PresetConsumer ${presetConsumer} has adopted ${signing.length} of the ${wanted} nodes that must sign; send it adoptNodes`,
        { code: "chain_unavailable", blame: "upstream" },
      );
    }
    return { report, signatures: signing.map(({ signer, index }) => ({ index, ...signer.sign(digest) })) };
  }

  function readAdoptedNodes(): Promise<AdoptedNodes> {
    return askContract(options.client, presetConsumer, PRESET_CONSUMER_READS.adoptedNodes());
  }

  function settle(entries: readonly BatchEntry[], receipt: Receipt): void {
    const { transactionHash } = receipt;
    if (!receipt.succeeded) {
      adopted = undefined;
      log.error({ transactionHash, batches: entries.length }, "presets: PresetConsumer refused a report");
    }
    const taken = new Set(
      receipt.logs.flatMap((one) => {
        const event = one.address === presetConsumer ? findEvent(one) : undefined;
        return event?.name === "BatchReported" ? [event.vrfRequestId] : [];
      }),
    );
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
    push(entry) {
      entry.state = "working";
      entry.why = "in the next report";
      group.push(entry);
    },
    async withReports(ready, send) {
      const entries = ready.slice(0, countFitting(ready));
      const reports = await signTogether(entries);
      // The proofs wait for no signature.
      return await sendTogether(reports.length === 0 ? [] : entries, () => send(reports));
    },
    onLog(eventLog) {
      if (findEvent(eventLog)?.name === "NodesAdopted") adopted = undefined;
    },
  };
}
