import type {
  AddressView,
  BlockListView,
  BlockView,
  ChainOverview,
  ContractRequestList,
  ContractView,
  Party,
  PresetRunView,
  ProgramView,
  SearchHit,
  ShownResult,
  TransactionList,
  TransactionView,
  TransferList,
} from "../api/types.ts";
import { ADDRESS, WORD } from "../api/common.ts";
import { getAddress, getContractAddress, type Hex } from "viem";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import { TycheError } from "../lib/errors.ts";
import { MAX_CREATED } from "../domain/explorerLimits.ts";
import { fromHexText } from "../lib/hex.ts";
import { createAddressBook, type AddressBook } from "../chainlink/addressBook.ts";
import type { ExploredChain, HeadSighting } from "./exploredChain.ts";
import {
  PAGE_ENTRIES,
  readAddressTransactions,
  readBlocks,
  readTransactions,
  summarizeBlock,
  summarizeTransactions,
  type ListCursor,
  type Listed,
} from "./lists.ts";
import { decodeConstructorArguments } from "../chainlink/constructorArguments.ts";
import { readOf } from "../chainlink/contractRead.ts";
import { linkTokenAbi } from "../chainlink/contracts/abi.ts";
import { getContractBuild, isBuiltFrom, isCodeOf } from "../chainlink/contracts/builtFrom.ts";
import { titlesOf } from "../text/parameterTitles.ts";
import { findDelegate, type ArchivedTransaction, type ChainArchive } from "./chainArchive.ts";
import { readContractRequests, type SubscriptionIds } from "./readContractRequests.ts";
import { readRequestIds } from "./readRequestIds.ts";
import { readStoredSource, type StoredSource } from "./readStoredSource.ts";
import { readTransaction } from "./readTransaction.ts";
import { readTransfers } from "./readTransfers.ts";
import { searchChain, searchLabel, searchRequest, type FoundLabels, type LabelQuery } from "./search.ts";
import type { SearchTerms } from "./searchTerms.ts";

/** Number of blocks in the overview. */
const OVERVIEW_BLOCKS = 15;

/**
 * Time since the newest block was named after which a node counts as silent, in ms. It is asked for it twice a second or once: the service's
 * own answers at once, whereas a remote one may be slow.
 */
const SILENT_MS = { embedded: 4_000, external: 10_000 } as const;

/** How the ids of pages' subjects are written. */
export const SUBJECTS: Readonly<Record<PageSubject["kind"], RegExp>> = {
  tx: WORD,
  block: /^(0|[1-9][0-9]{0,17})$/,
  address: ADDRESS,
};

/** A preset that runs on the chains. */
interface InstalledPreset {
  readonly name: string;
  readonly title: string;
  /** JSON Schema of the parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Their names, in the order in which the source takes them. */
  readonly parameterOrder: readonly string[];
  /** The source that is sent on chain. */
  readonly source: string;
  readonly written: { readonly source: string };
}

/** What a page is about, as its address has it. */
export interface PageSubject {
  readonly kind: "tx" | "block" | "address";
  readonly id: string;
}

