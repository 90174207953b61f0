import type {
  AddressTransactions,
  AddressView,
  BlockSummary,
  DecodedValue,
  TransactionList,
  TransactionStatus,
  TransactionSummary,
} from "../api/types.ts";
import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import type { ArchivedBlock, ArchivedTransaction, ChainArchive } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { type BoundedMap, createBoundedMap } from "../lib/boundedMap.ts";
import { cut } from "../lib/cut.ts";
import { MAX_DATA_BYTES } from "../domain/explorerLimits.ts";
import { namedAddresses } from "../evm/namedAddresses.ts";
import type { RawLog, Receipt } from "../lib/nodeAnswers.ts";
import { describeFailures } from "./describeFailures.ts";
import { findDrawnFor, idsIn, isAnswer } from "./readRequestIds.ts";
import { isFromOracle, timeOf } from "./readTransaction.ts";

/** Entries per page of a list. */
export const PAGE_ENTRIES = 25;
/**
 * Blocks read for one page of an address's transactions where there is no index by address, or it doesn't reach back that far yet. An
 * embedded chain's node reads a block in a millisecond; on a public network each block is a call that someone pays for.
 */
const SCANNED_BLOCKS = { embedded: 500n, external: 100n };
/** Blocks requested at once. */
const BLOCKS_AT_ONCE = 25n;
/** Events of an address's page. */
const MAX_EVENTS = 100;
/** Blocks whose logs a node may lack only for now. */
const RECENT_BLOCKS = 10n;
/** What a page lists of an event, whose data may have megabytes: characters of a value, entries of a list. */
const MAX_VALUE_CHARACTERS = 100;
const MAX_VALUE_ENTRIES = 8;
/** Transaction outcomes to cache, in units of half a kilobyte: a live page asks for the same ones every few seconds. */
const KEPT_OUTCOMES = 20_000;
const OUTCOME_UNIT_CHARACTERS = 512;

/** Transactions per block whose outcome is read: each takes a call. */
export const MAX_STATUSES = 100;

/** A transaction in a list, with the ids of the requests that it makes or answers, whosever they are. */
export type ListedTransaction = TransactionSummary & {
  readonly requestIds: readonly Hex[];
  /** Whether it answers any. */
  readonly isAnswer: boolean;
};

/** A view whose transactions are such. */
export type Listed<View extends { readonly transactions: readonly TransactionSummary[] }> = Omit<
  View,
  "transactions"
> & { readonly transactions: readonly ListedTransaction[] };

/** A position in a list: everything below a block and, if `index` is given, also the block's own entries before that index. */
export interface ListCursor {
  readonly block: bigint;
  readonly index?: number;
}

/** Returns the highest block that may have entries below a cursor; without one, or above the newest block, that one. */
export function topOf(before: ListCursor | undefined, head: bigint): bigint {
  if (before === undefined || before.block > head) return head;
  return before.index === undefined ? before.block - 1n : before.block;
}

/** Whether an entry of {@link topOf} or a block below it is below the cursor. */
export function isBelow(before: ListCursor | undefined, block: bigint, index: number): boolean {
  return before?.index === undefined || block !== before.block || index < before.index;
}

/** Parses `{block}` or `{block}.{index}`; returns `undefined` for anything else. */
export function parseCursor(text: string): ListCursor | undefined {
  const [, block, index] = /^(0|[1-9][0-9]{0,14})(?:\.(0|[1-9][0-9]{0,5}))?$/.exec(text) ?? [];
  if (block === undefined) return undefined;
  return { block: BigInt(block), ...(index === undefined ? {} : { index: Number(index) }) };
}

/**
 * Returns the newest blocks below a number, newest first; without one, the newest of all. Returns at most `count`; fewer if the node lacks
 * some.
 */
