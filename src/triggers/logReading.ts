import { createMutex } from "../lib/mutex.ts";
import type { Hex } from "viem";
import { createFinality } from "../evm/finality.ts";
import { createChainWatcher, type ChainWatcher } from "../evm/watcher.ts";
import {
  deleteUnsentRuns,
  findLogCursor,
  listRevertedRuns,
  listSeenRuns,
  makeDue,
  noteReplay,
  noteReverted,
  saveLogCursor,
  type LogCursor,
  type StoredLogTrigger,
} from "../store/logTriggers.ts";
import type { Store } from "../store/store.ts";
import { addRevertedEvents } from "./logActor.ts";
import { addRuns, findRuns } from "./logRuns.ts";
import type { LogSelection } from "./logSelection.ts";
import type { ObservedChain } from "./observedChain.ts";
import type { WatchedBlock } from "../evm/blockReader.ts";

/** Pause between looks at the node's safe block. */
const LOOK_INTERVAL_MS = 1_000;
/** Runs that become due in one query. */
const PAGE = 200;
export interface LogReadingOptions {
  readonly network: string;
  readonly chain: ObservedChain;
  readonly store: Store;
  /** Called when runs have become due. */
  readonly onDue: () => void;
  /** Called when an event is stored. */
  readonly onEvent: () => void;
  readonly onError: (error: unknown) => void;
}

/** Reads the logs of one network for all of its triggers. */
export interface LogReading {
  /** Sets the triggers that are not paused. */
  setTriggers(triggers: readonly StoredLogTrigger[]): void;
  stop(): Promise<void>;
}

/**
 * Starts to read a network's logs where the last reading ended: each new block once for all triggers, an outage in ranges that the node
 * accepts. A log becomes a run before the block counts as read. Triggers that are new, or want earlier blocks, are shown those first.
 */
