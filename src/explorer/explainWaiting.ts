import type { Hex } from "viem";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { EVENT_TOPICS, findEvent, type ChainEventOf } from "../chainlink/events.ts";
import { createPendingReasons } from "../chainlink/pendingReason.ts";
import { QUERIED_BLOCKS } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";

/** Maximum number of requests explained at once: as many as a page has. */
const MAX_EXPLAINED = 25;

type WordsRequest = ChainEventOf<"RandomWordsRequested">;
type FunctionRequest = ChainEventOf<"OracleRequest">;
type WaitingChain = Pick<
  ExploredChain,
  "archive" | "client" | "coin" | "contracts" | "findOracleReason" | "isEmbedded"
>;
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
  chain: WaitingChain,
): Promise<ReadonlyMap<Hex, Unanswered>> {
  const { client, coin, contracts, findOracleReason } = chain;
  const unanswered = logs.flatMap((log): Logged<WordsRequest | FunctionRequest>[] => {
    const event = findEvent(log);
    const isRequest = event?.name === "RandomWordsRequested" || event?.name === "OracleRequest";
    return isRequest && !answered.has(event.requestId) ? [{ event, log }] : [];
  });
  const open = unanswered.slice(0, MAX_EXPLAINED);
  const reasons = createPendingReasons(client, coin, findOracleReason);
  const refusals = await findRefusals(
    open.flatMap(({ event, log }) => (event.name === "OracleRequest" ? log : [])),
    chain,
  ).catch(() => undefined);
  const told = open.map(async ({ event, log }): Promise<[Hex, Unanswered][]> => {
    const { blockNumber } = log;
    if (event.name === "RandomWordsRequested") {
      const place = { coordinator: contracts.vrfCoordinator, blockNumber };
      return [[event.requestId, { waitsFor: await reasons.ofWords(event, place) }]];
    }
    // Where the router can't be asked, nobody knows what a request waits for, or whether it still waits.
    if (refusals === undefined) return [];
    const last = refusals.get(event.requestId);
    if (last?.name === "RequestTimedOut") return [[event.requestId, { isTimedOut: true }]];
    const refusal = last?.name === "RequestNotProcessed" ? last : undefined;
    return [[event.requestId, { waitsFor: await reasons.ofFunction(event, refusal) }]];
  });
  return new Map((await Promise.all(told)).flat());
}

/**
 * Returns, by request id, the last time that the router refused an answer or took the request off the chain; on an external network, searches
 * up to one query's range beyond the newest request.
 */
async function findRefusals(
  requests: readonly RawLog[],
  { archive, contracts, isEmbedded }: WaitingChain,
): Promise<ReadonlyMap<Hex, ReturnType<typeof findEvent>>> {
  if (requests.length === 0) return new Map();
  const numbers = requests.map(({ blockNumber }) => blockNumber).toSorted((a, b) => Number(a - b));
  const [head, newest] = [await archive.getHeadNumber(), numbers.at(-1)!];
  const { RequestTimedOut, RequestNotProcessed } = EVENT_TOPICS;
  const logs = await archive.findLogs({
    address: contracts.functionsRouter,
    topics: [[RequestTimedOut, RequestNotProcessed], requests.map(({ topics }) => topics[1]!)],
    fromBlock: numbers[0]!,
    toBlock: isEmbedded || newest + QUERIED_BLOCKS > head ? head : newest + QUERIED_BLOCKS,
  });
  return new Map(logs.map((log) => [log.topics[1]!, findEvent(log)]));
}
