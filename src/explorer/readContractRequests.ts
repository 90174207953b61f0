import type { ContractRequestList, ContractRequestView } from "../api/types.ts";
import { hexToString, numberToHex, type Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS, type ChainEventOf } from "../chainlink/events.ts";
import { deriveWords } from "../chainlink/fulfilmentWords.ts";
import { describeFailedCallback, isCallbackFailure } from "../chainlink/failedCallbacks.ts";
import { TIMED_OUT } from "../lib/failureText.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { explainWaiting, type Unanswered } from "./explainWaiting.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { PAGE_ENTRIES, type ListCursor } from "./lists.ts";
import { readResponse } from "./readFunctions.ts";
import { timeOf, explainCallbacks } from "./readTransaction.ts";

/** Blocks searched for one page; more on an embedded chain, whose node is the service's own. */
const SEARCHED_BLOCKS = { embedded: 200_000n, external: 20_000n };
/** Blocks per query: providers refuse wider ranges. */
const QUERIED_BLOCKS = 10_000n;
/** Number of a request's words that a list shows. */
const SHOWN_WORDS = 10;

/** The subscriptions of a dapp on one network. */
export interface SubscriptionIds {
  readonly vrf: bigint;
  readonly functions: bigint;
}

type Asked = {
  readonly log: RawLog;
  readonly event: ChainEventOf<"RandomWordsRequested"> | ChainEventOf<"RequestStart">;
};

/**
 * Reads a page of what contracts other than the service's own requested on two subscriptions, newest first from a cursor on, with the
 * outcome of each. Searches a bounded number of blocks.
 */
export async function readContractRequests(
  subscriptions: SubscriptionIds,
  chain: ExploredChain,
  book: AddressBook,
  before?: ListCursor,
): Promise<ContractRequestList> {
  const { archive } = chain;
  const head = await archive.getHeadNumber();
  const isBelow = ({ log }: Asked): boolean =>
    before?.index === undefined || log.blockNumber !== before.block || log.logIndex < before.index;
  let top = head;
  if (before !== undefined && before.block <= head)
    top = before.index === undefined ? before.block - 1n : before.block;
  const last = top - SEARCHED_BLOCKS[chain.isEmbedded ? "embedded" : "external"];
  const found: Asked[] = [];
  let bottom = top + 1n;
  while (bottom > 0n && bottom - 1n > last && found.length <= PAGE_ENTRIES) {
    const toBlock = bottom - 1n;
    bottom = toBlock >= QUERIED_BLOCKS ? toBlock - QUERIED_BLOCKS + 1n : 0n;
    const asked = await findAsked(subscriptions, chain, { fromBlock: bottom, toBlock });
    found.push(...asked.filter(isBelow));
  }
  const shown = found.slice(0, PAGE_ENTRIES);
  const oldest = found.length > shown.length ? shown.at(-1)!.log : undefined;
  return {
    network: chain.network,
    items: await viewAll(shown, chain, { head, book }),
    searched: {
      from: String(oldest?.blockNumber ?? bottom),
      to: String(top < 0n ? 0n : top),
    },
    older: oldest ? `${oldest.blockNumber}.${oldest.logIndex}` : bottom > 0n ? `${bottom}` : null,
  };
}

