import type { Hex } from "viem";
import { decodeBatch } from "../chainlink/calldata.ts";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS } from "../chainlink/events.ts";
import { presetRequestId } from "../chainlink/presetBatch.ts";
import { decodeResults } from "../chainlink/presetReport.ts";
import { fromHexText } from "../lib/hex.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import type { ExploredChain } from "./exploredChain.ts";

/**
 * Returns the ids of the requests that a block's transactions make or answer, in the order of the chain, by the logs of the oracle's
 * contracts: four queries of one block.
 */
export async function readRequestIds(
  { archive, contracts }: Pick<ExploredChain, "archive" | "contracts">,
  block: bigint,
): Promise<readonly Hex[]> {
  const { presetConsumer, vrfCoordinator, functionsRouter } = contracts;
  const { BatchRequested, BatchReported, RequestStart, RequestProcessed } = EVENT_TOPICS;
  const queries = [
    [presetConsumer, [BatchRequested, BatchReported]],
    [functionsRouter, [RequestStart, RequestProcessed]],
    [vrfCoordinator, WORDS_TOPICS.requested],
    [vrfCoordinator, WORDS_TOPICS.fulfilled],
  ] as const;
  const logs = await Promise.all(
    queries.map(([address, topics]) =>
      archive.findLogs({ address, topics: [topics], fromBlock: block, toBlock: block }),
    ),
  );
  const inOrder = logs.flat().toSorted((a, b) => a.logIndex - b.logIndex);
  return [...new Set(inOrder.flatMap(idsIn))];
}

/** Returns the ids of the requests that a log of the oracle's contracts makes or answers. */
export function idsIn(log: RawLog): readonly Hex[] {
  const event = findEvent(log);
  switch (event?.name) {
    case "BatchRequested":
      return decodeBatch(event.batch).items.map((_, item) => presetRequestId(event.vrfRequestId, item));
    case "BatchReported":
      return Array.from({ length: countResults(event.results) }, (_, item) =>
        presetRequestId(event.vrfRequestId, item),
      );
    case "RandomWordsRequested":
    case "RandomWordsFulfilled":
      return [event.requestId];
    case "RequestStart":
    case "RequestProcessed":
      return [log.topics[1]!];
    default:
      return [];
  }
}

/** Whether a log answers a request. */
export function isAnswer(log: RawLog): boolean {
  const name = findEvent(log)?.name;
  return name === "BatchReported" || name === "RandomWordsFulfilled" || name === "RequestProcessed";
}

/** With a round of drand, its signature is one more. */
function countResults(results: Hex): number {
  try {
    return decodeResults(fromHexText(results)).length;
  } catch {
    // The nodes signed something else.
    return 0;
  }
}