export function startLogReading(options: LogReadingOptions): LogReading {
  const { network, chain, store, onError } = options;
  const { client, chainId, terms, isEmbedded } = chain;
  const watcher: ChainWatcher = createChainWatcher({
    client,
    pollIntervalMs: terms.pollIntervalMs,
    rolledBackAfterMs: terms.rolledBackAfterMs,
    rereadIntervalMs: terms.rereadIntervalMs,
    onError,
  });
  const finding = { network, chainId, isEmbedded, db: store.db };
  let triggers: readonly StoredLogTrigger[] = [];
  let cursor: LogCursor | undefined;
  let saved: LogCursor | undefined;
  let stopFollowing: (() => void)[] = [];
  let isStopped = false;
  /** Counts the followers: one that was replaced records nothing. */
  let turns = 0;
  let timer: NodeJS.Timeout | undefined;

  const ripen = createRipening(options, () => watcher.head());
  /** What is under way, one after another. */
  const inTurn = createMutex();
  const run = (step: () => Promise<void>): void => {
    inTurn(async () => (isStopped ? undefined : await step())).catch(onError);
  };

  const record = async (block: WatchedBlock, wanting: readonly StoredLogTrigger[]): Promise<void> => {
    // A node may have omitted logs of earlier blocks, which follow.
    const read = Number(block.number) < cursor!.block ? cursor! : moveCursor(cursor!, block);
    const runs = await findRuns(finding, block, wanting);
    if (runs.length > 0) {
      const isTold = await store.write(async (db) => {
        await saveLogCursor(db, network, read);
        return await addRuns(db, runs);
      });
      if (isTold) options.onEvent();
      options.onDue();
      saved = read;
    }
    cursor = read;
  };

  /** Takes back what a reorg removed: runs without a request end, the others are reported. */
  const takeBack = async (from: bigint): Promise<undefined> => {
    const before = moveCursor(cursor!, { number: from - 1n });
    const later = await listRevertedRuns(store.db, { network, from: Number(from) });
    const hashes = await readHashes(client, later);
    // A replay may have read the blocks that came instead.
    const lost = later.filter((one) => hashes.get(one.block_number) !== one.block_hash);
    const isTold = await store.write(async (db) => {
      const isLatest = ({ confidence }: { readonly confidence: string }): boolean => confidence === "latest";
      // The same log in another block is the same run, unless its block is part of the key.
      await deleteUnsentRuns(
        db,
        lost.filter((one) => !isLatest(one)).map((one) => one.run_id),
      );
      const at = Date.now();
      await noteReverted(
        db,
        lost.map((one) => one.run_id),
        at,
      );
      await saveLogCursor(db, network, before);
      return await addRevertedEvents(
        db,
        lost.filter(({ state }) => state === "requested"),
        at,
      );
    });
    cursor = before;
    if (isTold) options.onEvent();
    options.onDue();
  };

  /** Shows earlier blocks to triggers that have not seen them, up to where the others are. */
  const replay = (late: readonly StoredLogTrigger[], through: number): void => {
    const show = async (block: WatchedBlock): Promise<void> => {
      const number = Number(block.number);
      const read = cursor!.heads.find(([one]) => one === number)?.[1];
      // A reorg has removed this block, and what it had was taken back already; the one in its place follows.
      if (read !== undefined && read !== block.hash) return;
      const isEnd = number >= through;
      // So it has this one, which all triggers are shown once it is read again.
      const runs = number > cursor!.block ? [] : await findRuns(finding, block, late);
      const isTold = await store.write(async (db) => {
        await noteReplay(db, late, isEnd ? null : number + 1);
        return await addRuns(db, runs);
      });
      if (isTold) options.onEvent();
      if (runs.length > 0) options.onDue();
      if (isEnd) stop();
    };
    const stop = watcher.follow({
      addresses: () => addressesOf(late),
      fromBlock: BigInt(Math.min(...late.map(({ replayFrom }) => replayFrom!))),
      onBlock: (block) => inTurn(async () => await show(block)),
    });
    stopFollowing.push(stop);
  };

  /** Follows the chain for the present triggers. What the last follower was doing is done again. */
  const follow = async (): Promise<void> => {
    for (const stop of stopFollowing.splice(0)) stop();
    cursor ??= await openCursor(options, triggers);
    const present = triggers;
    const turn = (turns += 1);
    const isPresent = (): boolean => turn === turns && !isStopped;
    const { block, heads } = cursor;
    stopFollowing = [
      watcher.follow({
        addresses: () => addressesOf(present),
        fromBlock: BigInt(block) + 1n,
        known: new Map(heads.map(([number, hash]) => [BigInt(number), hash as Hex] as const).toReversed()),
        onBlock: (one) => inTurn(async () => (isPresent() ? await record(one, present) : undefined)),
        onReorg: (from) => inTurn(async () => (isPresent() ? await takeBack(from) : undefined)),
      }),
    ];
    const late = present.filter(({ replayFrom }) => replayFrom !== null && replayFrom <= block);
    const joined = present.filter(({ replayFrom }) => replayFrom !== null && replayFrom > block);
    if (joined.length > 0) await store.write((db) => noteReplay(db, joined, null));
    if (late.length > 0) replay(late, block);
  };

  /** Blocks without wanted logs are noted now and then: reading them again does no harm. */
  const note = async (): Promise<void> => {
    const read = cursor;
    if (read === undefined || read === saved) return;
    await store.writeSoon((db) => saveLogCursor(db, network, read));
    saved = read;
  };
  const look = (): void => {
    run(note);
    run(() => ripen(triggers, () => isStopped));
    timer = setTimeout(look, LOOK_INTERVAL_MS).unref();
  };
  look();

  return {
    setTriggers(next) {
      const isSame =
        next.length === triggers.length && next.every((one, i) => isSameReading(one, triggers[i]!));
      triggers = next;
      if (isSame) return;
      run(async () => {
        try {
          await follow();
        } catch (error) {
          // The next look tries again.
          triggers = [];
          throw error;
        }
      });
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const stop of stopFollowing) stop();
      watcher.close();
      await inTurn(async () => {});
    },
  };
}

/** Returns the hashes of the blocks that the chain has where these runs were found. */
async function readHashes(
  client: ObservedChain["client"],
  runs: readonly { readonly block_number: number }[],
): Promise<ReadonlyMap<number, string | undefined>> {
  const hashes = new Map<number, string | undefined>();
  for (const { block_number: number } of runs)
    if (!hashes.has(number)) hashes.set(number, (await client.getHead(BigInt(number)))?.hash);
  return hashes;
}

