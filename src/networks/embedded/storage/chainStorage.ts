import { performance } from "node:perf_hooks";
import { KEPT_TRANSACTION_BLOCKS } from "../process/anvil.ts";
import { dumpCompactState, swapState } from "./anvilState.ts";
import type { BlockLog } from "./blockLog.ts";
import { createBatchCount, createSetBack, type SetBack } from "../setBack.ts";
import { createCompactor, type Compactor, type CompactorOptions } from "./compactor.ts";
import type { AppearanceQuery, Appearances, RemovableBlocks } from "../../network.ts";
import type { RemovedBlocks } from "./history.ts";
import { UnkeptError, keepBlocks, type BlockKeeping } from "./keepBlocks.ts";
import { withDeadline } from "../../../lib/deadline.ts";
import { readBlock, type RecordedBlock } from "../recorder.ts";
import { writeState } from "./stateFile.ts";

/** Blocks that Anvil may forget while a request for them is in flight. */
const FORGETTING_MARGIN_BLOCKS = 16;
/** Delay of storing the state after a change without a block, which the log can't record. */
const STORE_AFTER_CHANGE_MS = 200;
/** Time that closing may take: all blocks are in the log anyway, and storing the state only shortens the next start. */
const CLOSE_TIMEOUT_MS = 5_000;
/** A chain's data on disk besides its log: the state as of some block, and the blocks that Anvil forgets. */
export interface ChainStorage {
  /** Returns the first block whose transactions Anvil has, and will have for {@link FORGETTING_MARGIN_BLOCKS} more blocks. */
  oldestWhole(this: void): number;
  /** Returns the first block whose transactions Anvil has at this moment. */
  oldestHeld(this: void): number;
  /** Answers from the history, or returns `undefined`. */
  recall(this: void, method: string, parameters: readonly unknown[]): Promise<unknown>;
  /** Removes some kept blocks; returns whether more can be removed. */
  removeSome(this: void, range: RemovableBlocks): Promise<boolean>;
  /** Returns the range in which some blocks were removed. */
  removed(this: void): Promise<RemovedBlocks>;
  /** Finds an address's transactions, up to the newest block if the chain answers. */
  findAppearances(this: void, query: AppearanceQuery): Promise<Appearances>;
  /** Writes all blocks so far to the history. */
  keepUp(this: void): Promise<void>;
  /** Runs a request that removes blocks; `undefined` before the chain is set up. */
  setBack(this: void): SetBack | undefined;
  /** Takes note of a block; the next may follow when the promise resolves. */
  onBlock(block: RecordedBlock): Promise<void>;
  /** Takes note that the blocks after this one have been removed by a reorg. */
  cutAfter(block: RecordedBlock): void;
  /** Stores the state soon, because something other than a block has changed it. */
  storeSoon(): void;
  isCompacting(): boolean;
  /** Says in words why the chain is paused; `undefined` while it isn't. */
  pause(this: void): string | undefined;
  /** Resolves when no compaction is in flight. */
  settled(): Promise<void>;
  /** Takes note that a process was started from the state of this block and the blocks of the log. */
  onRestored(stored: number, head: RecordedBlock): void;
  /** Stores the current state for the first time. `keptHeader` is a block whose header Anvil never loses. */
  begin(keptHeader: number): Promise<void>;
  /** Continues from a stored state. */
  resume(keptHeader: number): void;
  /** Starts no more background work. */
  stop(): void;
  /** Stores the state, unless that takes longer than some seconds. */
  close(): Promise<void>;
}

/** The keeper is closed with the storage. */
export interface ChainStorageOptions extends Pick<
  CompactorOptions,
  "stateFile" | "keeper" | "connection" | "gate" | "recorder" | "isDown" | "onCompacted"
> {
  readonly log: BlockLog;
  /** Block of the state that the current process was started from, -1 if there is none. */
  readonly stored: number;
  /** @throws when the chain is not ours. */
  readonly assertOurs: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Called with the newest block left when blocks were removed. */
  readonly onSetBack: (head: RecordedBlock) => void;
  /** Called when a new process has to mine the blocks again that Anvil forgot before they were kept. */
  readonly onForgotten: () => void;
  /** Called when Anvil's state is only half swapped. */
  readonly onBroken: (error: unknown) => void;
}

/** The parts that work once {@link ChainStorage.begin} or {@link ChainStorage.resume} has been called. */
interface Parts {
  /** Blocks up to this one, in which the chain was set up, are never removed. */
  readonly setUp: number;
  readonly keeping: BlockKeeping;
  readonly compactor: Compactor;
  readonly setBack: SetBack;
}