/** Returns the requests in a range of blocks, newest first. */
async function findAsked(
  subscriptions: SubscriptionIds,
  { archive, contracts }: ExploredChain,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<Asked[]> {
  const { vrfCoordinator, functionsRouter, presetConsumer } = contracts;
  const word = (id: bigint): Hex => numberToHex(id, { size: 32 });
  const [words, functions] = await Promise.all([
    archive.findLogs({
      address: vrfCoordinator,
      topics: [WORDS_TOPICS.requested, null, word(subscriptions.vrf)],
      ...range,
    }),
    archive.findLogs({
      address: functionsRouter,
      topics: [EVENT_TOPICS.RequestStart, null, null, word(subscriptions.functions)],
      ...range,
    }),
  ]);
  const own = presetConsumer.toLowerCase();
  return [...words, ...functions]
    .flatMap((log): Asked[] => {
      const event = findEvent(log);
      const isRequest = event?.name === "RandomWordsRequested" || event?.name === "RequestStart";
      return isRequest && consumerOf(event) !== own ? [{ log, event }] : [];
    })
    .toSorted((a, b) => Number(b.log.blockNumber - a.log.blockNumber) || b.log.logIndex - a.log.logIndex);
}

/** Adds the outcome of each request. */
async function viewAll(
  asked: readonly Asked[],
  chain: ExploredChain,
  { head, book }: { readonly head: bigint; readonly book: AddressBook },
): Promise<ContractRequestView[]> {
  if (asked.length === 0) return [];
  const ends = await findEnds(asked, chain, head);
  const open = asked.filter(({ event }) => !ends.has(event.requestId));
  const [reasons, callbacks, times] = await Promise.all([
    explainOpen(open, chain),
    explainCallbacks([...ends.values()], chain),
    readTimes(asked, chain),
  ]);
  return asked.map(({ log, event }) => {
    const { requestId } = event;
    const end = ends.get(requestId);
    const unanswered = reasons.get(requestId);
    const at = times.get(log.blockNumber);
    return {
      kind: event.name === "RequestStart" ? "function" : "random",
      requestId,
      consumer: book.party(consumerOf(event)),
      ...(at === undefined ? {} : { at }),
      blockNumber: log.blockNumber.toString(),
      transactionHash: log.transactionHash,
      ...(end === undefined
        ? { state: "waiting", ...(unanswered && "waitsFor" in unanswered ? unanswered : {}) }
        : { answeredBy: end.transactionHash, ...viewEnd(event, end, callbacks.get(requestId)) }),
    };
  });
}

/**
 * Returns, by request id, the log that ended the request; on an external network, searches up to one query's range beyond the newest
 * request.
 */
async function findEnds(
  asked: readonly Asked[],
  { archive, contracts, isEmbedded }: ExploredChain,
  head: bigint,
): Promise<ReadonlyMap<Hex, RawLog>> {
  const blocks = asked.map(({ log }) => log.blockNumber);
  const [first, newest] = [blocks.at(-1)!, blocks[0]!];
  const end = isEmbedded || newest + QUERIED_BLOCKS > head ? head : newest + QUERIED_BLOCKS;
  const idsOf = (name: Asked["event"]["name"]): Hex[] =>
    asked.flatMap(({ event }) => (event.name === name ? [event.requestId] : []));
  const find = async (address: Hex, topics: readonly Hex[], ids: readonly Hex[]): Promise<RawLog[]> => {
    const logs: RawLog[] = [];
    for (let fromBlock = first; ids.length > 0 && fromBlock <= end;) {
      const toBlock = isEmbedded || end - fromBlock < QUERIED_BLOCKS ? end : fromBlock + QUERIED_BLOCKS - 1n;
      logs.push(...(await archive.findLogs({ address, topics: [topics, ids], fromBlock, toBlock })));
      fromBlock = toBlock + 1n;
    }
    return logs;
  };
  const { RequestProcessed, RequestTimedOut } = EVENT_TOPICS;
  const logs = await Promise.all([
    find(contracts.vrfCoordinator, WORDS_TOPICS.fulfilled, idsOf("RandomWordsRequested")),
    find(contracts.functionsRouter, [RequestProcessed, RequestTimedOut], idsOf("RequestStart")),
  ]);
  return new Map(logs.flat().map((log) => [log.topics[1]!, log]));
}

/** Explains, by id, why requests are unanswered; for a function, the event that cues the nodes tells when its time ends. */
async function explainOpen(
  open: readonly Asked[],
  chain: ExploredChain,
): Promise<ReadonlyMap<Hex, Unanswered>> {
  const cues = await Promise.all(
    open.map(async ({ log, event }) => {
      if (event.name === "RandomWordsRequested") return [log];
      return await chain.archive.findLogs({
        address: chain.contracts.functionsCoordinator,
        topics: [EVENT_TOPICS.OracleRequest, event.requestId],
        fromBlock: log.blockNumber,
        toBlock: log.blockNumber,
      });
    }),
  );
  return await explainWaiting(cues.flat(), new Map(), chain);
}

/** Returns the times of the requests' blocks, by number. */
async function readTimes(
  asked: readonly Asked[],
  { archive }: ExploredChain,
): Promise<ReadonlyMap<bigint, string>> {
  const numbers = [...new Set(asked.map(({ log }) => log.blockNumber))];
  const blocks = await Promise.all(numbers.map(async (number) => await archive.findBlock(number)));
  return new Map(blocks.flatMap((block) => (block === undefined ? [] : [[block.number, timeOf(block)]])));
}

type End = Pick<ContractRequestView, "state" | "words" | "numWords" | "response" | "readings" | "error">;

function viewEnd(asked: Asked["event"], log: RawLog, callbackReason: string | undefined): End {
  const event = findEvent(log);
  if (event?.name === "RandomWordsFulfilled" && asked.name === "RandomWordsRequested") {
    const words = deriveWords(event.outputSeed, asked.numWords);
    return {
      ...(event.success
        ? { state: "fulfilled" }
        : { state: "failed", error: describeFailedCallback(callbackReason) }),
      numWords: words.length,
      words: words.slice(0, SHOWN_WORDS).map(String),
    };
  }
  if (event?.name !== "RequestProcessed") return { state: "failed", error: TIMED_OUT };
  const { response, err } = event;
  const result = err === "0x" ? { response, readings: readResponse(response) } : {};
  if (isCallbackFailure(event))
    return { state: "failed", error: describeFailedCallback(callbackReason), ...result };
  return err === "0x" ? { state: "fulfilled", ...result } : { state: "failed", error: hexToString(err) };
}

/** Returns the contract that made the request, lower case. */
function consumerOf(event: Asked["event"]): Hex {
  return event.name === "RequestStart" ? event.requestingContract : event.sender;
}
