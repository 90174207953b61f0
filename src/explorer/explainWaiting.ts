import type { Hex } from "viem";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { EVENT_TOPICS, findEvent, type ChainEventOf } from "../chainlink/events.ts";
import { createPendingReasons } from "../chainlink/pendingReason.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** Maximum number of requests explained at once: as many as a page has. */
const MAX_EXPLAINED = 25;

type WordsRequest = ChainEventOf<"RandomWordsRequested">;
type FunctionRequest = ChainEventOf<"OracleRequest">;
type WaitingChain = Pick<ExploredChain, "archive" | "client" | "coin" | "contracts" | "findOracleReason">;
type Logged<Event> = { readonly event: Event; readonly log: RawLog };

/** Why a request is unanswered: what it waits for, or that the router took it off the chain. */
export type Unanswered = { readonly waitsFor: string } | { readonly isTimedOut: true };

/**
 * Explains, by request id, why requests are unanswered. For a transaction with many of them, only looks into the first
 * ones.
 */
export async function explainWaiting(
  logs: readonly RawLog[],
  answered: ReadonlyMap<Hex, unknown>,
  { archive, client, coin, contracts, findOracleReason }: WaitingChain,
): Promise<ReadonlyMap<Hex, Unanswered>> {
  const open = logs.flatMap((log): Logged<WordsRequest | FunctionRequest>[] => {
    const event = findEvent(log);
    const isRequest = event?.name === "RandomWordsRequested" || event?.name === "OracleRequest";
    return isRequest && !answered.has(event.requestId) ? [{ event, log }] : [];
  });
  const reasons = createPendingReasons(client, coin, findOracleReason);
  const told = open.slice(0, MAX_EXPLAINED).map(async ({ event, log }): Promise<[Hex, Unanswered]> => {
    const { blockNumber } = log;
    if (event.name === "RandomWordsRequested") {
      const place = { coordinator: contracts.vrfCoordinator, blockNumber };
      return [event.requestId, { waitsFor: await reasons.ofWords(event, place) }];
    }
    const topics = [[EVENT_TOPICS.RequestTimedOut, EVENT_TOPICS.RequestNotProcessed], event.requestId];
    const toBlock = await archive.getHeadNumber();
    const range = { fromBlock: blockNumber, toBlock };
    const ends = await archive.findLogs({ address: contracts.functionsRouter, topics, ...range });
    const last = ends.map(findEvent).at(-1);
    if (last?.name === "RequestTimedOut") return [event.requestId, { isTimedOut: true }];
    const refusal = last?.name === "RequestNotProcessed" ? last : undefined;
    return [event.requestId, { waitsFor: await reasons.ofFunction(event, refusal) }];
  });
  return new Map(await Promise.all(told));
}
