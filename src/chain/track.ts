import type { Hex } from "viem";
import type { BlockHead, ChainClient, RawLog } from "./client.ts";

/**
 * Heads kept to find the common ancestor in a reorg; a deeper one is followed from the oldest kept. More than the deepest
 * finality depth.
 */
const REMEMBERED_HEADS = 512;
/** Blocks asked for in one `eth_getLogs`; public nodes refuse much larger ranges. */
const MAX_RANGE_BLOCKS = 1_000n;
/**
 * Newest blocks that are asked for one by one, by hash, where several nodes answer: one that lacks a block says so then,
 * while it takes a range to end where its own chain does and leaves the rest out without a word.
 */
const BLOCKS_BY_HASH = 16n;
/** Pause before a failed step is tried again. */
const RETRY_MS = 250;
/** A chain that has been shorter than before for so long has gone back: a node that lags catches up sooner. */
const ROLLED_BACK_AFTER_MS = 15_000;

/** A block on the way to a follower: its logs of the contracts watched, in order. */
export interface WatchedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly logs: readonly RawLog[];
}

/** What a follower is told. Calls come one after the other; the next waits for the promise of the one before. */
export interface Follower {
  /** Contracts whose logs are wanted; asked anew for every block. */
  readonly addresses: () => readonly Hex[];
  /** First block wanted. */
  readonly fromBlock: bigint;
  /** Hashes of blocks that were told before, to an earlier process: a reorganisation that has taken one is told first. */
  readonly known?: ReadonlyMap<bigint, Hex>;
  /** A block with logs, or the newest block (with or without). */
  onBlock(block: WatchedBlock): void | Promise<void>;
  /** Blocks from this number on have been replaced; those that took their place follow. */
  onReorg?(firstReplaced: bigint): void | Promise<void>;
}