/** Shows what happened on the chains, from chain data alone; it knows nothing of this service's dapps and requests. */
export interface Explorer {
  /** Whether this network's transactions are shown here; other networks have explorers of their own. */
  has(network: string): boolean;
  /**
   * Whether a page has nothing to show, for good: of a network that isn't shown here, or a transaction, block or address that doesn't exist
   * there. Not while a chain isn't available yet.
   */
  lacks(network: string, subject?: PageSubject): Promise<boolean>;
  /** Returns `undefined` if the hash isn't on this network, or its chain isn't available yet. */
  findTransaction(network: string, hash: Hex): Promise<TransactionView | undefined>;
  findBlock(network: string, number: bigint): Promise<Listed<BlockView> | undefined>;
  /** Returns the ids of the requests that a block's transactions make or answer; empty without a chain. */
  findRequestIds(network: string, block: bigint): Promise<readonly Hex[]>;
  /** Returns the newest blocks, or those below a number. */
  findBlocks(network: string, below?: bigint): Promise<BlockListView | undefined>;
  /** Returns the newest transactions, or those before a cursor. */
  findTransactions(network: string, before?: ListCursor): Promise<Listed<TransactionList> | undefined>;
  /** Returns an address with its newest transactions, or those before a cursor. */
  findAddress(
    network: string,
    address: Hex,
    before?: ListCursor,
  ): Promise<Omit<Listed<AddressView>, "requests"> | undefined>;
  /** Returns the code of a contract and, of the service's own, source, interface and build; `undefined` without code of its own. */
  findContract(network: string, address: Hex): Promise<ContractView | undefined>;
  /** Returns everything on a network that matches the terms, except requests. Rejects without a chain, as the next two do. */
  search(network: string, terms: SearchTerms): Promise<readonly SearchHit[]>;
  /**
   * Returns the VRF or Functions request with this id, as far back as logs are read. More expensive than
   * {@link search}.
   */
  searchRequest(network: string, requestId: Hex): Promise<readonly SearchHit[]>;
  /** Returns the requests with a label, in its canonical form, from `before` on, and where to go on; if there are none, some whose label contains it; or those with a dapp's labels. As expensive. */
  searchLabel(network: string, wanted: LabelQuery, before?: ListCursor): Promise<FoundLabels>;
  findOverview(network: string): Promise<Listed<ChainOverview> | undefined>;
  /** Returns the newest block that was seen on a network, also while its chain can't be read. */
  findSeenHead(network: string): HeadSighting | undefined;
  /** Whether a network's node is known not to answer. */
  isSilent(network: string): boolean;
  /**
   * Returns what contracts other than the service's own requested: the newest requests, or those before a cursor. Of an address, what that
   * requested; of the contracts that take requests, those of all.
   */
  findContractRequests(
    network: string,
    origin: SubscriptionIds | Hex,
    before?: ListCursor,
  ): Promise<ContractRequestList | undefined>;
  /** Returns the LINK that an address sent and received: the newest transfers, or those before a cursor. */
  findTransfers(
    network: string,
    address: Hex,
    before?: ListCursor,
  ): Promise<Listed<TransferList> | undefined>;
}

/**
 * Creates the explorer. Its methods throw `chain_unavailable` when a chain can't be reached.
 *
 * @param networks by name; each returns its chain once it is available.
 * @param listPresets returns the installed presets, whose sources are shown as their authors wrote them.
 * @param readResult reads a preset's result, in one line and in parts; returns `undefined` if it can't be read.
 */
