import type { Hex } from "viem";
import type { BlockHead, ChainClient, RawLog } from "./client.ts";

/** Heads kept to find the common ancestor in a reorg; a deeper one is followed from the oldest kept. */
const REMEMBERED_HEADS = 256;
/** Blocks asked for in one `eth_getLogs`; public nodes refuse much larger ranges. */
const MAX_RANGE_BLOCKS = 1_000n;
/**
 * Newest blocks that are asked for one by one, by hash, where several nodes answer: one that lacks a block says so then,
 * while it takes a range to end where its own chain does and leaves the rest out without a word.
 */
const BLOCKS_BY_HASH = 16n;
/** Blocks whose logs are kept for the followers that come to them a little later. */
const SHARED_BLOCKS = 8;
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
  /** A block with logs, or the newest block (with or without). */
  onBlock(block: WatchedBlock): void | Promise<void>;
  /** Blocks from this number on have been replaced; those that took their place follow. */
  onReorg?(firstReplaced: bigint): void | Promise<void>;
}

/** Follows one chain and tells any number of followers; one head subscription for all of them. */
export interface ChainWatcher {
  follow(follower: Follower): () => void;
  /** Newest head seen, or `undefined` before the first. */
  head(): SeenHead | undefined;
  close(): void;
}

/** A head, with the Unix times in milliseconds at which it was seen for the first and for the last time. */
export interface SeenHead extends BlockHead {
  readonly firstSeenAtMs: number;
  readonly seenAtMs: number;
}

/** Options of {@link createChainWatcher}. */
export interface ChainWatcherOptions {
  readonly client: ChainClient;
  /** Pause between looks at the newest block where heads aren't pushed, and the safety net where they are. */
  readonly pollIntervalMs: number;
  /** Told of every failed step; it is tried again by itself. */
  readonly onError: (error: unknown) => void;
  /** How long the chain must have been shorter than before to count as rolled back. Default 15,000. */
  readonly rolledBackAfterMs?: number;
}

/** Starts to follow a chain's head. */
export function createChainWatcher(options: ChainWatcherOptions): ChainWatcher {
  const { client, pollIntervalMs, onError } = options;
  const tracks = new Set<Track>();
  const readLogs = shareLogs(client, tracks);
  let newest: SeenHead | undefined;
  let closed = false;
  let unsubscribe: (() => void) | undefined;

  const take = (head: BlockHead): void => {
    if (closed) return;
    const now = Date.now();
    newest = {
      ...head,
      firstSeenAtMs: head.hash === newest?.hash ? newest.firstSeenAtMs : now,
      seenAtMs: now,
    };
    for (const track of tracks) track.advance(head);
  };
  const poll = async (): Promise<void> => {
    try {
      unsubscribe ??= await client.subscribeHeads(take);
      const head = await client.getHead("latest");
      if (head !== undefined && head.hash !== newest?.hash) take(head);
      else if (head !== undefined && newest !== undefined) {
        newest = { ...newest, seenAtMs: Date.now() };
        for (const track of tracks) track.remind();
      }
    } catch (error) {
      if (!closed) onError(error);
    }
    if (closed) unsubscribe?.();
    else timer = setTimeout(() => void poll(), pollIntervalMs);
  };
  let timer: NodeJS.Timeout | undefined;
  void poll();

  return {
    follow(follower) {
      const track = createTrack(options, follower, readLogs);
      tracks.add(track);
      if (newest !== undefined) track.advance(newest);
      return () => {
        tracks.delete(track);
        track.stop();
      };
    },
    head: () => newest,
    close() {
      closed = true;
      clearTimeout(timer);
      unsubscribe?.();
      for (const track of tracks) track.stop();
      tracks.clear();
    },
  };
}

interface Track {
  addresses(): readonly Hex[];
  advance(head: BlockHead): void;
  /** The head is still the one told last. */
  remind(): void;
  stop(): void;
}

