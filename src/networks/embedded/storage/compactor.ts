import { performance } from "node:perf_hooks";
import type { Hex } from "viem";
import type { Connection } from "../../../evm/connection.ts";
import { KEPT_HEADERS } from "./anvilState.ts";
import type { Gate } from "../gate.ts";
import type { Keeper } from "./keeper.ts";
import type { DumpSummary } from "./keeperWorker.ts";
import { readBlock, type RecordedBlock, type Recorder } from "../recorder.ts";
import { replaceState } from "./stateFile.ts";

/** What one more slot costs every block, in milliseconds (measured on Anvil 1.7.1: 4.7 ms a block with 5,757 slots). */
const MS_PER_SLOT = 0.0008;
/** What one more header costs every dump, in milliseconds: 1.5 kB of JSON. */
const MS_PER_HEADER = 0.014;
/** Gas that leaves one slot behind, until the first compaction has measured it: 194,974 gas a preset, 2.8 slots. */
const FIRST_GAS_PER_SLOT = 70_000;
/**
 * What a compaction costs: this fixed part, plus the time Anvil takes to write its dump. It isn't measured at run time, because load would
 * distort it.
 */
const COMPACTION_MS = 30;
const MS_PER_DUMPED_MEGABYTE = 9;
/** Waste from which an idle chain is compacted. */
const IDLE_SLOTS = 100;
const IDLE_MS = 400;
/**
 * Logged blocks that a start has to mine again, about 5 ms each: the first limit makes an idle chain store its state, the second a busy
 * one.
 */
const IDLE_BLOCKS = 50;
const MAX_UNSTORED_BLOCKS = 1_000;
/**
 * Old headers, those beyond {@link KEPT_HEADERS}, are dropped above this number. Dropping them also drops transactions that wait for an
 * earlier nonce, so it doesn't happen while there are any.
 */
const MAX_HEADERS = 1_500;
/** Times that a new block may interfere before a compaction is put off to the next occasion. */
const MAX_TRIES = 3;

/** Keeps a chain's state small while it runs. */
export interface Compactor {
  /** Takes note of a block; starts a compaction when the waste has grown to the cost of one. */
  onBlock(block: RecordedBlock): void;
  /** Compacts now, after any compaction in flight; resolves to whether it did. Throws when the chain can't be used any more. */
  compact(options?: { readonly swap?: boolean }): Promise<boolean>;
  /** Runs some work while no compaction runs. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  isRunning(): boolean;
  /** Resolves when no compaction is in flight. */
  settled(): Promise<void>;
  /** Starts over for a chain that has just been started, with this many blocks after its stored state. */
  reset(unstoredBlocks: number): void;
  /** Stops after the work in flight; idempotent. */
  close(): Promise<void>;
}

/** What a compaction did. */
export interface CompactionReport {
  readonly block: number;
  /** Time during which nothing was mined. */
  readonly pausedMs: number;
  /** Number of slots that held zero. */
  readonly zeroSlots: number;
  /** Number of headers before the compaction. */
  readonly headers: number;
  readonly droppedHeaders: boolean;
}

export interface CompactorOptions {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly keeper: Keeper;
  /** Dumps the state in the keeper. */
  readonly dump: () => Promise<DumpSummary>;
  readonly recorder: Recorder;
  /** Keeps all blocks that the recorder has. */
  readonly keep: () => Promise<void>;
  /** Whether the chain is restarting and doesn't have all of its blocks yet. */
  readonly isDown: () => boolean;
  /** Path of the stored state. */
  readonly stateFile: string;
  /** Called when the file holds the state of this block; `isBare` when the node has lost all transactions up to it. */
  readonly onSaved: (block: number, isBare: boolean) => void;
  readonly onCompacted: (report: CompactionReport) => void;
  /** Called on a failure; `isBroken` when the chain's current state can't be relied on. */
  readonly onError: (error: unknown, isBroken: boolean) => void;
}