export function createChainExplorer<Preset extends InstalledPreset>(
  networks: ReadonlyMap<string, () => ExploredChain | undefined>,
  listPresets: () => readonly Preset[] = () => [],
  readResult: (
    preset: Preset,
    bytes: Uint8Array,
    args: readonly string[],
  ) => { readonly result: string; readonly shown?: ShownResult } | undefined = () => undefined,
): Explorer {
  const findPreset = (program: ProgramView | null) =>
    listPresets().find(({ source }) => source === program?.source);
  const namePreset = <T extends { readonly program: ProgramView | null }>(one: T): T => {
    const found = findPreset(one.program);
    if (one.program === null || found === undefined) return one;
    const { name, title, written } = found;
    const titles = titlesOf(found);
    const argumentTitles = found.parameterOrder.map((parameter) => titles[parameter] ?? parameter);
    const preset = { name, title, source: written.source, argumentTitles };
    return { ...one, program: { ...one.program, preset } };
  };
  const describeStored = ({ source, createdIn, sourceId }: StoredSource, creator: Party) => {
    const { name, title } = findPreset({ source, args: [], bytesArgs: [] }) ?? {};
    return {
      createdBy: creator,
      ...(createdIn === undefined ? {} : { createdIn }),
      storedSource: {
        sourceId,
        ...(name === undefined || title === undefined ? {} : { preset: { name, title } }),
      },
    };
  };
  const readRun = (run: PresetRunView): PresetRunView => {
    const { program, answer } = run;
    const preset = findPreset(program);
    if (preset === undefined || answer === null || answer.err !== "") return namePreset(run);
    const read = readResult(preset, fromHexText(answer.response), program!.args);
    return namePreset({ ...run, answer: { ...answer, ...read } });
  };
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
  const get = (network: string) => {
    const found = open(network);
    if (found !== undefined) return found;
    throw new TycheError(`The chain of ${network} is not available yet`, {
      code: "chain_unavailable",
      blame: "us",
      retryable: true,
    });
  };

  return {
    has: (network) => networks.has(network),
    findSeenHead: (network) => networks.get(network)?.()?.findSeenHead?.(),
    isSilent(network) {
      const chain = networks.get(network)?.();
      if (chain === undefined) return false;
      const { agoMs = 0 } = chain.findSeenHead?.() ?? {};
      return agoMs >= SILENT_MS[chain.isEmbedded ? "embedded" : "external"];
    },
    async lacks(network, subject) {
      if (!networks.has(network)) return true;
      if (subject === undefined) return false;
      const { kind, id } = subject;
      if (!SUBJECTS[kind].test(id)) return true;
      const archive = networks.get(network)!()?.archive;
      if (archive === undefined || kind === "address") return false;
      const found =
        kind === "tx"
          ? await archive.findTransaction(id.toLowerCase() as Hex)
          : await archive.findBlock(BigInt(id));
      return found === undefined;
    },
    async findTransaction(network, hash) {
      const found = open(network);
      const transaction = await found?.chain.archive.findTransaction(hash.toLowerCase() as Hex);
      if (transaction === undefined) return undefined;
      const view = await readTransaction(transaction, found!.chain, found!.book);
      return {
        ...view,
        presets: view.presets.map(readRun),
        functionRequests: view.functionRequests.map(namePreset),
        functionResults: view.functionResults.map(namePreset),
      };
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
        miner: block.miner && found.book.party(block.miner),
        baseFeeWei: block.baseFeeWei?.toString() ?? null,
        headNumber: head.toString(),
        transactions: await summarizeTransactions(
          found.chain,
          found.book,
          block.transactions.map((transaction) => ({ block, transaction })),
        ),
      };
    },
    async findRequestIds(network, block) {
      const found = open(network);
      return found === undefined ? [] : await readRequestIds(found.chain, block);
    },
    async findBlocks(network, below) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { head, blocks, older } = await readBlocks(found.chain.archive, { below });
      return {
        network,
        headNumber: head.toString(),
        blocks: blocks.map(summarizeBlock),
        older: older === null ? null : older.toString(),
      };
    },
    async findTransactions(network, before) {
      const found = open(network);
      return found && (await readTransactions(found.chain, found.book, before));
    },
    async findAddress(network, address, before) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { chain, book } = found;
      const [account, page, linkJuels, creation, linkedIn] = await Promise.all([
        chain.archive.getAccount(address),
        readAddressTransactions(chain, book, address, before),
        readLink(chain, address),
        findCreation(chain.archive, address),
        chain.findLinking?.(getAddress(address)).catch(() => undefined),
      ]);
      const { balanceWei, nonce, code, codeBytes, delegate } = account;
      const stored = await readStoredSource(address, code, chain);
      const isCreator = before === undefined && codeBytes > 0 && delegate === undefined;
      const about = book.aboutOf(address);
      return {
        ...book.party(address),
        network,
        balanceWei: balanceWei.toString(),
        ...(linkJuels === undefined ? {} : { linkJuels: linkJuels.toString() }),
        nonce,
        codeBytes,
        delegatesTo: delegate === undefined ? null : book.party(delegate),
        hasSource: book.contractAt(address) !== undefined,
        ...(about === undefined ? {} : { about }),
        ...(stored === undefined
          ? creation && { createdIn: creation.hash, createdBy: book.party(creation.from) }
          : describeStored(stored, book.party(chain.contracts.presetConsumer))),
        ...(linkedIn === undefined ? {} : { linkedIn }),
        contractsCreated: isCreator ? await readCreated(chain, book, { address, nonce }).catch(() => []) : [],
        ...page,
      };
    },
    async findContract(network, address) {
      const found = open(network);
      return found && (await readContract(address, found.chain, found.book));
    },
    async findContractRequests(network, origin, before) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { chain, book } = found;
      const { vrfCoordinator, functionsRouter, functionsCoordinator } = chain.contracts;
      const takers = [vrfCoordinator, functionsRouter, functionsCoordinator].map((one) => one.toLowerCase());
      const isOfAll = typeof origin === "string" && takers.includes(origin.toLowerCase());
      const wanted = isOfAll ? "all" : typeof origin === "string" ? { consumer: origin } : origin;
      return await readContractRequests(wanted, chain, book, before);
    },
    async findTransfers(network, address, before) {
      const found = open(network);
      return found && (await readTransfers(address, found.chain, found.book, before));
    },
    async search(network, terms) {
      const { chain, book } = get(network);
      return await searchChain(terms, chain, book);
    },
    async searchRequest(network, requestId) {
      return await searchRequest(requestId, get(network).chain);
    },
    async searchLabel(network, wanted, before) {
      return await searchLabel(wanted, get(network).chain, before);
    },
    async findOverview(network) {
      const found = open(network);
      if (found === undefined) return undefined;
      const { chain, book } = found;
      const { head, blocks } = await readBlocks(chain.archive, { count: OVERVIEW_BLOCKS });
      const newest = blocks.flatMap((block) =>
        block.transactions.toReversed().map((transaction) => ({ block, transaction })),
      );
      return {
        network,
        title: chain.title,
        chainId: chain.chainId,
        headNumber: head.toString(),
        contracts: book.contracts,
        blocks: blocks.map(summarizeBlock),
        transactions: await summarizeTransactions(chain, book, newest.slice(0, PAGE_ENTRIES)),
      };
    },
  };
}

