import type { Hex } from "viem";
import { decodeLog } from "../../../src/chainlink/events.ts";
import { decodePresetBatch, presetRequestId } from "../../../src/chainlink/presetBatch.ts";
import { createChainClient } from "../../../src/evm/client.ts";
import type { RawLog } from "../../../src/lib/nodeAnswers.ts";
import { readLogs } from "../../support/readLogs.ts";
import type { StrangersChain } from "./chain.ts";
import type { SeveralOperators } from "./nodes.ts";

type Place = Pick<RawLog, "blockNumber" | "transactionHash">;

/** What the chain shows of one batch of presets. */
export interface PresetOnChain {
  readonly vrfRequestId: Hex;
  readonly batch: Hex;
  /** Ids of its presets. */
  readonly requestIds: readonly string[];
  readonly request: Place;
  readonly word: (Place & { readonly outputSeed: bigint }) | undefined;
  /** All reports of it; one, if all is well. */
  readonly reports: readonly Place[];
}

/** Reads all batches of presets from the chain. */
export async function readPresets(
  operators: Pick<SeveralOperators, "contracts">,
  chain: Pick<StrangersChain, "httpUrl">,
): Promise<readonly PresetOnChain[]> {
  const { presetConsumer, vrfCoordinator } = operators.contracts();
  const client = createChainClient(chain.httpUrl);
  try {
    const logs = await readLogs(client, [presetConsumer, vrfCoordinator]);
    const events = logs.map((log) => ({ log, event: decodeLog(log) }));
    return events.flatMap(({ log, event }) => {
      if (event?.name !== "BatchRequested") return [];
      const { vrfRequestId, batch } = event;
      const word = events.find(
        (one) => one.event?.name === "RandomWordsFulfilled" && one.event.requestId === vrfRequestId,
      );
      const outputSeed = word?.event?.name === "RandomWordsFulfilled" ? word.event.outputSeed : 0n;
      const reports = events.filter(
        (one) => one.event?.name === "BatchReported" && one.event.vrfRequestId === vrfRequestId,
      );
      const requestIds = decodePresetBatch(batch).items.map((_, item) => presetRequestId(vrfRequestId, item));
      return [
        {
          vrfRequestId,
          batch,
          requestIds,
          request: log,
          word: word && { ...word.log, outputSeed },
          reports: reports.map((one) => one.log),
        },
      ];
    });
  } finally {
    await client.close();
  }
}