/** What has gathered since the last compaction, and what the next one costs. */
interface Waste {
  /** What the waste has cost so far, in milliseconds. */
  costMs: number;
  gas: number;
  headers: number;
  /** Blocks since the stored state. */
  unstored: number;
  /** Gas that leaves one slot behind. */
  gasPerSlot: number;
  compactionMs: number;
}

function addBlock(waste: Waste, { gasUsed }: Pick<RecordedBlock, "gasUsed">): void {
  waste.gas += gasUsed;
  waste.headers += 1;
  waste.unstored += 1;
  waste.costMs += (waste.gas / waste.gasPerSlot) * MS_PER_SLOT + MS_PER_HEADER / 10;
}

/** When to compact: now if that costs less than going on, or soon if the chain is idle by then and has enough to gain. */
function whenDue(waste: Waste): "now" | "when idle" | "later" {
  if (waste.costMs >= waste.compactionMs || waste.unstored >= MAX_UNSTORED_BLOCKS) return "now";
  return waste.gas / waste.gasPerSlot < IDLE_SLOTS && waste.unstored < IDLE_BLOCKS ? "later" : "when idle";
}

/** A pause in mining, during which the state is stored. */
interface Pause {
  readonly began: number;
  readonly withSwap: boolean;
  readonly dropsHeaders: boolean;
  readonly releases: (() => void)[];
  /** Whether Anvil's state is being replaced: until that is over it can't be relied on. */
  isSwapping: boolean;
}

/**
 * Creates the compactor of one chain. It applies the ski-rental rule: compact when the waste since the last compaction has cost as much as
 * a compaction does. The total is then never more than twice the optimum.
 *
 * Nothing is mined during a compaction: transactions wait in Anvil's pool. Reads wait only for a few milliseconds.
 */