/** Returns how far a network is read: what is stored, or the newest block if nothing of what lies between is wanted. */
async function openCursor(
  options: LogReadingOptions,
  triggers: readonly StoredLogTrigger[],
): Promise<LogCursor> {
  const { network, chain, store } = options;
  const stored = await findLogCursor(store.db, network);
  const isSameChain = stored?.identity === chain.identity;
  // Triggers that are all new, or want earlier blocks, need nothing of what lies between.
  if (isSameChain && triggers.some(({ replayFrom }) => replayFrom === null)) return stored;
  const head = await chain.client.getHead("latest");
  if (head === undefined) throw new Error("the chain has no block yet");
  const block = Number(head.number);
  const { identity } = chain;
  // Without the newest block among them, the earlier ones are looked at again: a reorg may have removed logs of runs.
  const heads = isSameChain ? stored.heads : [[block, head.hash] as const];
  const first = { identity, block, heads };
  await store.write(async (db) => {
    if (!isSameChain) {
      // What an earlier chain of this name had is gone.
      const ids = (await listRevertedRuns(db, { network, from: 0 })).map((one) => one.run_id);
      await deleteUnsentRuns(db, ids);
      await noteReverted(db, ids, Date.now());
    }
    await saveLogCursor(db, network, first);
  });
  return first;
}

/** Creates what makes the runs due whose blocks are as reliable as their triggers want. */
function createRipening(options: LogReadingOptions, head: ChainWatcher["head"]) {
  const { network, chain, store, onDue } = options;
  const { client, terms, isEmbedded } = chain;
  const finality = (tag: "safe" | "finalized") =>
    createFinality({
      client,
      depth: terms.finalityDepth,
      hasFinalizedTag: terms.hasFinalizedTag,
      tag,
      head,
    });
  const reliable = { safe: finality("safe"), finalized: finality("finalized") } as const;
  return async (triggers: readonly StoredLogTrigger[], isStopped: () => boolean): Promise<void> => {
    for (const confidence of ["safe", "finalized"] as const) {
      if (isEmbedded || !triggers.some((one) => one.confidence === confidence)) continue;
      const through = Number(await reliable[confidence].finalNumber());
      for (;;) {
        const some = await listSeenRuns(store.db, network, { confidence, through, limit: PAGE });
        if (some.length === 0 || isStopped()) break;
        const hashes = await readHashes(client, some);
        if ([...hashes.values()].includes(undefined))
          throw new Error("the node lacks a block that it calls final");
        const isKept = (one: (typeof some)[number]): boolean =>
          hashes.get(one.block_number) === one.block_hash;
        await store.write(async (db) => {
          await makeDue(
            db,
            some.filter(isKept).map(({ run_id }) => run_id),
          );
          await deleteUnsentRuns(
            db,
            some.filter((one) => !isKept(one)).map(({ run_id }) => run_id),
          );
        });
        onDue();
      }
    }
  };
}

/** Whether a trigger is read as before. */
function isSameReading(one: StoredLogTrigger, other: StoredLogTrigger): boolean {
  return one.id === other.id && one.fromBlock === other.fromBlock;
}

function addressesOf(triggers: readonly StoredLogTrigger[]): readonly Hex[] {
  return [...new Set(triggers.flatMap(({ selection }) => (selection as LogSelection).addresses))];
}

/** Newest blocks that a cursor keeps; of older ones, fewer the older they are. */
const DENSE_HEADS = 8;

/** Returns how far a network is read after a block. */
function moveCursor(
  { identity, heads: before }: LogCursor,
  { number, hash }: { readonly number: bigint; readonly hash?: Hex },
): LogCursor {
  const block = Number(number);
  const heads: (readonly [number, string])[] = hash === undefined ? [] : [[block, hash]];
  const older = before.filter(([one]) => (hash === undefined ? one <= block : one < block));
  for (const [i, head] of older.entries()) {
    const newer = heads.at(-1)?.[0] ?? block;
    const next = older[i + 1]?.[0];
    const isCovered = block - head[0] > DENSE_HEADS && next !== undefined && newer - next <= block - newer;
    if (!isCovered) heads.push(head);
  }
  return { identity, block, heads };
}
