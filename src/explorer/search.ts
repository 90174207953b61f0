import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS } from "../chainlink/events.ts";
import type { RawLog } from "../evm/client.ts";
import type { LogQuery } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";
import type { SearchTerms } from "./searchTerms.ts";
import type { SearchHit } from "./views.ts";

/** Newest blocks in which a request is looked for by its id: chains have no index by it, and reading logs is work. */
const SEARCHED_BLOCKS = 10_000n;

/** Finds what terms name on a chain, all but requests: each look-up is by a key, and cheap. */
export async function searchChain(
  { hash, address, blockNumber, name }: SearchTerms,
  { network, archive }: ExploredChain,
  book: AddressBook,
): Promise<SearchHit[]> {
  const [transaction, hashed, numbered, account] = await Promise.all([
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
    // Every address is one on every chain: it is shown where there is something to see.
    if (party.name !== undefined || balanceWei > 0n || nonce > 0 || codeBytes > 0) parties.push(party);
  }
  return [
    ...(transaction === undefined ? [] : [{ network, kind: "transaction" as const, transactionHash: hash! }]),
    ...(block === undefined ? [] : [{ network, kind: "block" as const, number: String(block.number) }]),
    ...parties.map((party) => ({ network, kind: "address" as const, party })),
  ];
}

/** Finds a request of VRF or of functions by its id among the newest blocks. */
export async function searchRequest(requestId: Hex, chain: ExploredChain): Promise<SearchHit[]> {
  const { network, archive, contracts } = chain;
  const { RequestProcessed, RequestNotProcessed, RequestStart } = EVENT_TOPICS;
  const toBlock = await archive.getHeadNumber();
  const fromBlock = toBlock > SEARCHED_BLOCKS ? toBlock - SEARCHED_BLOCKS : 0n;
  const find = (address: Hex, topics: LogQuery["topics"]): Promise<readonly RawLog[]> =>
    archive.findLogs({ address, topics, fromBlock, toBlock });
  const findWords = async (): Promise<readonly RawLog[]> => {
    const answers = await find(contracts.vrfCoordinator, [WORDS_TOPICS.fulfilled, requestId]);
    if (answers.length > 0) return answers;
    // The id of a request for words is no topic of its event.
    const all = await find(contracts.vrfCoordinator, [WORDS_TOPICS.requested]);
    return all.filter((log) => {
      const event = findEvent(log);
      return event?.name === "RandomWordsRequested" && event.requestId === requestId;
    });
  };
  const [words, functions] = await Promise.all([
    findWords(),
    find(contracts.functionsRouter, [[RequestProcessed, RequestNotProcessed, RequestStart], requestId]),
  ]);
  const hit = (kind: "random" | "function", logs: readonly RawLog[]): SearchHit[] => {
    const log = logs.at(-1);
    if (log === undefined) return [];
    const isAnswered = !["RandomWordsRequested", "RequestStart"].includes(findEvent(log)?.name ?? "");
    return [{ network, kind, requestId, isAnswered, transactionHash: log.transactionHash }];
  };
  return [...hit("random", words), ...hit("function", functions)];
}