export function createCompactor(options: CompactorOptions): Compactor {
  const { connection, gate, keeper, recorder, keep, stateFile, onSaved, onCompacted, onError } = options;
  const waste: Waste = {
    costMs: 0,
    gas: 0,
    headers: 0,
    unstored: 0,
    gasPerSlot: FIRST_GAS_PER_SLOT,
    compactionMs: COMPACTION_MS,
  };
  let idle: NodeJS.Timeout | undefined;
  let running: Promise<unknown> | undefined;
  let closed = false;

  const compactWhenDue = (): void => {
    clearTimeout(idle);
    if (running !== undefined || closed) return;
    const due = whenDue(waste);
    if (due === "now") void compact(true);
    else if (due === "when idle") idle = setTimeout(() => void compact(true), IDLE_MS).unref();
  };

  const compactOnce = async (withSwap: boolean): Promise<boolean> => {
    try {
      await recorder.ensure((await readBlock(connection, "latest"))!.number);
      await keep();
    } catch (error) {
      onError(error, false);
      return false;
    }
    return pauseAndCompact(withSwap);
  };

  const pauseAndCompact = async (withSwap: boolean): Promise<boolean> => {
    const began = performance.now();
    const dropsHeaders = withSwap && waste.headers > KEPT_HEADERS + MAX_HEADERS;
    // Dropping headers loses whatever waits in the pool, so sends are held as well.
    const releases = [gate.hold(dropsHeaders ? ["mine", "send"] : ["mine"])];
    const pause: Pause = { began, withSwap, dropsHeaders, releases, isSwapping: false };
    let report: CompactionReport | undefined;
    let mines = false;
    try {
      await gate.drained(["mine"]);
      // A user may mine manually or at an interval; blocks can't be held back from here then, and mining stays the user's business.
      mines = (await connection.request("anvil_getAutomine", [])) === true;
      if (!mines) return false;
      await connection.request("evm_setAutomine", [false]);
      for (let tries = 0; tries < MAX_TRIES && report === undefined; tries += 1)
        report = await compactHead(pause);
      return report !== undefined;
    } catch (error) {
      onError(error, pause.isSwapping);
      return false;
    } finally {
      if (mines) await connection.request("evm_setAutomine", [true]).catch(() => {});
      for (const release of releases) release();
      if (report !== undefined) onCompacted(report);
    }
  };

  /** Stores the state of the newest block, and has Anvil continue with it; `undefined` if another block interferes. */
  const compactHead = async (pause: Pause): Promise<CompactionReport | undefined> => {
    if (!(await isPoolEmpty())) await connection.request("anvil_mine", []);
    const taken = await options.dump();
    const head = (await readBlock(connection, "latest"))!;
    if (head.number !== taken.number) return undefined;
    await recorder.ensure(head.number);
    await keep();
    await keeper.run("save", `${stateFile}.next`);
    const swapped = pause.withSwap ? await swap(pause, head.hash, taken) : { isBare: false };
    if (swapped === undefined) return undefined;
    replaceState(`${stateFile}.next`, stateFile);
    waste.unstored = 0;
    onSaved(head.number, swapped.isBare);
    const pausedMs = performance.now() - pause.began;
    waste.compactionMs = COMPACTION_MS + (taken.bytes / 2 ** 20) * MS_PER_DUMPED_MEGABYTE;
    const { zeroSlots, headers } = taken;
    return {
      block: head.number,
      pausedMs,
      zeroSlots,
      headers,
      droppedHeaders: waste.headers === KEPT_HEADERS,
    };
  };

  /** Replaces Anvil's state with the stored one; `undefined` if it has mined another block meanwhile. */
  const swap = async (
    pause: Pause,
    headHash: Hex,
    taken: DumpSummary,
  ): Promise<{ readonly isBare: boolean } | undefined> => {
    const letRead = gate.hold(["read"]);
    pause.releases.push(letRead);
    await gate.drained(["read"]);
    // Batches that Anvil queued before automine went off are still mined, and an empty pool doesn't rule them out.
    if ((await readBlock(connection, "latest"))!.hash !== headHash) {
      letRead();
      return undefined;
    }
    const isBare = pause.dropsHeaders && (await isPoolEmpty("queued")) && (await isPoolEmpty());
    const timestamp = await nextTimestamp();
    pause.isSwapping = true;
    await keeper.run("swap", { headHash, timestamp, dropHeaders: isBare });
    pause.isSwapping = false;
    if (taken.zeroSlots > IDLE_SLOTS) waste.gasPerSlot = Math.max(1_000, waste.gas / taken.zeroSlots);
    waste.headers = isBare ? KEPT_HEADERS : taken.headers;
    waste.costMs = 0;
    waste.gas = 0;
    return { isBare };
  };

  /** Detects a block in progress by its transactions, which stay in the pool until it is mined. */
  const isPoolEmpty = async (part: "pending" | "queued" = "pending"): Promise<boolean> => {
    const status = (await connection.request("txpool_status", [])) as Record<typeof part, Hex>;
    return Number(status[part]) === 0;
  };

  /** Reads the chain's clock, which a user may have set. */
  const nextTimestamp = async (): Promise<number> => {
    const block = (await connection.request("eth_getBlockByNumber", ["pending", false])) as {
      timestamp: Hex;
    };
    return Number(block.timestamp);
  };

  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    while (running !== undefined) await running;
    clearTimeout(idle);
    const result = work();
    await (running = result.catch(() => {}).finally(() => (running = undefined)));
    return await result;
  };

  const compact = (withSwap: boolean): Promise<boolean> =>
    alone(async () => !closed && !options.isDown() && (await compactOnce(withSwap)));

  return {
    onBlock(block) {
      addBlock(waste, block);
      compactWhenDue();
    },
    compact: ({ swap: withSwap = true } = {}) => compact(withSwap),
    alone,
    isRunning: () => running !== undefined,
    async settled() {
      await running;
    },
    reset(unstoredBlocks) {
      waste.costMs = 0;
      waste.gas = 0;
      // Blocks that an earlier process left unstored count too; otherwise a chain that is killed again and again replays more at each start.
      waste.unstored = unstoredBlocks;
      compactWhenDue();
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await running;
    },
  };
}
