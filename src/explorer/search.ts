import type { SearchHit } from "../api/types.ts";
import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { decodeBatch } from "../chainlink/calldata.ts";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS, type ChainEvent } from "../chainlink/events.ts";
import { presetRequestId } from "../chainlink/presetBatch.ts";
import { createMemo } from "../lib/memo.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { QUERIED_BLOCKS, type ChainArchive, type LogQuery } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { isBelow, readBlocks, topOf, type ListCursor } from "./lists.ts";
import { isAsShortened, MIN_NAME_CHARACTERS, type SearchTerms } from "./searchTerms.ts";

/**
 * Number of newest blocks searched for a preset, and for an unanswered request for words: their ids are not topics, so all requests must
 * be read.
 */
const UNINDEXED_BLOCKS = 10_000n;
/** Number of newest blocks of an external network searched for a request id; an embedded chain is searched completely. */
const EXTERNAL_BLOCKS = 100_000n;

/** Newest blocks of an embedded chain in which hashes are looked for by their beginning. */
export const PREFIX_BLOCKS = 500;

/** Queries in one search for a label, and hits after which it ends: the next search goes on. Of labels that contain it, no more are listed. */
const LABEL_QUERIES = 10;
const LABEL_HITS = 50;

/** How far back requests can be found by id, in words. */
export const REQUEST_REACH =
  "Requests are looked for in all blocks of embedded networks and in the newest 100,000 of others; presets, and random words that nobody has answered, in the newest 10,000.";

/** Finds everything on a chain that matches the terms, except requests: each lookup is by key, and cheap. */
export async function searchChain(
  terms: SearchTerms,
  chain: ExploredChain,
  book: AddressBook,
): Promise<SearchHit[]> {
  const { network, archive } = chain;
  const { hash, prefix, address, blockNumber, name } = terms;
  const [begun, transaction, hashed, numbered, account] = await Promise.all([
    prefix === undefined ? [] : searchPrefix(terms, chain, book),
    hash && archive.findTransaction(hash),
    hash && archive.findBlockByHash(hash),
    blockNumber === undefined ? undefined : archive.findBlock(blockNumber),
    address && archive.getAccount(address),
  ]);
  const block = hashed ?? numbered;
  const parties = name === undefined ? [] : book.findByName(name);
  if (account !== undefined) {
    const party = book.party(address!);
    const { balanceWei, nonce, codeBytes } = account;
    // Every address exists on every chain; it is listed only if there is something to see.
    if (party.name !== undefined || balanceWei > 0n || nonce > 0 || codeBytes > 0) parties.push(party);
  }
  return [
    ...begun,
    ...(transaction === undefined ? [] : [{ network, kind: "transaction" as const, transactionHash: hash! }]),
    ...(block === undefined ? [] : [{ network, kind: "block" as const, number: String(block.number) }]),
    ...parties.map((party) => ({ network, kind: "address" as const, party })),
  ];
}

/**
 * Finds what begins so: known addresses and, on an embedded chain, blocks and transactions by their hash, and addresses in those transactions.
 * Elsewhere, each block is a call that someone pays for.
 */
async function searchPrefix(
  terms: SearchTerms,
  { network, archive, isEmbedded }: ExploredChain,
  book: AddressBook,
): Promise<SearchHit[]> {
  const begins = (text: string): boolean => isAsShortened(text, terms);
  const { blocks } = isEmbedded ? await readBlocks(archive, { count: PREFIX_BLOCKS }) : { blocks: [] };
  const transactions = blocks.flatMap((block) => block.transactions);
  const addresses = transactions.flatMap(({ from, to, created }) => [from, to ?? [], created ?? []].flat());
  const known = book.findByName("").map(({ address }) => address.toLowerCase() as Hex);
  return [
    ...[...new Set([...known, ...addresses])]
      .filter(begins)
      .map((address): SearchHit => ({ network, kind: "address", party: book.party(address) })),
    ...transactions
      .filter(({ hash }) => begins(hash))
      .map(({ hash }): SearchHit => ({ network, kind: "transaction", transactionHash: hash })),
    ...blocks
      .filter(({ hash }) => begins(hash))
      .map(({ number }): SearchHit => ({ network, kind: "block", number: String(number) })),
  ];
}

