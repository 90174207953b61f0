import { numberToHex, type Hex } from "viem";
import type { RawLog } from "../evm/client.ts";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent, type ChainEventOf } from "../chainlink/events.ts";
import { createPendingReasons } from "../chainlink/pendingReason.ts";
import type { AddressBook } from "../chainlink/addressBook.ts";
import type { ExploredChain } from "./exploredChain.ts";
import type { WaitingRequestView } from "./views.ts";

/** Blocks that unanswered requests are looked for in. */
const SEARCHED_BLOCKS = 5_000n;
/** Requests that are shown, and asked about, at once. */
const MAX_EXPLAINED = 20;

type WordsRequest = ChainEventOf<"RandomWordsRequested">;
type FunctionRequest = ChainEventOf<"OracleRequest">;
type Logged<Event> = { readonly event: Event; readonly log: RawLog };

/** By request id: why a request is not answered. Of a transaction with many of them only the first are looked into. */
export async function explainWaiting(
  logs: readonly RawLog[],
  answered: ReadonlyMap<Hex, Hex>,
  { archive, client, contracts }: Pick<ExploredChain, "archive" | "client" | "contracts">,
): Promise<ReadonlyMap<Hex, string>> {
  const open = logs.flatMap((log): Logged<WordsRequest | FunctionRequest>[] => {
    const event = findEvent(log);
    const isRequest = event?.name === "RandomWordsRequested" || event?.name === "OracleRequest";
    return isRequest && !answered.has(event.requestId) ? [{ event, log }] : [];
  });
  const reasons = createPendingReasons(client);
  const told = open.slice(0, MAX_EXPLAINED).map(async ({ event, log }) => {
    const { blockNumber } = log;
    if (event.name === "RandomWordsRequested") {
      const place = { coordinator: contracts.vrfCoordinator, blockNumber };
      return [event.requestId, await reasons.ofWords(event, place)] as const;
    }
    const topics = [[EVENT_TOPICS.RequestTimedOut, EVENT_TOPICS.RequestNotProcessed], event.requestId];
    const toBlock = await archive.getHeadNumber();
    const range = { fromBlock: blockNumber, toBlock };
    const ends = await archive.findLogs({ address: contracts.functionsRouter, topics, ...range });
    const last = ends.map(findEvent).at(-1);
    if (last?.name === "RequestTimedOut")
      return [event.requestId, "it has timed out, and was taken off without a result"] as const;
    const refusal = last?.name === "RequestNotProcessed" ? last : undefined;
    return [event.requestId, await reasons.ofFunction(event, refusal)] as const;
  });
  return new Map(await Promise.all(told));
}

/** Finds what contracts other than the service's own have asked for on two subscriptions and not got, newest first. */
export async function readWaiting(
  subscriptions: { readonly vrf: bigint; readonly functions: bigint },
  chain: ExploredChain,
  book: AddressBook,
): Promise<WaitingRequestView[]> {
  const { archive, contracts } = chain;
  const head = await archive.getHeadNumber();
  const range = { fromBlock: head > SEARCHED_BLOCKS ? head - SEARCHED_BLOCKS : 0n, toBlock: head };
  const own = contracts.presetConsumer.toLowerCase();
  const find = (address: Hex, topics: readonly (Hex | readonly Hex[] | null)[]) =>
    archive.findLogs({ address, topics, ...range });
  const word = (id: bigint): Hex => numberToHex(id, { size: 32 });
  const [asked, started] = await Promise.all([
    find(contracts.vrfCoordinator, [WORDS_TOPICS.requested, null, word(subscriptions.vrf)]),
    find(contracts.functionsRouter, [EVENT_TOPICS.RequestStart, null, null, word(subscriptions.functions)]),
  ]);
  const words = asked.filter((log) => senderOf(log) !== own);
  const functions = started.filter((log) => senderOf(log) !== own);
  const idsOf = (logs: readonly RawLog[]): Hex[] =>
    logs
      .map(findEvent)
      .flatMap((event) => (event !== undefined && "requestId" in event ? [event.requestId] : []));
  const ended = {
    words: WORDS_TOPICS.fulfilled,
    functions: [EVENT_TOPICS.RequestProcessed, EVENT_TOPICS.RequestTimedOut],
  };
  const [cues, ...ends] = await Promise.all([
    functions.length === 0
      ? []
      : find(contracts.functionsCoordinator, [EVENT_TOPICS.OracleRequest, idsOf(functions)]),
    words.length === 0 ? [] : find(contracts.vrfCoordinator, [ended.words, idsOf(words)]),
    functions.length === 0 ? [] : find(contracts.functionsRouter, [ended.functions, idsOf(functions)]),
  ]);
  const answered = new Map(ends.flat().map((log) => [log.topics[1]!, log.transactionHash]));
  const requests = [...words, ...cues].toSorted((a, b) => Number(b.blockNumber - a.blockNumber));
  const reasons = await explainWaiting(requests, answered, chain);
  return requests.flatMap((log): WaitingRequestView[] => {
    const event = findEvent(log);
    const isRequest = event?.name === "RandomWordsRequested" || event?.name === "OracleRequest";
    const waitsFor = isRequest ? reasons.get(event.requestId) : undefined;
    if (!isRequest || waitsFor === undefined) return [];
    const kind = event.name === "OracleRequest" ? "function" : "random";
    const consumer = book.party(event.name === "OracleRequest" ? event.requestingContract : event.sender);
    const { transactionHash } = log;
    return [{ kind, requestId: event.requestId, consumer, transactionHash, waitsFor }];
  });
}

/** Who made a request, lower case. */
function senderOf(log: RawLog): string | undefined {
  const event = findEvent(log);
  if (event?.name === "RandomWordsRequested") return event.sender;
  return event?.name === "RequestStart" ? event.requestingContract : undefined;
}
