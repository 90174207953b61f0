import type { Hex } from "viem";
import type { BlockHead, ChainClient, RawLog } from "./client.ts";
import type { LogReader } from "./logReader.ts";
import { createToldHeads, findLastKept } from "./toldHeads.ts";

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
  /**
   * Blocks from this number on have been replaced, or are gone; those that took their place follow.
   *
   * @returns the first block wanted again, if that is an earlier one.
   */
  onReorg?(firstReplaced: bigint): bigint | undefined | Promise<bigint | undefined>;
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

/** Where a follower is on its way. */
interface TrackState {
  /** `idle`: told everything up to the newest head. `advancing`: on the way to `target`. `stopped`: for good. */
  phase: "idle" | "advancing" | "stopped";
  /** First block to be told. */
  next: bigint;
  /** Head to go to next; heads that come meanwhile take its place. */
  target: BlockHead | undefined;
  newest: BlockHead | undefined;
  /** The newest head, while it is below what has been told. */
  shorter: { readonly head: BlockHead; readonly sinceMs: number } | undefined;
}

/** Brings one follower from where it is to the newest head, again and again; heads that come meanwhile are taken together. */
export function createTrack(
  options: TrackOptions,
  follower: Follower,
  readLogs: (block: BlockHead) => Promise<readonly RawLog[]>,
  logReader: LogReader,
): Track {
  const { client, onError, rolledBackAfterMs = ROLLED_BACK_AFTER_MS } = options;
  const told = createToldHeads(follower.known);
  /** Hashes of blocks that receipts told of, by number, until the chain is seen to have them or others. */
  const expected = new Map<bigint, Hex>();
  const state: TrackState = {
    phase: "idle",
    next: follower.fromBlock,
    target: undefined,
    newest: undefined,
    shorter: undefined,
  };
  const isStopped = (): boolean => state.phase === "stopped";

  const advance = (head: BlockHead): void => {
    state.target = head;
    if (state.phase !== "idle") return;
    state.phase = "advancing";
    void run();
  };

  const run = async (): Promise<void> => {
    while (state.target !== undefined && !isStopped()) {
      const head: BlockHead = state.target;
      state.target = undefined;
      try {
        await step(head);
      } catch (error) {
        if (isStopped()) break;
        onError(error);
        state.target ??= head;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (!isStopped()) state.phase = "idle";
  };

  const step = async (head: BlockHead): Promise<void> => {
    const isTold = (): boolean => told.get(head.number) === head.hash && head.number + 1n === state.next;
    if (isTold() && !isAnyExpected((number) => number <= head.number)) {
      state.shorter = undefined;
      return;
    }
    // A chain shorter than where a follower left off: it was set back meanwhile, and what comes now is new.
    if (state.next > head.number + 1n && told.numbers().length === 0) state.next = head.number + 1n;
    await followReorg(head);
    if (isTold()) return;
    if (head.number < state.next && !(await hasGoneBack(head))) return;
    state.shorter = undefined;
    do {
      await tellUpTo(head);
      // What a receipt told of, and wasn't told now, may have been replaced on the way.
      if (isAnyExpected((number) => number <= head.number)) await followReorg(head);
    } while (state.next <= head.number && !isStopped());
  };

  const tellUpTo = async (head: BlockHead): Promise<void> => {
    while (state.next < head.number) {
      const rest = head.number - state.next;
      const behind = client.isOneNode ? rest : rest - BLOCKS_BY_HASH;
      if (behind > 0n) {
        const { blocks, end } = await readRange(state.next, state.next + behind - 1n);
        for (const block of blocks) await tell(block);
        remember(end);
        state.next = end.number + 1n;
      } else {
        const block = await client.getHead(state.next);
        if (block === undefined) throw new Error(`the node has no block ${state.next} yet`);
        await tellByHash(block);
      }
      if (isStopped()) return;
    }
    await tellByHash(head);
  };

  /** Reads a range of blocks, all of one chain: the one that was told before it, and that ends in the block given back. */
  const readRange = async (fromBlock: bigint, lastBlock: bigint) => {
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
    // A range that ends beyond the chain says nothing of it, and other blocks may come there.
    const isOne =
      end !== undefined &&
      ahead?.hash === end.hash &&
      parent?.hash === told.get(before) &&
      (newest?.number !== toBlock || newest.hash === end.hash);
    if (!isOne) throw new Error(`the chain has changed before block ${toBlock + 1n}`);
    return { blocks, end };
  };

  const isAnyExpected = (test: (number: bigint, hash: Hex) => boolean): boolean =>
    [...expected].some(([number, hash]) => test(number, hash));

  const tellByHash = async (head: BlockHead): Promise<void> => {
    const { number, hash } = head;
    const logs = await readLogs(head);
    const wanted = new Set(follower.addresses().map((address) => address.toLowerCase()));
    await tell({ number, hash, logs: logs.filter((log) => wanted.has(log.address)) });
    state.next = number + 1n;
  };

  const tell = async (block: WatchedBlock): Promise<void> => {
    if (isStopped()) return;
    await follower.onBlock(block);
    remember(block);
  };

  const remember = ({ number, hash }: { readonly number: bigint; readonly hash: Hex }): void => {
    told.set(number, hash);
    if (expected.get(number) === hash) expected.delete(number);
  };

  /** Goes back over blocks told, or told of by receipts, that the chain no longer has. */
  const followReorg = async (head: BlockHead): Promise<void> => {
    const isNext = head.number === state.next && told.get(head.number - 1n) === head.parentHash;
    const isInDoubt = isAnyExpected(
      (number, hash) => number < head.number || (number === head.number && hash !== head.hash),
    );
    if (isNext && !isInDoubt) return;
    const hashAt = async (number: bigint): Promise<Hex | undefined> =>
      number === head.number ? head.hash : (await client.getHead(number))?.hash;
    let firstReplaced = await findFirstReplaced(hashAt);
    for (const [number, hash] of expected) {
      const present = number > head.number ? undefined : await hashAt(number);
      if (present === undefined || (present === hash && number >= state.next)) continue;
      expected.delete(number);
      if (present !== hash && (firstReplaced === undefined || number < firstReplaced)) firstReplaced = number;
    }
    if (firstReplaced !== undefined) await rewind(firstReplaced);
  };

  /** First block in whose place the chain has another one, as far as what was told shows it. */
  const findFirstReplaced = async (
    hashAt: (number: bigint) => Promise<Hex | undefined>,
  ): Promise<bigint | undefined> => {
    const numbers = told.numbers();
    const kept = await findLastKept(numbers, async (number) => (await hashAt(number)) === told.get(number));
    const lost = numbers[kept + 1];
    // A node that lags has no block there: only another one in its place is a sign.
    if (lost === undefined || (await hashAt(lost)) === undefined) return undefined;
    // Blocks in between had no logs and were not told; those in their place may have.
    if (kept >= 0) return numbers[kept]! + 1n;
    return follower.fromBlock < lost ? follower.fromBlock : lost;
  };

  const rewind = async (firstReplaced: bigint): Promise<void> => {
    const wanted = (await follower.onReorg?.(firstReplaced)) ?? firstReplaced;
    told.dropFrom(firstReplaced);
    const first = wanted < firstReplaced ? wanted : firstReplaced;
    if (first < state.next) state.next = first;
    state.shorter = undefined;
  };

  /** A head below what was told: of a node that lags, or of a chain that was set back. Time tells; then what is told anew begins after the last block that is still there. */
  const hasGoneBack = async (head: BlockHead): Promise<boolean> => {
    // Nothing beyond it has been told: whoever wants only what comes next waits for that.
    if (head.number + 1n === state.next) return false;
    state.shorter = { head, sinceMs: state.shorter?.sinceMs ?? Date.now() };
    if (Date.now() - state.shorter.sinceMs < rolledBackAfterMs) return false;
    // What was asked earlier may be answered later than what was pushed since.
    const present = await client.getHead("latest");
    if (present === undefined || present.number >= state.next) return false;
    const kept = told.numbers().findLast((number) => number <= head.number);
    if (kept !== undefined) await rewind(kept + 1n);
    else await rewind(follower.fromBlock <= head.number ? follower.fromBlock : head.number + 1n);
    return state.next <= head.number;
  };

  return {
    addresses: follower.addresses,
    advance(head) {
      state.newest = head;
      advance(head);
    },
    expect(number, hash) {
      // Who is not told of reorganisations knows nothing from receipts.
      if (follower.onReorg === undefined || told.get(number) === hash) return;
      expected.set(number, hash);
      if (number < state.next && state.newest !== undefined) advance(state.newest);
    },
    remind() {
      if (state.shorter !== undefined && state.phase === "idle") advance(state.shorter.head);
    },
    stop() {
      state.phase = "stopped";
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
