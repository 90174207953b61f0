import type { Hex } from "viem";
import { decodeBatch, decodeFulfilments } from "../chainlink/calldata.ts";
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

/**
 * Returns the ids of the requests that a transaction brings random words for, but not their result: presets whose nodes have yet to run, and
 * words that are joined. The proofs name the blocks of the requests; without all of their logs, what was found is not whole. Rejects if the node
 * refuses them.
 *
 * @param logs the transaction's own, from the oracle's contracts
 */
export async function findDrawnFor(
  { input }: { readonly input: Hex },
  logs: readonly RawLog[],
  { archive, contracts: { presetConsumer } }: Pick<ExploredChain, "archive" | "contracts">,
): Promise<{ readonly ids: readonly Hex[]; readonly isWhole: boolean }> {
  const events = logs.flatMap((log) => findEvent(log) ?? []);
  const reported = new Set(
    events.flatMap((event) => (event.name === "BatchReported" ? event.vrfRequestId : [])),
  );
  const drawn = events.flatMap((event) => (event.name === "RandomWordsFulfilled" ? event.requestId : []));
  if (drawn.every((id) => reported.has(id))) return { ids: [], isWhole: true };
  const own = decodeFulfilments(input).filter(
    ({ commitment }) => commitment.sender.toLowerCase() === presetConsumer.toLowerCase(),
  );
  if (own.length === 0) return { ids: [], isWhole: true };
  const blocks = new Set(own.map(({ commitment }) => commitment.blockNum));
  const { Accepted, BatchRequested, Joining } = EVENT_TOPICS;
  const found = await Promise.all(
    [...blocks].map((block) =>
      archive.findLogs({
        address: presetConsumer,
        topics: [[Accepted, BatchRequested, Joining]],
        fromBlock: block,
        toBlock: block,
      }),
    ),
  );
  const begun = found.flat();
  const joined = begun.flatMap((log) => {
    const event = findEvent(log);
    return event?.name === "Joining" && event.parts.some((part) => drawn.includes(part))
      ? event.requestId
      : [];
  });
  const wanted = new Set([...drawn, ...joined].filter((id) => !reported.has(id)));
  const batches = begun.filter(({ topics: [topic, id] }) => topic === BatchRequested && wanted.has(id!));
  const ids = [...new Set([...joined, ...batches.flatMap(idsIn)])];
  // Each request was accepted in one of the blocks.
  return { ids, isWhole: found.every(({ length }) => length > 0) };
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