/** The block that a receipt names. */
export interface BlockRef {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** Options of {@link createTrack}. */
export interface TrackOptions {
  readonly client: ChainClient;
  /** Told of every failed step; it is tried again by itself. */
  readonly onError: (error: unknown) => void;
  /** How long the chain must have been shorter than before to count as rolled back: 0 where no node lags. Default 15,000. */
  readonly rolledBackAfterMs?: number;
}

/** One follower on its way along the chain. */
export interface Track {
  addresses(): readonly Hex[];
  /** See `ChainWatcher.expect`. */
  expect(number: bigint, hash: Hex): void;
  advance(head: BlockHead): void;
  /** The head is still the one told last. */
  remind(): void;
  stop(): void;
}

/** Brings one follower from where it is to the newest head, again and again; heads that come meanwhile are taken together. */
export function createTrack(
  options: TrackOptions,
  follower: Follower,
  readLogs: (blockHash: Hex) => Promise<readonly RawLog[]>,
): Track {
  const { client, onError, rolledBackAfterMs = ROLLED_BACK_AFTER_MS } = options;
  /** Hashes of the blocks told, by number. */
  const told = new Map(follower.known);
  let next = follower.fromBlock;
  let target: BlockHead | undefined;
  let newest: BlockHead | undefined;
  /** Hashes of blocks that receipts told of, by number, until the chain is seen to have them or others. */
  const expected = new Map<bigint, Hex>();
  /** The newest head, while it is below what has been told. */
  let shorter: { readonly head: BlockHead; readonly sinceMs: number } | undefined;
  let running = false;
  let stopped = false;

  const run = async (): Promise<void> => {
    running = true;
    while (target !== undefined && !stopped) {
      const head: BlockHead = target;
      target = undefined;
      try {
        await step(head);
      } catch (error) {
        if (stopped) break;
        onError(error);
        target ??= head;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    running = false;
  };

  const step = async (head: BlockHead): Promise<void> => {
    const isTold = (): boolean => told.get(head.number) === head.hash && head.number + 1n === next;
    if (isTold() && !isAnyExpected((number) => number <= head.number)) {
      shorter = undefined;
      return;
    }
    // A chain shorter than where a follower left off: it was set back meanwhile, and what comes now is new.
    if (told.size === 0 && next > head.number + 1n) next = head.number + 1n;
    await followReorg(head);
    if (isTold()) return;
    if (head.number < next && !(await hasGoneBack(head))) return;
    shorter = undefined;
    do {
      await tellUpTo(head);
      // What a receipt told of, and wasn't told now, may have been replaced on the way.
      if (isAnyExpected((number) => number <= head.number)) await followReorg(head);
    } while (next <= head.number && !stopped);
  };

  const tellUpTo = async (head: BlockHead): Promise<void> => {
    while (next < head.number) {
      const rest = head.number - next;
      const behind = client.isOneNode ? rest : rest - BLOCKS_BY_HASH;
      if (behind > 0n) {
        const last = next + (behind < MAX_RANGE_BLOCKS ? behind : MAX_RANGE_BLOCKS) - 1n;
        const range = { addresses: follower.addresses(), fromBlock: next, toBlock: last };
        const [blocks, end] = [groupByBlock(await client.getLogs(range)), await client.getHead(last)];
        const newestTold = blocks.at(-1);
        // A range that ends beyond the chain says nothing of it, and other blocks may come there.
        if (end === undefined || (newestTold?.number === last && newestTold.hash !== end.hash))
          throw new Error(`the chain has changed before block ${last + 1n}`);
        for (const block of blocks) await tell(block);
        remember(end);
        next = last + 1n;
      } else {
        const block = await client.getHead(next);
        if (block === undefined) throw new Error(`the node has no block ${next} yet`);
        await tellByHash(block);
      }
      if (stopped) return;
    }
    await tellByHash(head);
  };

  const isAnyExpected = (test: (number: bigint, hash: Hex) => boolean): boolean =>
    [...expected].some(([number, hash]) => test(number, hash));

  const tellByHash = async ({ number, hash }: BlockHead): Promise<void> => {
    const logs = await readLogs(hash);
    const wanted = new Set(follower.addresses().map((address) => address.toLowerCase()));
    await tell({ number, hash, logs: logs.filter((log) => wanted.has(log.address)) });
    next = number + 1n;
  };

  const tell = async (block: WatchedBlock): Promise<void> => {
    if (stopped) return;
    await follower.onBlock(block);
    remember(block);
  };

  const remember = ({ number, hash }: { readonly number: bigint; readonly hash: Hex }): void => {
    told.set(number, hash);
    if (expected.get(number) === hash) expected.delete(number);
    if (told.size > REMEMBERED_HEADS) told.delete(told.keys().next().value!);
  };

  /** Goes back over blocks told, or told of by receipts, that the chain no longer has. */
  const followReorg = async (head: BlockHead): Promise<void> => {
    const isNext = head.number === next && told.get(head.number - 1n) === head.parentHash;
    const isInDoubt = isAnyExpected(
      (number, hash) => number < head.number || (number === head.number && hash !== head.hash),
    );
    if (isNext && !isInDoubt) return;
    const hashAt = async (number: bigint): Promise<Hex | undefined> =>
      number === head.number ? head.hash : (await client.getHead(number))?.hash;
    let firstReplaced: bigint | undefined;
    for (const [number, hash] of [...told].toSorted(([a], [b]) => Number(b - a))) {
      const present = await hashAt(number);
      if (present === hash) {
        // Blocks in between had no logs and were not told; those in their place may have.
        if (firstReplaced !== undefined) firstReplaced = number + 1n;
        break;
      }
      // A node that lags has no block there: only another one in its place is a sign.
      if (present !== undefined) firstReplaced = number;
    }
    for (const [number, hash] of expected) {
      const present = number > head.number ? undefined : await hashAt(number);
      if (present === undefined || (present === hash && number >= next)) continue;
      expected.delete(number);
      if (present !== hash && (firstReplaced === undefined || number < firstReplaced)) firstReplaced = number;
    }
    if (firstReplaced !== undefined) await rewind(firstReplaced);
  };

  const rewind = async (firstReplaced: bigint): Promise<void> => {
    await follower.onReorg?.(firstReplaced);
    for (const number of told.keys()) if (number >= firstReplaced) told.delete(number);
    if (firstReplaced < next) next = firstReplaced;
    shorter = undefined;
  };

  /** A head below what was told: of a node that lags, or of a chain that was set back. Time tells; then what is told anew begins after the last block that is still there. */
  const hasGoneBack = async (head: BlockHead): Promise<boolean> => {
    // Nothing beyond it has been told: whoever wants only what comes next waits for that.
    if (head.number + 1n === next) return false;
    shorter = { head, sinceMs: shorter?.sinceMs ?? Date.now() };
    if (Date.now() - shorter.sinceMs < rolledBackAfterMs) return false;
    // What was asked earlier may be answered later than what was pushed since.
    const present = await client.getHead("latest");
    if (present === undefined || present.number >= next) return false;
    const kept = [...told.keys()].findLast((number) => number <= head.number);
    if (kept !== undefined) await rewind(kept + 1n);
    else await rewind(follower.fromBlock <= head.number ? follower.fromBlock : head.number + 1n);
    return next <= head.number;
  };

  const advance = (head: BlockHead): void => {
    newest = head;
    target = head;
    if (!running && !stopped) void run();
  };

  return {
    addresses: follower.addresses,
    advance,
    expect(number, hash) {
      // Who is not told of reorganisations knows nothing from receipts.
      if (follower.onReorg === undefined || told.get(number) === hash) return;
      expected.set(number, hash);
      if (number < next && newest !== undefined) advance(newest);
    },
    remind() {
      if (shorter !== undefined && !running && !stopped) {
        target = shorter.head;
        void run();
      }
    },
    stop() {
      stopped = true;
    },
  };
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
