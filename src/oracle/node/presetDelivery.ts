import type { Hex } from "viem";
import { deliveryGas, proofsGas } from "../../chainlink/gas.ts";
import { findRevertReason } from "../../chainlink/findRevertReason.ts";
import { encodeDelivery, type SignedReport } from "../../chainlink/presetReport.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import { tellAnswers } from "../../lib/spans.ts";
import { encodeFulfillment } from "../vrf/fulfillment.ts";
import { createGroupCommit, type CommitPipelining, type GroupCommit } from "../groupCommit.ts";
import type { OracleLog } from "../log.ts";
import { presetIdsOf, takenIn, type BatchEntry, type PresetBatches } from "../batches/presetBatches.ts";
import type { WordProofs } from "./wordProofs.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";

/** Maximum number of batches in one transaction. */
const MAX_DELIVERED = 16;

/** A report with enough signatures. */
interface Delivery {
  readonly entry: BatchEntry;
  readonly stage: number;
  readonly report: SignedReport;
}

export interface PresetDeliveryOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "request">;
  /** Lower case. */
  readonly presetConsumer: Hex;
  readonly transmitter: Sender;
  readonly pipelining: CommitPipelining;
  readonly batches: PresetBatches;
  readonly words: WordProofs;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** Creates what sends a node's signed reports, several in one transaction, with the proofs of words that are not on chain yet. */
export function createPresetDelivery(options: PresetDeliveryOptions): GroupCommit<Delivery> {
  const { client, presetConsumer, transmitter, words, log, signal } = options;
  const { requests } = options.batches;
  const group = createGroupCommit<Delivery, Sender>({
    lanes: [transmitter],
    pipelining: options.pipelining,
    signal,
    isAlone: ({ entry }) => entry.alone,
    fits: (deliveries) => gasOf(deliveries) <= options.pipelining.maxTransactionGas,
    most: MAX_DELIVERED,
    commit: deliver,
    onError(error, items) {
      const stages = items.map(({ entry, stage }) => ({ requestId: entry.request.requestId, stage }));
      log.error({ err: error, stages }, "presets: reports were not sent");
    },
  });

  function gasOf(deliveries: readonly Delivery[]): bigint {
    const proven = words.unproven(deliveries.map(({ entry }) => entry));
    const reports = deliveries.map(({ report }) => report);
    return deliveryGas(reports, proven.length === 0 ? 0n : proofsGas(proven));
  }

  /** Sends reports, with the proofs of words that are not on chain. If that fails, the next stage is another node's. */
  async function deliver(items: readonly Delivery[], lane: Sender): Promise<void> {
    const open = items.filter(({ entry }) => requests.isOpen(entry) && words.isProvable(entry));
    if (open.length === 0) return;
    const proven = words.unproven(open.map(({ entry }) => entry));
    const fulfilment = proven.length === 0 ? "0x" : encodeFulfillment(proven);
    const reports = open.map(({ report }) => report);
    const call = { to: presetConsumer, data: encodeDelivery(fulfilment, reports), gas: gasOf(open) };
    const startMs = Date.now();
    const receipt = await lane.send(call, undefined);
    tellAnswers(
      "report",
      open.flatMap(({ entry }) => presetIdsOf(entry.request)),
      { startMs, receipt },
    );
    if (!receipt.succeeded) return await onRevert(open, call, receipt);
    words.noteRefusals(receipt.logs);
    const taken = takenIn(presetConsumer, receipt.logs);
    const { transactionHash } = receipt;
    for (const { entry, stage } of open) {
      const { requestId } = entry.request;
      if (taken.has(requestId)) log.info({ requestId, stage, transactionHash }, "presets: transmitted");
      else log.warn({ requestId, stage, transactionHash }, "presets: a report was passed over");
    }
  }

  /** A delivery that reverts takes all reports with it: each goes alone next time, with more gas. */
  async function onRevert(
    deliveries: readonly Delivery[],
    call: { readonly to: Hex; readonly data: Hex; readonly gas: bigint },
    receipt: Receipt,
  ): Promise<void> {
    for (const { entry } of deliveries) {
      entry.alone = true;
      requests.raiseGas(entry);
    }
    const { text } = await findRevertReason(client, { ...call, from: transmitter.address }, receipt);
    const requestIds = deliveries.map(({ entry }) => entry.request.requestId);
    const { transactionHash } = receipt;
    log.error({ requestIds, transactionHash, reason: text }, "presets: PresetConsumer refused reports");
  }

  return group;
}