/** Reads which contracts a contract created: their addresses follow from its nonce, which began at 1 (EIP-161). */
async function readCreated(
  { client }: ExploredChain,
  book: AddressBook,
  { address: from, nonce }: { readonly address: Hex; readonly nonce: number },
): Promise<AddressView["contractsCreated"]> {
  const numbers = Array.from({ length: Math.min(nonce - 1, MAX_CREATED) }, (_, i) => nonce - 1 - i);
  const created = await Promise.all(
    numbers.map(async (number) => {
      const address = getContractAddress({ from, nonce: BigInt(number) });
      return { ...book.party(address), codeBytes: ((await client.getCode(address)).length - 2) / 2 };
    }),
  );
  // With CREATE2, the nonce counts what has another address.
  return created.filter(({ codeBytes }) => codeBytes > 0);
}

/** Reads how much LINK an address holds; `undefined` if the token doesn't say. */
async function readLink({ client, contracts }: ExploredChain, address: Hex): Promise<bigint | undefined> {
  try {
    const { data, decode } = readOf(linkTokenAbi, "balanceOf", [address.toLowerCase() as Hex]);
    return decode((await client.request("eth_call", [{ to: contracts.link, data }, "latest"])) as Hex);
  } catch {
    return undefined;
  }
}

/**
 * Reads a contract: of the stack with its source, its interface, and whether the code on the chain is built from them; returns `undefined` for
 * an address without code, or an account that runs another's (EIP-7702).
 */
async function readContract(
  address: Hex,
  { network, client, archive }: ExploredChain,
  book: AddressBook,
): Promise<ContractView | undefined> {
  const contract = book.contractAt(address);
  const code = await client.getCode(address);
  if (contract === undefined) {
    if (code === "0x" || findDelegate(code) !== undefined) return undefined;
    return { network, ...book.party(address), code, abi: [], build: null, constructorArguments: null };
  }
  const { abi, ...build } = getContractBuild(contract);
  const creation = await findCreation(archive, address);
  const input = creation?.input;
  const isOurs = isBuiltFrom(contract, code);
  const isCreatedBy = input !== undefined && isCodeOf(input, code);
  const { name = contract, ...party } = book.party(address);
  const values = isCreatedBy ? decodeConstructorArguments(contract, input) : null;
  return {
    network,
    ...party,
    name,
    code,
    abi,
    build: isOurs ? build : null,
    constructorArguments: values && book.nameAddresses(values),
  };
}

/**
 * Oldest appearances of an address among which its creation is looked for: a call may name a contract that is yet to come, as linking does. Whoever
 * names one in as many calls before hides its creation, as the index doesn't say what an address appears as.
 */
const CREATION_AMONG = 3;

/** Finds the transaction that created a contract, among the first ones in which its address appears. */
async function findCreation(archive: ChainArchive, address: Hex): Promise<ArchivedTransaction | undefined> {
  const known = await archive.findAppearances?.({ address, limit: CREATION_AMONG, first: "oldest" });
  for (const { block: number, blockHash, index } of known?.found ?? []) {
    const block = await archive.findBlock(BigInt(number));
    const transaction = block?.hash === blockHash ? block.transactions[index] : undefined;
    if (transaction?.created === address.toLowerCase()) return transaction;
  }
  return undefined;
}
