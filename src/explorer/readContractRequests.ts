import type { ContractRequestList, ContractRequestView } from "../api/types.ts";
import { getAddress, hexToString, numberToHex, pad, type Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS, type ChainEventOf } from "../chainlink/events.ts";
import { deriveWords } from "../chainlink/fulfilmentWords.ts";
import { describeFailedCallback, isCallbackFailure } from "../chainlink/failedCallbacks.ts";
import { TIMED_OUT } from "../text/failure.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { nameFunction } from "../text/sharedResult.ts";
import { explainWaiting, type Unanswered } from "./explainWaiting.ts";
import type { ExploredChain } from "./exploredChain.ts";
import type { LogRange } from "../evm/logReader.ts";
import { QUERIED_BLOCKS, type LogQuery } from "./chainArchive.ts";
import type { ListCursor } from "./lists.ts";
import { readLogPage } from "./readLogPage.ts";
import { readAsked, readResponse } from "./readFunctions.ts";
import { timeOf, explainCallbacks } from "./readTransaction.ts";

/** Number of a request's words that a list shows. */
const SHOWN_WORDS = 10;

/** The subscriptions of a dapp on one network. */
export interface SubscriptionIds {
  readonly vrf: bigint;
  readonly functions: bigint;
}

/** Whose requests to read: those on two subscriptions, of one contract, or of all. */
export type RequestOrigin = SubscriptionIds | { readonly consumer: Hex } | "all";

type Asked = {
  readonly log: RawLog;
  readonly event: ChainEventOf<"RandomWordsRequested"> | ChainEventOf<"RequestStart" | "OracleRequest">;
};

/**
 * Reads a page of what contracts other than the service's own requested, newest first from a cursor on, with the outcome of each. Searches a
 * bounded number of blocks.
 */
export async function readContractRequests(
  origin: RequestOrigin,
  chain: ExploredChain,
  book: AddressBook,
  before?: ListCursor,
): Promise<ContractRequestList> {
  const { network } = chain;
  const own = chain.contracts.presetConsumer.toLowerCase() as Hex;
  const only =
    typeof origin === "object" && "consumer" in origin ? { consumer: getAddress(origin.consumer) } : {};
  if (only.consumer?.toLowerCase() === own) {
    const searched = { from: "0", to: String(await chain.archive.getHeadNumber()) };
    return { network, ...only, items: [], searched, older: null };
  }
  const ownTopic = pad(own);
  const { head, logs, searched, older } = await readLogPage(chain, before, {
    find: (range) => findRequestLogs(origin, chain, range),
    // The coordinator's have the contract as a topic, which is read faster than the event.
    isWanted: (log) =>
      log.topics[3] !== ownTopic && askedOf(log).some(({ event }) => consumerOf(event) !== own),
    isDense: origin === "all",
  });
  const items = await viewAll(logs.flatMap(askedOf), chain, { head, book });
  return { network, ...only, items, searched, older };
}

/** Returns the logs of requests in a range of blocks. The router's has the subscription as a topic, the coordinator's the contract. */
async function findRequestLogs(
  origin: RequestOrigin,
  { archive, contracts }: ExploredChain,
  range: LogRange,
): Promise<readonly RawLog[]> {
  const { vrfCoordinator, functionsRouter, functionsCoordinator } = contracts;
  const word = (id: bigint): Hex => numberToHex(id, { size: 32 });
  const find = (address: Hex, ...topics: LogQuery["topics"]) =>
    archive.findLogs({ address, topics, ...range });
  const { requested } = WORDS_TOPICS;
  const { RequestStart, OracleRequest } = EVENT_TOPICS;
  if (origin === "all")
    return (await Promise.all([find(vrfCoordinator, requested), find(functionsRouter, RequestStart)])).flat();
  const found =
    "consumer" in origin
      ? [
          find(vrfCoordinator, requested, null, null, pad(origin.consumer)),
          find(functionsCoordinator, OracleRequest, null, pad(origin.consumer)),
        ]
      : [
          find(vrfCoordinator, requested, null, word(origin.vrf)),
          find(functionsRouter, RequestStart, null, null, word(origin.functions)),
        ];
  return (await Promise.all(found)).flat();
}

function askedOf(log: RawLog): Asked[] {
  const event = findEvent(log);
  switch (event?.name) {
    case "RandomWordsRequested":
    case "RequestStart":
    case "OracleRequest":
      return [{ log, event }];
    default:
      return [];
  }
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
      kind: isWords(event) ? "random" : "function",
      ...titleOf(event),
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
  const idsOf = (isOfWords: boolean): Hex[] =>
    asked.flatMap(({ event }) => (isWords(event) === isOfWords ? [event.requestId] : []));
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
    find(contracts.vrfCoordinator, WORDS_TOPICS.fulfilled, idsOf(true)),
    find(contracts.functionsRouter, [RequestProcessed, RequestTimedOut], idsOf(false)),
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
      if (event.name !== "RequestStart") return [log];
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

/** Names a function by its program, if it has one. */
function titleOf(event: Asked["event"]): Pick<ContractRequestView, "title"> {
  const { program } = isWords(event) ? { program: null } : readAsked(event.data, undefined);
  const title = program === null ? undefined : nameFunction(program);
  return title === undefined ? {} : { title };
}

/** Returns the contract that made the request, lower case. */
function consumerOf(event: Asked["event"]): Hex {
  return isWords(event) ? event.sender : event.requestingContract;
}

function isWords(event: Asked["event"]): event is ChainEventOf<"RandomWordsRequested"> {
  return event.name === "RandomWordsRequested";
}
