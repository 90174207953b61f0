import { decodeErrorResult, decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from "viem";
import type { ChainClient, Receipt } from "../chain/client.ts";
import type { Sender } from "../chain/sender.ts";
import { functionsCoordinatorAbi } from "../contracts/abi.ts";
import { messageOf } from "../lib/errors.ts";
import { encodeTransmission, type ReportItem } from "./report.ts";
import type { ReportSigner } from "./signer.ts";

/** One of the network's nodes. Its keys are its own: no other part of the process uses them. */
export interface FunctionsNode {
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
}

/** Brings reports to the coordinator. */
export interface ReportTransmitter {
  /**
   * Has the items signed by as many nodes as the coordinator wants and sends them through the leader's account.
   * `revertReason` is there when the transaction reverted, and all its items with it.
   */
  transmit(report: {
    readonly items: readonly ReportItem[];
    /** Index of the node. */
    readonly leader: number;
    readonly epoch: number;
    readonly gas: bigint;
  }): Promise<{ readonly receipt: Receipt; readonly revertReason: string | undefined }>;
  /** The coordinator's configuration has changed: it is read anew before the next report. */
  forgetConfig(): void;
}

/** Reason of a report that reverted in its transaction and works when it is simulated with all the gas of a block. */
export const OUT_OF_GAS = "out of gas";

const errorAbi = parseAbi(["error ReportInvalid(string message)"]);

/** Creates the transmitter of one coordinator and the nodes of its configuration, of which `faulty` may be wrong. */
export function createReportTransmitter(options: {
  readonly client: Pick<ChainClient, "call">;
  readonly coordinator: Hex;
  readonly nodes: readonly FunctionsNode[];
  readonly faulty: number;
}): ReportTransmitter {
  const { client, coordinator, nodes } = options;
  // OCR2Base.transmit: `expectedNumSignatures`.
  const signaturesWanted = Math.floor((nodes.length + options.faulty) / 2) + 1;
  let configDigest: Hex | undefined;

  async function readConfigDigest(): Promise<Hex> {
    const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
    const data = await client.call({ to: coordinator, data: encodeFunctionData(call) });
    return decodeFunctionResult({ ...call, data })[2];
  }

  /** The leader and the nodes after it, so that all take turns. */
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
      const receipt = await transmitter.send({ to: coordinator, data, gas }, undefined);
      if (receipt.succeeded) return { receipt, revertReason: undefined };
      configDigest = undefined;
      const simulation = client.call({ to: coordinator, data, from: transmitter.address });
      return { receipt, revertReason: await simulation.then(() => OUT_OF_GAS, revertReasonOf) };
    },
    forgetConfig() {
      configDigest = undefined;
    },
  };
}

function revertReasonOf(error: unknown): string {
  const { data } = error as { readonly data?: Hex };
  if (data === undefined) return messageOf(error);
  try {
    return decodeErrorResult({ abi: errorAbi, data }).args[0];
  } catch {
    return data;
  }
}