/** Finds a request of VRF or Functions, or of a preset, by its id, searching the newest blocks first. */
export async function searchRequest(requestId: Hex, chain: ExploredChain): Promise<SearchHit[]> {
  const { network, archive, contracts } = chain;
  const { RequestProcessed, RequestNotProcessed, RequestStart } = EVENT_TOPICS;
  const head = await archive.getHeadNumber();
  const below = (blocks: bigint): bigint => (head >= blocks ? head - blocks + 1n : 0n);
  const find = async (address: Hex, topics: LogQuery["topics"]): Promise<readonly RawLog[]> => {
    if (chain.isEmbedded) return await archive.findLogs({ address, topics, fromBlock: 0n, toBlock: head });
    const last = below(EXTERNAL_BLOCKS);
    for (let toBlock = head; ; toBlock -= QUERIED_BLOCKS) {
      const fromBlock = toBlock - last < QUERIED_BLOCKS ? last : toBlock - QUERIED_BLOCKS + 1n;
      const logs = await archive.findLogs({ address, topics, fromBlock, toBlock });
      if (logs.length > 0 || fromBlock === last) return logs;
    }
  };
  const findWords = async (): Promise<readonly RawLog[]> => {
    const answers = await find(contracts.vrfCoordinator, [WORDS_TOPICS.fulfilled, requestId]);
    if (answers.length > 0) return answers;
    const all = await archive.findLogs({
      address: contracts.vrfCoordinator,
      topics: [WORDS_TOPICS.requested],
      fromBlock: below(UNINDEXED_BLOCKS),
      toBlock: head,
    });
    return all.filter((log) => {
      const event = findEvent(log);
      return event?.name === "RandomWordsRequested" && event.requestId === requestId;
    });
  };
  /** The id of a preset is no topic, but follows from its VRF request and its place in the batch. */
  const findPreset = async (): Promise<readonly RawLog[]> => {
    const all = await archive.findLogs({
      address: contracts.presetConsumer,
      topics: [EVENT_TOPICS.BatchRequested],
      fromBlock: below(UNINDEXED_BLOCKS),
      toBlock: head,
    });
    const asked = all.findLast((log) => {
      const event = findEvent(log);
      if (event?.name !== "BatchRequested") return false;
      const { vrfRequestId, batch } = event;
      return decodeBatch(batch).items.some((_, item) => presetRequestId(vrfRequestId, item) === requestId);
    });
    if (asked === undefined) return [];
    const topics = [EVENT_TOPICS.BatchReported, asked.topics[1]!];
    return [asked, ...(await find(contracts.presetConsumer, topics))];
  };
  const [words, functions, presets] = await Promise.all([
    findWords(),
    find(contracts.functionsRouter, [[RequestProcessed, RequestNotProcessed, RequestStart], requestId]),
    findPreset(),
  ]);
  const hit = (kind: "random" | "function" | "preset", logs: readonly RawLog[]): SearchHit[] => {
    const log = logs.at(-1);
    if (log === undefined) return [];
    const isAnswered = !["RandomWordsRequested", "RequestStart", "BatchRequested"].includes(
      findEvent(log)?.name ?? "",
    );
    return [{ network, kind, requestId, isAnswered, transactionHash: log.transactionHash }];
  };
  return [...hit("random", words), ...hit("function", functions), ...hit("preset", presets)];
}

/** What to search labels for: a label, or the dapp that gave them. */
export type LabelQuery = { readonly label: string } | { readonly dapp: string };

/** What a search for a label found. */
export interface FoundLabels {
  readonly hits: readonly SearchHit[];
  /** Where the next search begins, as `ListCursor` is written; `null` if all was searched. */
  readonly older: string | null;
}