export async function readBlocks(
  archive: ChainArchive,
  { below, count = PAGE_ENTRIES }: { readonly below?: bigint | undefined; readonly count?: number } = {},
): Promise<{
  readonly head: bigint;
  readonly blocks: readonly ArchivedBlock[];
  readonly older: bigint | null;
}> {
  const head = await archive.getHeadNumber();
  const top = below !== undefined && below <= head ? below - 1n : head;
  const bottom = top >= BigInt(count) ? top - BigInt(count) + 1n : 0n;
  const blocks = await readRange(archive, top, bottom);
  return { head, blocks, older: blocks.length > 0 && bottom > 0n ? bottom : null };
}

/**
 * Returns the transactions that an address sent, received or was created by, those that name it in their calldata, as proofs and reports name
 * the contracts that they call back, and, with an index, those in which it emitted a log; newest first, starting at a cursor. Reads a bounded number of blocks.
 */
export async function readAddressTransactions(
  chain: ExploredChain,
  book: AddressBook,
  address: Hex,
  before: ListCursor | undefined,
): Promise<Listed<AddressTransactions> & Pick<AddressView, "events" | "moreEvents">> {
  const { placed, ...page } =
    (await findIndexed(chain.archive, address, before)) ?? (await scan(chain, address, before));
  const owner = { address: address.toLowerCase() as Hex, book };
  const outcomes = await Promise.all(placed.map((one) => readOutcome(chain, one, owner)));
  const parts = outcomes.flatMap((outcome) => outcome?.own ?? []);
  const events = parts.flatMap((own) => own.events).slice(0, MAX_EVENTS);
  const moreEvents = parts.reduce((sum, own) => sum + own.eventCount, -events.length);
  return {
    ...page,
    transactions: placed.map((one, i) => summarizeTransaction(one, outcomes[i], book)),
    events,
    ...(moreEvents > 0 ? { moreEvents } : {}),
  };
}

/** Returns a chain's transactions, newest first, starting at a cursor. Reads a bounded number of blocks. */
export async function readTransactions(
  chain: ExploredChain,
  book: AddressBook,
  before: ListCursor | undefined,
): Promise<Listed<TransactionList>> {
  const { placed, searched, older } = await scan(chain, undefined, before);
  const transactions = await summarizeTransactions(chain, book, placed);
  return { network: chain.network, transactions, searched, older };
}

/** A page whose transactions have yet to be described. */
type FoundPage = Omit<AddressTransactions, "transactions"> & { readonly placed: readonly Placed[] };

/** Reads a page from the index; returns `undefined` if there is no index, or it begins after the cursor. */
async function findIndexed(
  archive: ChainArchive,
  address: Hex,
  before: ListCursor | undefined,
): Promise<FoundPage | undefined> {
  const below = before && { ...before, block: Number(before.block) };
  const query = { address, below, limit: PAGE_ENTRIES + 1 };
  const answer = await archive.findAppearances?.(query);
  if (answer === undefined) return undefined;
  const { found, through, hasRemoved } = answer;
  const shown = found.slice(0, PAGE_ENTRIES);
  const numbers = [...new Set(shown.map(({ block }) => block))];
  const blocks = new Map(
    await Promise.all(
      numbers.map(async (number) => [number, await archive.findBlock(BigInt(number))] as const),
    ),
  );
  const placed = shown.flatMap(({ block: number, blockHash, index }) => {
    const block = blocks.get(number);
    const transaction = block?.transactions[index];
    // A transaction that a reorg removed in the meantime no longer belongs to the address.
    return block?.hash === blockHash && transaction !== undefined ? [{ block, transaction, index }] : [];
  });
  const last = found.length > shown.length ? shown.at(-1) : undefined;
  return {
    placed,
    searched: { from: "0", to: String(Math.max(0, through)) },
    older: last ? `${last.block}.${last.index}` : null,
    isForgotten: last === undefined && hasRemoved,
    isIndexed: true,
  };
}

