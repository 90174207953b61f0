import type { Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ArchivedBlock, ArchivedTransaction, ChainArchive } from "./chainArchive.ts";
import { createAddressBook, type AddressBook } from "../chainlink/addressBook.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { readTransaction, timeOf } from "./readTransaction.ts";
import { readWaiting } from "./readWaiting.ts";
import { searchChain, searchRequest } from "./search.ts";
import type { SearchTerms } from "./searchTerms.ts";
import type {
  AddressView,
  BlockSummary,
  BlockView,
  ChainOverview,
  SearchHit,
  TransactionSummary,
  TransactionView,
  WaitingRequestView,
} from "./views.ts";

export type { ExploredChain } from "./exploredChain.ts";

/** Blocks that the overview shows. */
const OVERVIEW_BLOCKS = 15;
/** Transactions that a list shows at most. */
const LISTED_TRANSACTIONS = 25;
/** Blocks that are looked through for an address's transactions: there is no index. */
const ADDRESS_BLOCKS = 100;

/** Shows what happened on the chains. Works from chain data alone; knows nothing of dapps and requests here. */
export interface Explorer {
  /** Whether this network's transactions are shown here; others have explorers of their own. */
  has(network: string): boolean;
  /** `undefined` when the hash isn't of this network, or its chain isn't there yet. */
  findTransaction(network: string, hash: Hex): Promise<TransactionView | undefined>;
  /** Whether the hash is of this network; `false` too when its chain can't be reached. */
  hasTransaction(network: string, hash: Hex): Promise<boolean>;
  findBlock(network: string, number: bigint): Promise<BlockView | undefined>;
  findAddress(network: string, address: Hex): Promise<AddressView | undefined>;
  /** What terms name on a network, all but requests; empty without a chain. */
  search(network: string, terms: SearchTerms): Promise<readonly SearchHit[]>;
  /** A request of VRF or of functions, among the newest 10,000 blocks; empty without a chain. Reads logs: dearer than {@link search}. */
  searchRequest(network: string, requestId: Hex): Promise<readonly SearchHit[]>;
  findOverview(network: string): Promise<ChainOverview | undefined>;
  /** What contracts other than the service's own have asked for on two subscriptions and not got, and why; empty without a chain. */
  findWaiting(
    network: string,
    subscriptions: { readonly vrf: bigint; readonly functions: bigint },
  ): Promise<readonly WaitingRequestView[]>;
}

/**
 * Makes the explorer. Its methods throw `chain_unavailable` when a chain can't be reached.
 *
 * @param networks by name; each gives its chain once it is there.
 */
export function createExplorer(networks: ReadonlyMap<string, () => ExploredChain | undefined>): Explorer {
  const books = new WeakMap<StackAddresses, AddressBook>();
  const open = (
    network: string,
  ): { readonly chain: ExploredChain; readonly book: AddressBook } | undefined => {
    const chain = networks.get(network)?.();
    if (chain === undefined) return undefined;
    let book = books.get(chain.contracts);
    if (book === undefined)
      books.set(chain.contracts, (book = createAddressBook(chain.contracts, chain.accounts)));
    return { chain, book };
  };

  return {
    has: (network) => networks.has(network),
    async findTransaction(network, hash) {
      const found = open(network);
      const transaction = await found?.chain.archive.findTransaction(hash.toLowerCase() as Hex);
      return transaction && (await readTransaction(transaction, found!.chain, found!.book));
    },
    async hasTransaction(network, hash) {
      const found = await open(network)
        ?.chain.archive.findTransaction(hash.toLowerCase() as Hex)
        .catch(() => undefined);
      return found !== undefined;
    },
    async findBlock(network, number) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { archive } = found.chain;
      const [block, head] = await Promise.all([archive.findBlock(number), archive.getHeadNumber()]);
      if (block === undefined) return undefined;
      return {
        ...summarizeBlock(block),
        network,
        parentHash: block.parentHash,
        gasLimit: block.gasLimit.toString(),
        headNumber: head.toString(),
        transactions: block.transactions.map((transaction) => summarize(transaction, block, found.book)),
      };
    },
    async findAddress(network, address) {
      const found = open(network);
      if (found === undefined) return undefined;
      const [{ balanceWei, nonce, codeBytes }, blocks] = await Promise.all([
        found.chain.archive.getAccount(address),
        readLatest(found.chain.archive, ADDRESS_BLOCKS),
      ]);
      const wanted = address.toLowerCase();
      const transactions = blocks.flatMap((block) =>
        block.transactions
          .filter(({ from, to, created }) => [from, to, created].includes(wanted as Hex))
          .map((transaction) => summarize(transaction, block, found.book)),
      );
      return {
        ...found.book.party(address),
        network,
        balanceWei: balanceWei.toString(),
        nonce,
        codeBytes,
        blocksSearched: blocks.length,
        transactions: transactions.slice(0, LISTED_TRANSACTIONS),
      };
    },
    async findWaiting(network, subscriptions) {
      const found = open(network);
      return found === undefined ? [] : await readWaiting(subscriptions, found.chain, found.book);
    },
    async search(network, terms) {
      const found = open(network);
      return found === undefined ? [] : await searchChain(terms, found.chain, found.book);
    },
    async searchRequest(network, requestId) {
      const found = open(network);
      return found === undefined ? [] : await searchRequest(requestId, found.chain);
    },
    async findOverview(network) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { chain, book } = found;
      const blocks = await readLatest(chain.archive, OVERVIEW_BLOCKS);
      return {
        network,
        title: chain.title,
        chainId: chain.chainId,
        headNumber: (blocks[0]?.number ?? 0n).toString(),
        contracts: book.contracts,
        blocks: blocks.map(summarizeBlock),
        transactions: blocks
          .flatMap((block) =>
            block.transactions.toReversed().map((transaction) => summarize(transaction, block, book)),
          )
          .slice(0, LISTED_TRANSACTIONS),
      };
    },
  };
}

/** The last blocks, newest first. */
async function readLatest(archive: ChainArchive, count: number): Promise<ArchivedBlock[]> {
  const head = await archive.getHeadNumber();
  const numbers = Array.from({ length: Math.min(count, Number(head) + 1) }, (_, i) => head - BigInt(i));
  const blocks = await Promise.all(numbers.map((number) => archive.findBlock(number)));
  return blocks.filter((block) => block !== undefined);
}

function summarizeBlock(block: ArchivedBlock): BlockSummary {
  const { number, hash, gasUsed, transactions } = block;
  return {
    number: number.toString(),
    hash,
    at: timeOf(block),
    transactionCount: transactions.length,
    gasUsed: gasUsed.toString(),
  };
}

function summarize(
  transaction: ArchivedTransaction,
  block: ArchivedBlock,
  book: AddressBook,
): TransactionSummary {
  const { hash, from, to, input, valueWei } = transaction;
  return {
    hash,
    blockNumber: block.number.toString(),
    at: timeOf(block),
    from: book.party(from),
    to: to && book.party(to),
    method: book.methodOf(to, input),
    valueWei: valueWei.toString(),
  };
}
