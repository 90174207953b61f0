import type { JoinView, RandomnessView } from "../api/types.ts";
import type { Hex } from "viem";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent } from "../chainlink/events.ts";
import type { RawLog } from "../evm/client.ts";
import { toWord } from "../lib/uint256.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** The part of a chain that {@link readJoins} reads. */
type JoinChain = Pick<ExploredChain, "contracts"> & {
  readonly archive: Pick<ExploredChain["archive"], "findLogs">;
};
type Delivered = Pick<RandomnessView, "requestId"> & {
  readonly commitment: Pick<RandomnessView["commitment"], "blockNum">;
};

/**
 * Reads which words belong together: the joins that a transaction began, and those whose parts it delivered. Trusts only our own
 * consumer's events.
 *
 * @param logs the transaction's own, from the oracle's contracts
 * @param randomness the proofs that it delivered
 * @param toBlock last block to search for the other parts
 */
export async function readJoins(
  logs: readonly RawLog[],
  randomness: readonly Delivered[],
  { archive, contracts }: JoinChain,
  toBlock: bigint,
): Promise<readonly JoinView[]> {
  const { presetConsumer, vrfCoordinator } = contracts;
  const find = (address: Hex, topics: readonly (Hex | readonly Hex[])[], fromBlock: bigint, to: bigint) =>
    fromBlock > to ? [] : archive.findLogs({ address, topics, fromBlock, toBlock: to });
  // A join begins in the block of its parts' requests, which the commitments name.
  const blocks = [...new Set(randomness.map(({ commitment }) => BigInt(commitment.blockNum)))];
  const earlier = await Promise.all(
    blocks.map(async (block) =>
      find(presetConsumer, [EVENT_TOPICS.Joining], block, block < toBlock ? block : toBlock),
    ),
  );
  const own = logs.filter(({ address }) => address === presetConsumer.toLowerCase());
  const begun = own.flatMap(joiningOf);
  const brought = new Set(randomness.map(({ requestId }) => requestId));
  const others = earlier
    .flat()
    .flatMap(joiningOf)
    .filter(({ parts }) => parts.some((part) => brought.has(part)));
  const joins = [...new Map([...begun, ...others].map((join) => [join.requestId, join])).values()];
  if (joins.length === 0) return [];
  const from = joins.reduce((least, { block }) => (block < least ? block : least), toBlock);
  const [fulfilled, joined] = await Promise.all([
    find(vrfCoordinator, [WORDS_TOPICS.fulfilled, joins.flatMap(({ parts }) => parts)], from, toBlock),
    find(presetConsumer, [EVENT_TOPICS.WordsJoined, joins.map(({ requestId }) => requestId)], from, toBlock),
  ]);
  const deliveries = new Map(fulfilled.map((log) => [log.topics[1], log.transactionHash]));
  const ends = new Map(joined.map((log) => [log.topics[1], log]));
  return joins.map(({ requestId, keyHashes, parts, requestedBy }) => ({
    requestId,
    requestedBy,
    parts: parts.map((part, index) => ({
      requestId: part,
      keyHash: keyHashes[index]!,
      answeredBy: deliveries.get(part) ?? null,
    })),
    ...endOf(ends.get(requestId)),
  }));
}

function joiningOf(log: RawLog) {
  const event = findEvent(log);
  if (event?.name !== "Joining") return [];
  const { requestId, keyHashes, parts } = event;
  return [{ requestId, keyHashes, parts, block: log.blockNumber, requestedBy: log.transactionHash }];
}

function endOf(log: RawLog | undefined): Pick<JoinView, "seed" | "joinedBy"> {
  const event = log && findEvent(log);
  return event?.name === "WordsJoined"
    ? { seed: toWord(event.seed), joinedBy: log!.transactionHash }
    : { seed: null, joinedBy: null };
}
