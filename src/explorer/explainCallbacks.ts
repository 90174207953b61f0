import type { Hex } from "viem";
import { explainFailedCallbacks } from "../chainlink/failedCallbacks.ts";
import type { RawLog } from "../evm/client.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** Explains, by request id, why consumers' callbacks failed, for those of these logs that say so. */
export async function explainCallbacks(
  logs: readonly RawLog[],
  { archive, client, findRecordedCallbacks: findRecorded }: ExploredChain,
): Promise<ReadonlyMap<Hex, string>> {
  const findInput = async (hash: Hex) => (await archive.findTransaction(hash))?.input;
  const found = await explainFailedCallbacks(logs, { client, findInput, findRecorded });
  return new Map([...found].map(([requestId, { reason }]) => [requestId, reason]));
}
