import { describeFailedCallback, explainFailedCallbacks } from "../chainlink/failedCallbacks.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";

/**
 * Says why a consumer's callback failed. No check depends on it: it is the word of the node, or that of the service that recorded it, which
 * the text then says.
 */
export async function explainCallback(
  log: RawLog,
  { facts, client, findRecordedCallbacks: findRecorded }: RequestPartsMeans,
): Promise<string> {
  const found = await explainFailedCallbacks([log], {
    client,
    findInput: async (hash) => (await facts.getTransaction(hash)).input,
    findRecorded,
  });
  const { reason, isRecorded = false } = found.get(log.topics[1]!) ?? {};
  return `${describeFailedCallback(reason)}${isRecorded ? " (as this service recorded it)" : ""}`;
}
