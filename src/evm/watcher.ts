import type { Hex } from "viem";
import type { BlockHead, ChainClient, RawLog } from "./client.ts";
import { createLogReader } from "./logReader.ts";
import { createTrack } from "./track.ts";
import type { BlockRef, Follower, Track, TrackOptions } from "./track.ts";

export type { Follower, WatchedBlock } from "./track.ts";

/** Blocks whose logs are kept for the followers that come to them a little later. */
const SHARED_BLOCKS = 8;

/** Follows one chain and tells any number of followers; one head subscription for all of them. */
export interface ChainWatcher {
  follow(follower: Follower): () => void;
  /**
   * Takes word, from a receipt, of a block that may not have been told yet. If it turns out not to be on the chain, that is a
   * reorganisation like any other: what is known from receipts is taken back, too.
   */
  expect(block: BlockRef): void;
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
export interface ChainWatcherOptions extends TrackOptions {
  /** Pause between looks at the newest block where heads aren't pushed, and the safety net where they are. */
  readonly pollIntervalMs: number;
}

/** Starts to follow a chain's head. */
export function createChainWatcher(options: ChainWatcherOptions): ChainWatcher {
  const { client, pollIntervalMs, onError } = options;
  const tracks = new Set<Track>();
  const readLogs = shareLogs(client, tracks);
  const logReader = createLogReader();
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
      const before = newest;
      const head = await client.getHead("latest");
      // What was pushed meanwhile is newer than the answer may be.
      if (head === undefined || newest !== before) return;
      if (head.hash !== newest?.hash) take(head);
      else {
        newest = { ...newest, seenAtMs: Date.now() };
        for (const track of tracks) track.remind();
      }
    } catch (error) {
      if (!closed) onError(error);
    } finally {
      if (closed) unsubscribe?.();
      else timer = setTimeout(() => void poll(), pollIntervalMs);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  void poll();

  return {
    follow(follower) {
      const track = createTrack(options, follower, readLogs, logReader);
      tracks.add(track);
      if (newest !== undefined) track.advance(newest);
      return () => {
        tracks.delete(track);
        track.stop();
      };
    },
    expect({ blockNumber: number, blockHash: hash }) {
      for (const track of tracks) track.expect(number, hash);
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

/** Reads the logs of a block once for all followers that are told of it: most are told of the same block at the same time. */
function shareLogs(
  client: ChainClient,
  tracks: ReadonlySet<Track>,
): (block: BlockHead) => Promise<readonly RawLog[]> {
  const recent = new Map<string, Promise<readonly RawLog[]>>();
  const read = async ({ number, hash }: BlockHead, addresses: readonly Hex[]): Promise<readonly RawLog[]> => {
    const logs = await client.getLogs({ addresses, blockHash: hash });
    // Of a block that it does not know, as while a chain is brought back, Anvil has no logs; other nodes answer with an error.
    const isEmpty = logs.length === 0 && !client.isSureOfLogs;
    if (isEmpty && (await client.getHead(number))?.hash !== hash)
      throw new Error(`the node does not have block ${number} any more`);
    return logs;
  };
  return (block) => {
    const addresses = [...new Set([...tracks].flatMap((track) => track.addresses()))];
    // Whoever joins later with other contracts must not be given logs that were read without them.
    const key = `${block.hash} ${addresses.join()}`;
    let logs = recent.get(key);
    if (logs === undefined) {
      logs = read(block, addresses);
      recent.set(key, logs);
      if (recent.size > SHARED_BLOCKS) recent.delete(recent.keys().next().value!);
      logs.catch(() => recent.delete(key));
    }
    return logs;
  };
}