/** Reads the logs of a block once for all followers that are told of it: most are told of the same block at the same time. */
function shareLogs(
  client: ChainClient,
  tracks: ReadonlySet<Track>,
): (blockHash: Hex) => Promise<readonly RawLog[]> {
  const recent = new Map<string, Promise<readonly RawLog[]>>();
  return (blockHash) => {
    const addresses = [...new Set([...tracks].flatMap((track) => track.addresses()))];
    // Whoever joins later with other contracts must not be given logs that were read without them.
    const key = `${blockHash} ${addresses.join()}`;
    let logs = recent.get(key);
    if (logs === undefined) {
      logs = client.getLogs({ addresses, blockHash });
      recent.set(key, logs);
      if (recent.size > SHARED_BLOCKS) recent.delete(recent.keys().next().value!);
      logs.catch(() => recent.delete(key));
    }
    return logs;
  };
}

/** Brings one follower from where it is to the newest head, again and again; heads that come meanwhile are taken together. */
function createTrack(
  options: ChainWatcherOptions,
  follower: Follower,
  readLogs: (blockHash: Hex) => Promise<readonly RawLog[]>,
): Track {
  const { client, onError, rolledBackAfterMs = ROLLED_BACK_AFTER_MS } = options;
  /** Hashes of the blocks told, by number: the newest last. */
  const told = new Map<bigint, Hex>();
  let next = follower.fromBlock;
  let target: BlockHead | undefined;
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
    if (told.get(head.number) === head.hash && head.number + 1n === next) {
      shorter = undefined;
      return;
    }
    // A chain shorter than where a follower left off: it was set back meanwhile, and what comes now is new.
    if (told.size === 0 && next > head.number + 1n) next = head.number + 1n;
    await followReorg(head);
    if (head.number < next && !(await hasGoneBack(head))) return;
    shorter = undefined;
    while (next < head.number) {
      const rest = head.number - next;
      const behind = client.isOneNode ? rest : rest - BLOCKS_BY_HASH;
      if (behind > 0n) {
        const last = next + (behind < MAX_RANGE_BLOCKS ? behind : MAX_RANGE_BLOCKS) - 1n;
        const logs = await client.getLogs({
          addresses: follower.addresses(),
          fromBlock: next,
          toBlock: last,
        });
        for (const block of groupByBlock(logs)) await tell(block);
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

  const tellByHash = async ({ number, hash }: BlockHead): Promise<void> => {
    const logs = await readLogs(hash);
    const wanted = new Set(follower.addresses().map((address) => address.toLowerCase()));
    await tell({ number, hash, logs: logs.filter((log) => wanted.has(log.address)) });
    next = number + 1n;
  };

  const tell = async (block: WatchedBlock): Promise<void> => {
    if (stopped) return;
    await follower.onBlock(block);
    told.set(block.number, block.hash);
    if (told.size > REMEMBERED_HEADS) told.delete(told.keys().next().value!);
  };

  /** Goes back over blocks told that the chain no longer has. */
  const followReorg = async (head: BlockHead): Promise<void> => {
    if (head.number === next && told.get(head.number - 1n) === head.parentHash) return;
    let firstReplaced: bigint | undefined;
    for (const [number, hash] of [...told].toReversed()) {
      const present = number === head.number ? head.hash : (await client.getHead(number))?.hash;
      if (present === hash) {
        // Blocks in between had no logs and were not told; those in their place may have.
        if (firstReplaced !== undefined) firstReplaced = number + 1n;
        break;
      }
      // A node that lags has no block there: only another one in its place is a sign.
      if (present !== undefined) firstReplaced = number;
    }
    if (firstReplaced !== undefined) await rewind(firstReplaced);
  };

  const rewind = async (firstReplaced: bigint): Promise<void> => {
    await follower.onReorg?.(firstReplaced);
    for (const number of told.keys()) if (number >= firstReplaced) told.delete(number);
    next = firstReplaced;
    shorter = undefined;
  };

  /** A head below what was told: of a node that lags, or of a chain that was set back. Time tells; then what is told anew begins after the last block that is still there. */
  const hasGoneBack = async (head: BlockHead): Promise<boolean> => {
    shorter = { head, sinceMs: shorter?.sinceMs ?? Date.now() };
    if (Date.now() - shorter.sinceMs < rolledBackAfterMs) return false;
    const kept = [...told.keys()].findLast((number) => number <= head.number);
    if (kept !== undefined) await rewind(kept + 1n);
    else await rewind(follower.fromBlock <= head.number ? follower.fromBlock : head.number + 1n);
    return next <= head.number;
  };

  return {
    addresses: follower.addresses,
    advance(head) {
      target = head;
      if (!running && !stopped) void run();
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
