import type { Hex } from "viem";
import type { BlockHead, ChainClient } from "./client.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import type { LogReader } from "./logReader.ts";

/**
 * Number of newest blocks that are requested one at a time, by hash, when several nodes answer: asked for a hash, a node that lacks the
 * block says so, whereas it cuts a range off at the end of its own chain and silently omits the rest.
 */
const BLOCKS_BY_HASH = 16n;
/**
 * Newest blocks whose logs are read again now and then, because a node may omit some. A follower may assume that nothing older is repeated.
 */
export const REREAD_BLOCKS = 256n;
/** Pause before a failed step is retried. */
const RETRY_MS = 250;
/** A chain that has been shorter than before for this long has been rolled back: a lagging node catches up sooner. */
const ROLLED_BACK_AFTER_MS = 15_000;

/** A block as announced to a follower: its logs of the watched contracts, in order. */
export interface WatchedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly logs: readonly RawLog[];
}

/** What a follower wants, and the callbacks that announce it. Calls run one at a time; each waits for the promise of the previous one. */
export interface Follower {
  /** Contracts whose logs are wanted; called again for every block. */
  readonly addresses: () => readonly Hex[];
  /** First block wanted. */
  readonly fromBlock: bigint;
  /** Hashes of blocks that were announced to an earlier process: a reorg that removed one is announced first. */
  readonly known?: ReadonlyMap<bigint, Hex>;
  /**
   * A block with logs, or the newest block (with or without). Where a node has omitted logs, they follow later, and so do all logs of the
   * blocks after them once more.
   */
  onBlock(block: WatchedBlock): void | Promise<void>;
  /**
   * Blocks from this number on have been replaced or removed; their replacements follow.
   *
   * @returns the first block wanted again, if that is an earlier one.
   */
  onReorg?(firstReplaced: bigint): bigint | undefined | Promise<bigint | undefined>;
}