/** Creates the storage of one chain; it stores nothing until `begin` or `resume` is called. */
export function createChainStorage(options: ChainStorageOptions): ChainStorage {
  const { stateFile, keeper, connection, gate, recorder, log, isDown, onError } = options;
  let { stored } = options;
  /** Anvil has lost all transactions before this block. */
  let wholeFrom = stored + 1;
  let parts: Parts | undefined;
  let storeTimer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let lastBlockAt = 0;
  const batches = createBatchCount(gate);

  const oldestCounted = (): number => recorder.head().number - KEPT_TRANSACTION_BLOCKS;
  const onSaved = (block: number, isBare: boolean): void => {
    stored = block;
    if (isBare) wholeFrom = block + 1;
    log.startAfter(block);
  };
  const open = (keptHeader: number, kept: number): Parts => {
    const { onForgotten } = options;
    const keeping = keepBlocks({
      keeper,
      connection,
      gate,
      recorder,
      isDown,
      kept,
      onForgotten,
      onError(error) {
        if (!isStopped) onError(error);
      },
    });
    const dump = () => keeper.run("dump", [keptHeader]);
    const compactor = createCompactor({
      connection,
      gate,
      keeper,
      dump,
      keep() {
        // The compaction is about to turn automine off and on, and may mine.
        batches.doubt();
        return options.assertOurs().then(keeping.keep);
      },
      recorder,
      isDown,
      stateFile,
      onCompacted: options.onCompacted,
      onSaved,
      onError(error, isBroken) {
        if (isStopped || error instanceof UnkeptError) return;
        if (isBroken) options.onBroken(error);
        else onError(error);
      },
    });
    const setBack = createSetBack({
      connection,
      gate,
      recorder,
      keeper,
      dump,
      keeping,
      compactor,
      batches,
      lastBlockAt: () => lastBlockAt,
      stateFile,
      assertKept: options.assertOurs,
      // Anvil has forgotten transactions, counting from where the chain was before.
      onSaved: (block) => onSaved(block, true),
      onBroken: options.onBroken,
      onSetBack: options.onSetBack,
    });
    return { setUp: keptHeader, keeping, compactor, setBack };
  };

  const storeSoon = (): void => {
    clearTimeout(storeTimer);
    storeTimer = setTimeout(() => void parts?.compactor.compact(), STORE_AFTER_CHANGE_MS).unref();
  };

  const oldestWhole = (): number => Math.max(wholeFrom, oldestCounted() + FORGETTING_MARGIN_BLOCKS);

  return {
    oldestWhole,
    oldestHeld: () => Math.max(wholeFrom, oldestCounted()),
    async recall(method, parameters) {
      if (parts === undefined) return undefined;
      const answer = await keeper.run("recall", method, parameters);
      // What the history lacks may be in a block that is yet to be kept.
      if (answer === undefined || method === "eth_getLogs") parts.keeping.assertKept(oldestWhole() - 1);
      return answer;
    },
    async removeSome({ before, ...range }) {
      if (parts === undefined) return false;
      const { setUp } = parts;
      return keeper.run("removeSome", { ...range, from: setUp + 1, before: Math.min(before, oldestWhole()) });
    },
    removed: async () => (parts === undefined ? { from: 0, before: 0 } : await keeper.run("removed")),
    async findAppearances(query) {
      const leave = await gate.enter("read");
      try {
        if (parts === undefined) return { found: [], through: -1, hasRemoved: false };
        // If keeping fails, the blocks already kept can still be searched.
        await parts.keeping.keep().catch(() => {});
        return await keeper.run("findAppearances", query);
      } finally {
        leave();
      }
    },
    keepUp: async () => parts?.keeping.keep(),
    setBack: () => parts?.setBack,
    async onBlock(block) {
      lastBlockAt = performance.now();
      batches.onBlock(block);
      parts?.compactor.onBlock(block);
      await parts?.keeping.onBlock(block);
    },
    cutAfter(block) {
      batches.doubt();
      parts?.keeping.cutAfter(block.number);
      storeSoon();
    },
    storeSoon,
    isCompacting: () => parts?.compactor.isRunning() ?? false,
    pause: () => parts?.keeping.pause(),
    settled: async () => parts?.compactor.settled(),
    onRestored(block, head) {
      batches.doubt();
      // The state was stored between the two processes.
      if (block > stored) log.startAfter(block);
      stored = block;
      wholeFrom = block + 1;
      parts?.compactor.reset(head.number - block);
      void parts?.keeping.goOn(block);
    },
    async begin(keptHeader) {
      const head = (await readBlock(connection, "latest"))!;
      await recorder.ensure(head.number);
      // From a start with the state on, the node has nothing but the headers of these blocks.
      const kept = await keeper.run("keep", 0, head.number);
      const { state } = await dumpCompactState(connection, [keptHeader]);
      const timestamp = Math.max(Math.floor(Date.now() / 1000), head.timestamp);
      await swapState(connection, state, { headHash: head.hash, timestamp, dropHeaders: false });
      writeState(stateFile, state);
      stored = head.number;
      log.startAfter(head.number);
      parts = open(keptHeader, kept);
    },
    resume(keptHeader) {
      // A state is stored only after its blocks have been kept.
      parts = open(keptHeader, stored);
      void parts.keeping.goOn(stored);
      parts.compactor.reset(recorder.head().number - stored);
    },
    stop() {
      isStopped = true;
      clearTimeout(storeTimer);
      parts?.keeping.close();
    },
    async close() {
      const storing = (async () => {
        if (recorder.head().number > stored) await parts?.compactor.compact({ swap: false });
        await parts?.compactor.close();
        await keeper.close();
      })();
      await withDeadline(storing, CLOSE_TIMEOUT_MS).catch(onError);
    },
  };
}