/** Reads a page from the blocks themselves: of an address's transactions or, without one, of all. */
async function scan(
  { archive, isEmbedded }: ExploredChain,
  address: Hex | undefined,
  before: ListCursor | undefined,
): Promise<FoundPage> {
  const wanted = address?.toLowerCase() as Hex | undefined;
  const head = await archive.getHeadNumber();
  const top = topOf(before, head);
  const limit = SCANNED_BLOCKS[isEmbedded ? "embedded" : "external"];
  const found: Placed[] = [];
  let bottom = top + 1n;
  let isKept = true;
  while (bottom > 0n && top - bottom + 1n < limit && found.length <= PAGE_ENTRIES && isKept) {
    const from = bottom - 1n;
    bottom = from >= BLOCKS_AT_ONCE ? from - BLOCKS_AT_ONCE + 1n : 0n;
    const blocks = await readRange(archive, from, bottom);
    // A node deletes its oldest blocks first.
    isKept = blocks.length > 0;
    for (const block of blocks)
      for (const [index, transaction] of [...block.transactions.entries()].toReversed()) {
        const { from: sender, to, created, input } = transaction;
        const isOlder = isBelow(before, block.number, index);
        const isWanted =
          wanted === undefined ||
          [sender, to, created].includes(wanted) ||
          (to !== null && input.includes(wanted.slice(2)) && namedAddresses(input).has(wanted));
        if (isOlder && isWanted) found.push({ block, transaction, index });
      }
  }
  const shown = found.slice(0, PAGE_ENTRIES);
  const last = shown.at(-1);
  const hasMore = found.length > shown.length;
  const older = hasMore ? `${last!.block.number}.${last!.index}` : bottom > 0n && isKept ? `${bottom}` : null;
  return {
    placed: shown,
    searched: { from: String(hasMore ? last!.block.number : bottom), to: String(top < 0n ? 0n : top) },
    older,
    isForgotten: !isKept,
    isIndexed: false,
  };
}

/** A transaction with the block that holds it. */
interface Placed {
  readonly block: ArchivedBlock;
  readonly transaction: ArchivedTransaction;
  readonly index: number;
}

/** Returns those of the blocks from `top` down to `bottom` that the node has. */
async function readRange(archive: ChainArchive, top: bigint, bottom: bigint): Promise<ArchivedBlock[]> {
  const numbers = Array.from({ length: Math.max(0, Number(top - bottom) + 1) }, (_, i) => top - BigInt(i));
  const blocks = await Promise.all(numbers.map((number) => archive.findBlock(number)));
  return blocks.filter((block) => block !== undefined);
}

/** What a receipt adds to a transaction in a list. */
interface Outcome {
  readonly status: TransactionStatus;
  readonly feeWei: string;
  readonly failure?: string;
  readonly requestIds: readonly Hex[];
  readonly isAnswer: boolean;
  /** On the page of an address: its events, the first {@link MAX_EVENTS}. */
  readonly own?: {
    readonly events: AddressView["events"];
    readonly eventCount: number;
  };
}

/** The address whose page is read, and what names its events. */
interface Owner {
  readonly address: Hex;
  readonly book: AddressBook;
}

const caches = new WeakMap<ChainArchive, BoundedMap<string, Outcome>>();

