import type { Hex } from "viem";
import { LATEST_CONFIG } from "../chainlink/nodeConfig.ts";
import { askContract } from "../chainlink/contractRead.ts";
import type { ChainClient, Receipt } from "../evm/client.ts";
import type { Sender } from "../evm/sender.ts";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import type { RevertReason } from "../chainlink/revertReason.ts";
import { faultyNodesOf, signaturesOf } from "../chainlink/quorum.ts";
import { tellAnswers } from "./answerSpans.ts";
import { encodeTransmission, type ReportItem } from "./report.ts";
import type { ReportSigner } from "./signer.ts";

/** One of the network's nodes. No other part of the process uses its keys. */
export interface FunctionsNode {
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
}

/** Transmits reports to the coordinator. */
export interface ReportTransmitter {
  /**
   * Has the items signed by as many nodes as the coordinator requires and sends them through the leader's account. `revertReason` is
   * present if the transaction reverted, and all its items with it.
   */
  transmit(report: {
    readonly items: readonly ReportItem[];
    /** Index of the node. */
    readonly leader: number;
    readonly epoch: number;
    readonly gas: bigint;
  }): Promise<{ readonly receipt: Receipt; readonly revertReason: RevertReason | undefined }>;
  /** Must be called when the coordinator's configuration changed: it is reread before the next report. */
  forgetConfig(): void;
}

/** Creates the transmitter of one coordinator and the nodes of its configuration. */
export function createReportTransmitter(options: {
  readonly client: Pick<ChainClient, "call" | "request">;
  readonly coordinator: Hex;
  readonly nodes: readonly FunctionsNode[];
}): ReportTransmitter {
  const { client, coordinator, nodes } = options;
  const signaturesWanted = signaturesOf(nodes.length, faultyNodesOf(nodes.length));
  let configDigest: Hex | undefined;

  async function readConfigDigest(): Promise<Hex> {
    return (await askContract(client, coordinator, LATEST_CONFIG)).configDigest;
  }

  /** Returns the leader and the nodes after it, so that all take turns. */
  function signersOf(leader: number): ReportSigner[] {
    return Array.from(
      { length: signaturesWanted },
      (_, index) => nodes[(leader + index) % nodes.length]!.signer,
    );
  }

  return {
    async transmit({ items, leader, epoch, gas }) {
      configDigest ??= await readConfigDigest();
      const data = encodeTransmission(items, { configDigest, epoch }, signersOf(leader));
      const { transmitter } = nodes[leader]!;
      // The router refuses items whose gas costs more than when they were requested.
      const call = { to: coordinator, data, gas, avoidsPeaks: true };
      const startMs = Date.now();
      const receipt = await transmitter.send(call, undefined);
      const answered = items.map(({ requestId }) => requestId);
      tellAnswers("report", answered, { startMs, receipt });
      if (receipt.succeeded) return { receipt, revertReason: undefined };
      configDigest = undefined;
      const from = transmitter.address;
      return { receipt, revertReason: await findRevertReason(client, { ...call, from }, receipt) };
    },
    forgetConfig() {
      configDigest = undefined;
    },
  };
}