/** The block named in a receipt. */
export interface BlockRef {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

export interface BlockReaderOptions {
  readonly client: ChainClient;
  /** Called for every failed step, which is retried automatically. */
  readonly onError: (error: unknown) => void;
  /** How long the chain must have been shorter than before to count as rolled back: 0 if no node lags. Default 15,000. */
  readonly rolledBackAfterMs?: number;
}

/** One follower's progress along the chain. */
export interface BlockReader {
  addresses(): readonly Hex[];
  /** See `ChainWatcher.expect`. */
  expect(number: bigint, hash: Hex): void;
  advance(head: BlockHead): void;
  /** The head is still the one announced last. */
  remind(): void;
  /** See `ChainWatcher.reread`. */
  reread(from?: bigint): void;
  stop(): void;
}

/** The state of a follower's progress. */
interface ReaderState {
  /** `idle`: everything up to the newest head is announced. `advancing`: on the way to `target`. `stopped`: for good. */
  phase: "idle" | "advancing" | "stopped";
  /** First block to announce. */
  next: bigint;
  /** Head to advance to next; heads that arrive meanwhile replace it. */
  target: BlockHead | undefined;
  newest: BlockHead | undefined;
  /** Whether logs are to be read again once the target is reached. */
  isRereadDue: boolean;
  /** First block to read again; `undefined` begins with the oldest. */
  rereadFrom: bigint | undefined;
  /** First block whose logs are to be announced again. */
  repeatFrom: bigint | undefined;
  /** The newest head, while it is below what has been announced. */
  shorter: { readonly head: BlockHead; readonly sinceMs: number } | undefined;
}

/** Brings one follower up to the newest head, again and again; heads that arrive meanwhile are coalesced. */
export function createBlockReader(
  { client, onError, rolledBackAfterMs = ROLLED_BACK_AFTER_MS }: BlockReaderOptions,
  follower: Follower,
  readLogs: (block: BlockHead) => Promise<readonly RawLog[]>,
  logReader: LogReader,
): BlockReader {
  const told = createToldHeads(follower.known);
  const expected = new Map<bigint, Hex>();
  const heard = createHeardLogs();
  const state: ReaderState = {
    phase: "idle",
    next: follower.fromBlock,
    target: undefined,
    newest: undefined,
    isRereadDue: false,
    rereadFrom: undefined,
    repeatFrom: undefined,
    shorter: undefined,
  };
  const sources = { client, onError, rolledBackAfterMs, readLogs, logReader };
  const reading: Reading = { ...sources, follower, told, expected, heard, state };
  return {
    addresses: follower.addresses,
    advance(head) {
      state.newest = head;
      advance(reading, head);
    },
    expect(number, hash) {
      // A follower that isn't told about reorgs learns nothing from receipts.
      if (follower.onReorg === undefined || told.get(number) === hash) return;
      expected.set(number, hash);
      if (number < state.next && state.newest !== undefined) advance(reading, state.newest);
    },
    remind() {
      if (state.shorter !== undefined && state.phase === "idle") advance(reading, state.shorter.head);
    },
    reread(from) {
      if (from !== undefined) {
        heard.dropFrom(from);
        state.rereadFrom = undefined;
        state.repeatFrom = from;
      }
      state.isRereadDue = true;
      if (state.newest !== undefined) start(reading);
    },
    stop() {
      state.phase = "stopped";
    },
  };
}

/** What a reader reads from, whom it tells, and what it knows. */
interface Reading extends Required<BlockReaderOptions> {
  readonly follower: Follower;
  readonly readLogs: (block: BlockHead) => Promise<readonly RawLog[]>;
  readonly logReader: LogReader;
  readonly told: ToldHeads;
  /** Hashes of blocks known from receipts, by number, until the chain is seen to have them or others. */
  readonly expected: Map<bigint, Hex>;
  readonly heard: HeardLogs;
  readonly state: ReaderState;
}

function isStopped({ state }: Reading): boolean {
  return state.phase === "stopped";
}

function advance(reader: Reading, head: BlockHead): void {
  reader.state.target = head;
  start(reader);
}

function start(reader: Reading): void {
  const { state } = reader;
  if (state.phase !== "idle") return;
  state.phase = "advancing";
  void run(reader);
}

async function run(reader: Reading): Promise<void> {
  const { onError, state } = reader;
  while ((state.target !== undefined || state.isRereadDue) && !isStopped(reader)) {
    const head: BlockHead | undefined = state.target;
    state.target = undefined;
    try {
      if (head !== undefined) await step(reader, head);
      else await reread(reader);
    } catch (error) {
      if (isStopped(reader)) break;
      onError(error);
      if (head !== undefined) state.target ??= head;
      else state.isRereadDue = state.repeatFrom !== undefined;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  if (!isStopped(reader)) state.phase = "idle";
}

/**
 * Reads the logs of the next piece of the newest blocks again. Events build on one another, so after an omitted log all later ones are
 * announced again: those of this piece now, and the rest with the next pieces.
 */
async function reread(reader: Reading): Promise<void> {
  const { client, onError, follower, logReader, told, heard, state } = reader;
  state.isRereadDue = false;
  const last = state.next - 1n;
  const oldest = max(follower.fromBlock, last - REREAD_BLOCKS + 1n);
  if (oldest > last) return;
  const { rereadFrom: from = oldest } = state;
  const addresses = follower.addresses();
  const range = { fromBlock: from < oldest || from > last ? oldest : from, toBlock: last };
  const { logs, toBlock } = await logReader.read(range, (part) =>
    client.getLogsOfEach({ addresses, ...part }),
  );
  state.rereadFrom = toBlock < last ? toBlock + 1n : undefined;
  const { repeatFrom } = state;
  let isOmitted = false;
  for (const block of groupByBlock(logs)) {
    if (isStopped(reader)) return;
    if (!isOmitted && heard.hasAll(block)) continue;
    // One of the nodes may be on another branch.
    const present = told.get(block.number) ?? (await client.getHead(block.number))?.hash;
    if (present !== block.hash) continue;
    if (!isOmitted) {
      heard.dropFrom(block.number);
      if (repeatFrom === undefined || block.number < repeatFrom) onError(new OmittedLogsError(block.number));
    }
    isOmitted = true;
    await follower.onBlock(block);
    heard.add(block);
  }
  if (toBlock === last && state.repeatFrom === repeatFrom) state.repeatFrom = undefined;
}

async function step(reader: Reading, head: BlockHead): Promise<void> {
  const { told, state } = reader;
  const isTold = (): boolean => told.get(head.number) === head.hash && head.number + 1n === state.next;
  if (isTold() && !isAnyExpected(reader, (number) => number <= head.number)) {
    state.shorter = undefined;
    return;
  }
  // The chain is shorter than where the follower left off: it was rolled back meanwhile, and everything that follows is new.
  if (state.next > head.number + 1n && told.numbers().length === 0) state.next = head.number + 1n;
  await followReorg(reader, head);
  if (isTold()) return;
  if (head.number < state.next && !(await hasGoneBack(reader, head))) return;
  state.shorter = undefined;
  do {
    await tellUpTo(reader, head);
    // A block known from a receipt that wasn't announced in this pass may have been replaced meanwhile.
    if (isAnyExpected(reader, (number) => number <= head.number)) await followReorg(reader, head);
  } while (state.next <= head.number && !isStopped(reader));
}

async function tellUpTo(reader: Reading, head: BlockHead): Promise<void> {
  const { client, state } = reader;
  while (state.next < head.number) {
    const rest = head.number - state.next;
    const behind = client.isOneNode ? rest : rest - BLOCKS_BY_HASH;
    if (behind > 0n) {
      const { blocks, end } = await readRange(reader, state.next, state.next + behind - 1n);
      for (const block of blocks) await tell(reader, block);
      remember(reader, end);
      state.next = end.number + 1n;
    } else {
      const block = await client.getHead(state.next);
      if (block === undefined) throw new Error(`the node has no block ${state.next} yet`);
      await tellByHash(reader, block);
    }
    if (isStopped(reader)) return;
  }
  await tellByHash(reader, head);
}

/** Reads a range of blocks that are all of one chain: they follow the block announced before them and end in the returned block. */
async function readRange(reader: Reading, fromBlock: bigint, lastBlock: bigint) {
  const { client, follower, logReader, told } = reader;
  const before = fromBlock - 1n;
  const addresses = follower.addresses();
  let ahead: BlockHead | undefined;
  const { logs, toBlock } = await logReader.read({ fromBlock, toBlock: lastBlock }, async (part) => {
    ahead = await client.getHead(part.toBlock);
    return await client.getLogs({ addresses, ...part });
  });
  const blocks = groupByBlock(logs);
  const [end, parent] = await Promise.all([
    client.getHead(toBlock),
    told.get(before) === undefined ? undefined : client.getHead(before),
  ]);
  const newest = blocks.at(-1);
  // A range that ends beyond the chain proves nothing about it, and other blocks may appear there.
  const isOne =
    end !== undefined &&
    ahead?.hash === end.hash &&
    parent?.hash === told.get(before) &&
    (newest?.number !== toBlock || newest.hash === end.hash);
  if (!isOne) throw new Error(`the chain has changed before block ${toBlock + 1n}`);
  return { blocks, end };
}

function isAnyExpected({ expected }: Reading, test: (number: bigint, hash: Hex) => boolean): boolean {
  return [...expected].some(([number, hash]) => test(number, hash));
}

async function tellByHash(reader: Reading, head: BlockHead): Promise<void> {
  const { follower, readLogs, state } = reader;
  const { number, hash } = head;
  const logs = await readLogs(head);
  const wanted = new Set(follower.addresses().map((address) => address.toLowerCase()));
  await tell(reader, { number, hash, logs: logs.filter((log) => wanted.has(log.address)) });
  state.next = number + 1n;
}

async function tell(reader: Reading, block: WatchedBlock): Promise<void> {
  const { follower, heard } = reader;
  if (isStopped(reader)) return;
  await follower.onBlock(block);
  heard.add(block);
  remember(reader, block);
}

function remember(
  { told, expected }: Reading,
  { number, hash }: { readonly number: bigint; readonly hash: Hex },
): void {
  told.set(number, hash);
  if (expected.get(number) === hash) expected.delete(number);
}

/** Rewinds past announced blocks, and blocks known from receipts, that the chain no longer has. */
async function followReorg(reader: Reading, head: BlockHead): Promise<void> {
  const { client, told, expected, state } = reader;
  const isNext = head.number === state.next && told.get(head.number - 1n) === head.parentHash;
  const isInDoubt = isAnyExpected(
    reader,
    (number, hash) => number < head.number || (number === head.number && hash !== head.hash),
  );
  if (isNext && !isInDoubt) return;
  const hashAt = async (number: bigint): Promise<Hex | undefined> =>
    number === head.number ? head.hash : (await client.getHead(number))?.hash;
  let firstReplaced = await findFirstReplaced(reader, hashAt);
  for (const [number, hash] of expected) {
    const present = number > head.number ? undefined : await hashAt(number);
    if (present === undefined || (present === hash && number >= state.next)) continue;
    expected.delete(number);
    if (present !== hash && (firstReplaced === undefined || number < firstReplaced)) firstReplaced = number;
  }
  if (firstReplaced !== undefined) await rewind(reader, firstReplaced);
}

/** Returns the first block that the chain has replaced, as far as the announced blocks show. */
async function findFirstReplaced(
  reader: Reading,
  hashAt: (number: bigint) => Promise<Hex | undefined>,
): Promise<bigint | undefined> {
  const { follower, told } = reader;
  const numbers = told.numbers();
  const kept = await findLastKept(numbers, async (number) => (await hashAt(number)) === told.get(number));
  const lost = numbers[kept + 1];
  // A lagging node has no block there: only a different block in its place proves a reorg.
  if (lost === undefined || (await hashAt(lost)) === undefined) return undefined;
  // The blocks in between had no logs and were not announced; their replacements may have some.
  if (kept >= 0) return numbers[kept]! + 1n;
  return follower.fromBlock < lost ? follower.fromBlock : lost;
}

async function rewind(reader: Reading, firstReplaced: bigint): Promise<void> {
  const { follower, told, heard, state } = reader;
  const wanted = (await follower.onReorg?.(firstReplaced)) ?? firstReplaced;
  told.dropFrom(firstReplaced);
  heard.dropFrom(firstReplaced);
  const first = wanted < firstReplaced ? wanted : firstReplaced;
  if (first < state.next) state.next = first;
  state.shorter = undefined;
}

/**
 * Whether a head below what was announced means a rollback rather than a lagging node, which only time tells. After a rollback,
 * announcing restarts after the last block that is still there.
 */
async function hasGoneBack(reader: Reading, head: BlockHead): Promise<boolean> {
  const { client, rolledBackAfterMs, follower, told, state } = reader;
  // Nothing beyond this head has been announced: the follower only waits for the next block.
  if (head.number + 1n === state.next) return false;
  state.shorter = { head, sinceMs: state.shorter?.sinceMs ?? performance.now() };
  if (performance.now() - state.shorter.sinceMs < rolledBackAfterMs) return false;
  // The answer to an earlier request may arrive after a newer pushed head.
  const present = await client.getHead("latest");
  if (present === undefined || present.number >= state.next) return false;
  const kept = told.numbers().findLast((number) => number <= head.number);
  if (kept !== undefined) await rewind(reader, kept + 1n);
  else await rewind(reader, follower.fromBlock <= head.number ? follower.fromBlock : head.number + 1n);
  return state.next <= head.number;
}

/** The logs of the newest blocks that a follower was told. */
type HeardLogs = ReturnType<typeof createHeardLogs>;

function createHeardLogs() {
  const blocks = new Map<bigint, { readonly hash: Hex; readonly indexes: Set<number> }>();
  return {
    hasAll({ number, hash, logs }: WatchedBlock): boolean {
      const block = blocks.get(number);
      return block?.hash === hash && logs.every(({ logIndex }) => block.indexes.has(logIndex));
    },
    add({ number, hash, logs }: WatchedBlock): void {
      if (logs.length === 0) return;
      const block = blocks.get(number);
      if (block?.hash === hash) for (const { logIndex } of logs) block.indexes.add(logIndex);
      else blocks.set(number, { hash, indexes: new Set(logs.map(({ logIndex }) => logIndex)) });
      for (const old of blocks.keys()) if (old <= number - REREAD_BLOCKS) blocks.delete(old);
    },
    /** Forgets the blocks from this number on. */
    dropFrom(first: bigint): void {
      for (const number of blocks.keys()) if (number >= first) blocks.delete(number);
    },
  };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function groupByBlock(logs: readonly RawLog[]): WatchedBlock[] {
  const blocks = new Map<Hex, { number: bigint; hash: Hex; logs: RawLog[] }>();
  for (const log of logs) {
    const block = blocks.get(log.blockHash);
    if (block === undefined)
      blocks.set(log.blockHash, { number: log.blockNumber, hash: log.blockHash, logs: [log] });
    else block.logs.push(log);
  }
  return [...blocks.values()].toSorted((a, b) => Number(a.number - b.number));
}

/** A node omitted logs of a block that it or another one has. */
class OmittedLogsError extends Error {
  constructor(number: bigint) {
    super(`a node omitted logs of block ${number}; they were read again`);
  }
}

/** Number of newest heads that are all kept: most reorgs are no deeper. */
const DENSE_HEADS = 512;
/** Of older heads, one in this many blocks is kept, so that a deep reorg is followed from shortly before its fork. */
const SPARSE_BLOCKS = 64n;
/** Number of sparse heads kept: they reach back 262,144 blocks. */
const MAX_SPARSE_HEADS = 4_096;

/** The blocks announced to a follower, by number: enough of them to find where a chain forked. */
type ToldHeads = ReturnType<typeof createToldHeads>;

/** Creates the memory of one follower. */
function createToldHeads(known: ReadonlyMap<bigint, Hex> = new Map()) {
  const dense = new Map(known);
  /** By block number, in order; one for each {@link SPARSE_BLOCKS}. */
  const sparse = new Map<bigint, Hex>();
  let lastSparse = -SPARSE_BLOCKS;

  const thin = (): void => {
    const [number, hash] = dense.entries().next().value!;
    dense.delete(number);
    if (number < lastSparse + SPARSE_BLOCKS) return;
    sparse.set(number, hash);
    lastSparse = number;
    if (sparse.size > MAX_SPARSE_HEADS) sparse.delete(sparse.keys().next().value!);
  };

  return {
    get: (number: bigint): Hex | undefined => dense.get(number) ?? sparse.get(number),
    set(number: bigint, hash: Hex): void {
      dense.set(number, hash);
      if (dense.size > DENSE_HEADS) thin();
    },
    /** Forgets the blocks from this number on. */
    dropFrom(first: bigint): void {
      for (const heads of [dense, sparse])
        for (const number of heads.keys()) if (number >= first) heads.delete(number);
      if (lastSparse >= first) lastSparse = [...sparse.keys()].at(-1) ?? -SPARSE_BLOCKS;
    },
    /** Returns the numbers of the remembered blocks, ascending. */
    numbers: (): readonly bigint[] => [...sparse.keys(), ...dense.keys()].toSorted((a, b) => Number(a - b)),
  };
}

/**
 * Finds the last of some blocks that the chain still has, galloping back from the newest: 2 log2(n) requests when n blocks were
 * replaced, and one when none was.
 *
 * @param numbers ascending.
 * @param isKept whether the chain has the block that was announced; if it has one, it also has all earlier ones.
 * @returns the index, or -1 if the chain has none of them.
 */
async function findLastKept(
  numbers: readonly bigint[],
  isKept: (number: bigint) => Promise<boolean>,
): Promise<number> {
  let replaced = numbers.length;
  let kept = numbers.length - 1;
  for (let stride = 1; kept >= 0 && !(await isKept(numbers[kept]!)); stride *= 2) {
    replaced = kept;
    kept = Math.max(-1, kept - stride);
  }
  while (replaced - kept > 1) {
    const middle = Math.floor((kept + replaced) / 2);
    if (await isKept(numbers[middle]!)) kept = middle;
    else replaced = middle;
  }
  return kept;
}