/** Reads a transaction's outcome; for the page of an address also what that emitted. */
async function readOutcome(
  chain: ExploredChain,
  { block, transaction }: Pick<Placed, "block" | "transaction">,
  owner?: Owner,
): Promise<Outcome | undefined> {
  const { archive, contracts } = chain;
  let known = caches.get(archive);
  if (known === undefined) caches.set(archive, (known = createBoundedMap(KEPT_OUTCOMES)));
  // A reorg moves a transaction to another block, where its outcome may differ.
  const key = `${block.hash} ${transaction.hash} ${owner?.address ?? ""}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const receipt = await archive.findReceipt(transaction.hash);
  if (receipt === undefined) return undefined;
  const own = owner && findOwn(receipt, owner);
  const ours = receipt.logs.filter(isFromOracle(contracts));
  // A node that refuses may answer the next time.
  const drawnFor = await findDrawnFor(transaction, ours, chain).catch(() => undefined);
  const outcome = { ...outcomeOf(chain, receipt, drawnFor?.ids ?? []), ...(own && { own }) };
  // Right after a block, Anvil lacks logs at times; what a node lacks later, it has pruned.
  if (drawnFor === undefined) return outcome;
  if (!drawnFor.isWhole && (await archive.getHeadNumber()) - block.number < RECENT_BLOCKS) return outcome;
  known.set(key, outcome, 1 + Math.ceil(JSON.stringify(own ?? "").length / OUTCOME_UNIT_CHARACTERS));
  return outcome;
}

function findOwn({ logs }: Receipt, { address, book }: Owner): NonNullable<Outcome["own"]> {
  const emitted = logs.filter((log) => log.address === address);
  const events = emitted.slice(0, MAX_EVENTS).map((log) => summarizeEvent(log, book));
  return { events, eventCount: emitted.length };
}

function summarizeEvent(log: RawLog, book: AddressBook): AddressView["events"][number] {
  const { transactionHash, logIndex, topics, data } = log;
  const decoded = book.decodeEvent(log.address, log);
  const place = { transactionHash, logIndex, topics };
  if (decoded === undefined)
    return { ...place, fields: [], data: data.slice(0, 2 + 2 * MAX_DATA_BYTES) as Hex };
  return { ...place, event: decoded.event, fields: shorten(decoded.fields) };
}

function shorten(values: readonly DecodedValue[]): readonly DecodedValue[] {
  return values.map((one) => {
    const { value, holds } = one;
    const held = holds && { holds: shortenList(holds) };
    if (typeof value === "string") return { ...one, value: cut(value, MAX_VALUE_CHARACTERS), ...held };
    return { ...one, value: shortenList(value) };
  });
}

function shortenList(values: readonly DecodedValue[]): readonly DecodedValue[] {
  const entries = shorten(values.slice(0, MAX_VALUE_ENTRIES));
  return values.length > entries.length ? [...entries, { name: "", type: "", value: "…" }] : entries;
}

function outcomeOf(
  { contracts }: ExploredChain,
  { succeeded, gasUsed, effectiveGasPriceWei, logs }: Receipt,
  drawnFor: readonly Hex[],
): Outcome {
  const ours = logs.filter(isFromOracle(contracts));
  const failure = describeFailures(ours);
  return {
    status: succeeded ? "succeeded" : "reverted",
    feeWei: (gasUsed * effectiveGasPriceWei).toString(),
    ...(failure === undefined ? {} : { failure }),
    requestIds: [...new Set([...ours.flatMap(idsIn), ...drawnFor])],
    isAnswer: ours.some(isAnswer) && drawnFor.length === 0,
  };
}

/** Describes transactions for a list, including the outcomes of the first {@link MAX_STATUSES}. */
export async function summarizeTransactions(
  chain: ExploredChain,
  book: AddressBook,
  placed: readonly Pick<Placed, "block" | "transaction">[],
): Promise<ListedTransaction[]> {
  return await Promise.all(
    placed.map(async (one, i) => {
      const outcome = i < MAX_STATUSES ? await readOutcome(chain, one) : undefined;
      return summarizeTransaction(one, outcome, book);
    }),
  );
}

function summarizeTransaction(
  { block, transaction: { hash, from, to, created, input, valueWei } }: Pick<Placed, "block" | "transaction">,
  outcome: Outcome | undefined,
  book: AddressBook,
): ListedTransaction {
  return {
    hash,
    status: outcome?.status ?? null,
    blockNumber: block.number.toString(),
    at: timeOf(block),
    from: book.party(from),
    to: to && book.party(to),
    created: created && book.party(created),
    method: book.methodOf(to, input),
    valueWei: valueWei.toString(),
    ...(outcome && { feeWei: outcome.feeWei }),
    ...(outcome?.failure === undefined ? {} : { failure: outcome.failure }),
    requestIds: outcome?.requestIds ?? [],
    isAnswer: outcome?.isAnswer === true,
  };
}

/** Describes a block for a list. */
export function summarizeBlock(block: ArchivedBlock): BlockSummary {
  const { number, hash, gasUsed, gasLimit, transactions } = block;
  return {
    number: number.toString(),
    hash,
    at: timeOf(block),
    transactionCount: transactions.length,
    gasUsed: gasUsed.toString(),
    gasLimit: gasLimit.toString(),
  };
}
