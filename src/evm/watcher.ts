import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { createBoundedMap } from "../lib/boundedMap.ts";
import { shareByKey } from "../lib/memo.ts";
import type { BlockHead, ChainClient } from "./client.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { createLogReader } from "./logReader.ts";
import {
  createBlockReader,
  type BlockRef,
  type Follower,
  type BlockReader,
  type BlockReaderOptions,
} from "./blockReader.ts";
import { fromHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";

/** Blocks whose logs are kept for followers that reach them a little later. */
const SHARED_BLOCKS = 8;

/**
 * Pauses before a block's logs are requested again, if its bloom filter suggests logs that the node didn't return: some of the nodes
 * behind one URL may lag, and a node that lacks a block says that it has no logs.
 */
const LOOK_AGAIN_MS = [250, 500, 1_000, 1_000, 1_000] as const;
/** Longest time between two sightings of the head that counts as watched: a working node answers a poll sooner. */
const MAX_WATCHED_GAP_MS = 10_000;
/** A block is seen a little after its timestamp, and the clock behind the timestamps of an idle chain may be slow. */
const CLOCK_LEEWAY_SECONDS = 15;
/** Once the chain is this far ahead, every working node has the block. */
const BLOCKS_TO_SPREAD = 3n;

/** Follows one chain on behalf of any number of followers, with one head subscription for all of them. */
export interface ChainWatcher {
  follow(follower: Follower): () => void;
  /**
   * Takes note of a block named in a receipt, which may not have been announced yet. If it turns out not to be on the chain, that is a
   * reorg like any other: what is known from receipts is taken back as well.
   */
  expect(block: BlockRef): void;
  /**
   * Reads the logs of the newest blocks again, from every node, and announces those that were omitted.
   *
   * @param from first block whose logs are announced again in any case.
   */
  reread(from?: bigint): void;
  /** Returns the newest head seen, or `undefined` before the first. */
  head(): SeenHead | undefined;
  watched(): Watched;
  close(): void;
}

/** For how long the head has been watched, in milliseconds. Time in which the node didn't answer, or this process didn't run, doesn't count. */
export interface Watched {
  readonly totalMs: number;
  /** Watched since the last such time; `Infinity` if there was none. */
  readonly sinceGapMs: number;
}

/** A head, with the times at which it was first and last seen, by `performance.now()`. */
export interface SeenHead extends BlockHead {
  readonly firstSeenAtMs: number;
  readonly seenAtMs: number;
}

export interface ChainWatcherOptions extends BlockReaderOptions {
  /** Interval between polls of the newest block: the only source if heads aren't pushed, a safety net if they are. */
  readonly pollIntervalMs: number;
  /** Interval at which the logs of the newest blocks are read again, in case a node omits some. Default: never. */
  readonly rereadIntervalMs?: number | undefined;
  /** Called when the head was out of sight: a poll failed, or the process didn't run. Default: nothing. */
  readonly onGap?: () => void;
}

/**
 * Returns a lower bound for the timestamp of the next block, Unix time in seconds. An idle chain has no new blocks, but its clock advances
 * for as long as the node reports the same head.
 */
export function chainSeconds({ timestamp, firstSeenAtMs, seenAtMs }: SeenHead): number {
  return Number(timestamp) + Math.max(0, (seenAtMs - firstSeenAtMs) / 1000 - CLOCK_LEEWAY_SECONDS);
}

/** Starts to follow a chain's head. */
export function createChainWatcher(options: ChainWatcherOptions): ChainWatcher {
  const { client, pollIntervalMs, rereadIntervalMs, onError, onGap = () => {} } = options;
  const readers = new Set<BlockReader>();
  const logReader = createLogReader();
  const sightings = createSightings(onGap);
  const isSpread = (number: bigint): boolean =>
    closed || (sightings.newest !== undefined && sightings.newest.number >= number + BLOCKS_TO_SPREAD);
  const readLogs = shareLogs(client, readers, isSpread);
  let closed = false;
  let unsubscribe: (() => void) | undefined;

  const take = (head: BlockHead): void => {
    if (closed) return;
    sightings.see(head);
    for (const reader of readers) reader.advance(head);
  };
  const poll = async (): Promise<void> => {
    try {
      unsubscribe ??= await client.subscribeHeads(take);
      const before = sightings.newest;
      const head = await client.getHead("latest");
      // A head pushed meanwhile may be newer than this answer.
      if (head === undefined || sightings.newest !== before) return;
      if (head.hash !== before?.hash) take(head);
      else {
        sightings.see(head);
        for (const reader of readers) reader.remind();
      }
    } catch (error) {
      if (!closed) {
        onError(error);
        onGap();
      }
    } finally {
      if (closed) unsubscribe?.();
      else timer = setTimeout(() => void poll(), pollIntervalMs);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  void poll();
  const reread = (from?: bigint): void => {
    for (const reader of readers) reader.reread(from);
  };
  const rereading =
    rereadIntervalMs === undefined ? undefined : setInterval(() => reread(), rereadIntervalMs).unref();

  return {
    follow(follower) {
      const reader = createBlockReader(options, follower, readLogs, logReader);
      readers.add(reader);
      if (sightings.newest !== undefined) reader.advance(sightings.newest);
      return () => {
        readers.delete(reader);
        reader.stop();
      };
    },
    expect({ blockNumber: number, blockHash: hash }) {
      for (const reader of readers) reader.expect(number, hash);
    },
    reread,
    head: () => sightings.newest,
    watched: () => sightings.watched,
    close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(rereading);
      unsubscribe?.();
      for (const reader of readers) reader.stop();
      readers.clear();
    },
  };
}

/** Creates the memory of when the head was seen. */
function createSightings(onGap: () => void) {
  let newest: SeenHead | undefined;
  let watchedMs = 0;
  /** `watchedMs` at the end of the last gap. */
  let gapEndMs = -Infinity;
  return {
    get newest() {
      return newest;
    },
    get watched(): Watched {
      return { totalMs: watchedMs, sinceGapMs: watchedMs - gapEndMs };
    },
    see(head: BlockHead): void {
      const now = performance.now();
      const elapsedMs = now - (newest?.seenAtMs ?? now);
      watchedMs += Math.min(elapsedMs, MAX_WATCHED_GAP_MS);
      if (elapsedMs > MAX_WATCHED_GAP_MS) {
        gapEndMs = watchedMs;
        onGap();
      }
      const firstSeenAtMs = head.hash === newest?.hash ? newest.firstSeenAtMs : now;
      newest = { ...head, firstSeenAtMs, seenAtMs: now };
    },
  };
}

/** Reads a block's logs once for all followers: most of them are at the same block at the same time. */
function shareLogs(
  client: ChainClient,
  readers: ReadonlySet<BlockReader>,
  isSpread: (block: bigint) => boolean,
): (block: BlockHead) => Promise<readonly RawLog[]> {
  const recent = createBoundedMap<string, Promise<readonly RawLog[]>>(SHARED_BLOCKS);
  const read = async (block: BlockHead, addresses: readonly Hex[]): Promise<readonly RawLog[]> => {
    const { number, hash, logsBloom } = block;
    let logs = await client.getLogs({ addresses, blockHash: hash });
    for (const pauseMs of LOOK_AGAIN_MS) {
      if (logs.length > 0 || isSpread(number) || !mayHaveLogsOf(logsBloom, addresses)) break;
      await sleep(pauseMs, undefined, { ref: false });
      logs = await client.getLogs({ addresses, blockHash: hash });
    }
    // For a block it does not know, such as while a chain is being restored, Anvil returns no logs; other nodes return an error.
    const isEmpty = logs.length === 0 && !client.isSureOfLogs;
    if (isEmpty && (await client.getHead(number))?.hash !== hash)
      throw new Error(`the node does not have block ${number} any more`);
    return logs;
  };
  return (block) => {
    const addresses = [...new Set([...readers].flatMap((reader) => reader.addresses()))];
    // A follower that joins later with other contracts must not get logs that were read without them.
    const key = `${block.hash} ${addresses.join()}`;
    return shareByKey(recent, key, () => read(block, addresses));
  };
}

const BLOOM_BYTES = 256;
/** Each value sets three bits, chosen by the first six bytes of its hash. */
const HASH_BYTES_USED = 6;

/**
 * Whether a block may have logs of one of these contracts, according to its header's bloom filter (Yellow Paper, 4.4.3). For a valid
 * filter, `false` is certain; in a crowded block, `true` may be a false positive.
 *
 * @param logsBloom 256 bytes as hex; anything else that a node returned says nothing, and gives `false`.
 */
export function mayHaveLogsOf(logsBloom: unknown, addresses: readonly Hex[]): boolean {
  if (typeof logsBloom !== "string" || !/^0x[0-9a-fA-F]{512}$/.test(logsBloom) || /^0x0+$/.test(logsBloom))
    return false;
  const bloom = fromHexText(logsBloom as Hex);
  return addresses.some((address) => hasBits(bloom, keccak256(fromHexText(address))));
}

function hasBits(bloom: Uint8Array, hash: Uint8Array): boolean {
  for (let i = 0; i < HASH_BYTES_USED; i += 2) {
    const bit = ((hash[i]! << 8) | hash[i + 1]!) % (BLOOM_BYTES * 8);
    if ((bloom[BLOOM_BYTES - 1 - (bit >> 3)]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