/**
 * Finds the requests with a label, of whatever dapp, newest first, in up to 100,000 blocks from a cursor on, whose `index` is a log's; if there
 * are none, those whose label contains it. Or those with any label of a dapp. A label is only part of a topic, so all must be read.
 *
 * @param wanted a label in its canonical form, or a dapp's id
 * @param before default: the newest block and all below it
 */
export async function searchLabel(
  wanted: LabelQuery,
  { network, archive, contracts }: ExploredChain,
  before?: ListCursor,
): Promise<FoundLabels> {
  const head = await archive.getHeadNumber();
  const hits = new Map<string, FoundLabel>();
  const partly = new Map<string, FoundLabel>();
  let older = topOf(before, head) + 1n;
  for (let left = LABEL_QUERIES; left > 0 && older > 0n && hits.size <= LABEL_HITS; left -= 1) {
    const fromBlock = older > QUERIED_BLOCKS ? older - QUERIED_BLOCKS : 0n;
    const range = { fromBlock, toBlock: older - 1n };
    const topics = [EVENT_TOPICS.Labelled];
    const logs = await archive.findLogs({ address: contracts.presetConsumer, topics, ...range });
    for (const log of logs.toReversed()) {
      if (!isBelow(before, log.blockNumber, log.logIndex)) continue;
      // One more than are shown tells where to go on.
      if (hits.size > LABEL_HITS) break;
      const event = findEvent(log);
      if (event?.name !== "Labelled") continue;
      const isWhole = "dapp" in wanted ? event.dapp === wanted.dapp : event.label === wanted.label;
      if (!isWhole && ("dapp" in wanted || !isPart(wanted.label, event.label))) continue;
      const { blockNumber, logIndex, transactionHash } = log;
      const { label, dapp, index, item } = event;
      const hit = { network, kind: "label", label, dapp, transactionHash } as const;
      const place = `${blockNumber}.${logIndex}`;
      const found = { hit, place, index: Number(index), item: Number(item) };
      const key = `${transactionHash} ${index} ${item}`;
      if (isWhole) hits.set(key, found);
      else if (partly.size <= LABEL_HITS) partly.set(key, found);
    }
    older = fromBlock;
  }
  const all = [...(hits.size > 0 ? hits : partly).values()];
  const found = all.slice(0, LABEL_HITS);
  const last = all.length > found.length ? found.at(-1) : undefined;
  const memo = createMemo<Hex>();
  const eventsOf = (hash: Hex) => memo(hash, () => readEvents(hash, archive, contracts));
  const identified = found.map(async (one) => ({
    ...one.hit,
    ...identify(one, await eventsOf(one.hit.transactionHash)),
  }));
  return {
    hits: await Promise.all(identified),
    older: last?.place ?? (older === 0n ? null : String(older)),
  };
}

/** One letter is part of nearly every label. */
function isPart(text: string, label: string): boolean {
  return text.length >= MIN_NAME_CHARACTERS && label.includes(text);
}

/** A label in a transaction, with the place of its request: of an entry in the submission, and in that entry's batch. */
interface FoundLabel {
  readonly hit: Extract<SearchHit, { kind: "label" }>;
  /** Of its log, as `ListCursor` is written. */
  readonly place: string;
  readonly index: number;
  readonly item: number;
}

/** Reads the events of presets in a transaction. */
async function readEvents(
  hash: Hex,
  archive: ChainArchive,
  { presetConsumer }: ExploredChain["contracts"],
): Promise<readonly ChainEvent[]> {
  const { logs = [] } = (await archive.findReceipt(hash)) ?? {};
  return logs.flatMap((log) => (log.address === presetConsumer.toLowerCase() ? (findEvent(log) ?? []) : []));
}

/** Finds the id of a request among its transaction's events, by its place. */
function identify({ index, item }: FoundLabel, events: readonly ChainEvent[]): { readonly requestId?: Hex } {
  const accepted = events.find((event) => event.name === "Accepted" && event.index === index);
  if (accepted?.name !== "Accepted") return {};
  const { requestId } = accepted;
  const isBatch = events.some((event) => event.name === "BatchRequested" && event.vrfRequestId === requestId);
  return { requestId: isBatch ? presetRequestId(requestId, item) : requestId };
}
