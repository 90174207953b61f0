import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { BrokenConnectionError, type Connection } from "../../evm/connection.ts";
import {
  EmbeddedChainError,
  KEPT_TRANSACTION_BLOCKS,
  startAnvil,
  type AnvilOptions,
  type AnvilProcess,
} from "./process/anvil.ts";
import { readBlock, type ReadBlock } from "./recorder.ts";
import { swapState, type AnvilState } from "./storage/anvilState.ts";
import { readBlockLog, type LoggedBlock } from "./storage/blockLog.ts";
import type { Keeper } from "./storage/keeper.ts";
import { replaceState } from "./storage/stateFile.ts";

/** An Anvil process that has the chain. */
export interface LaunchedAnvil extends AnvilProcess {
  /** What it was restored from, and its head. */
  readonly restored: RestoredChain;
  /** Returns the memory that it has taken since it loaded the stored state, in KiB. */
  growthKilobytes(): number;
}

/**
 * Creates what starts an Anvil process with the state and the log in a chain's folder, or with a new chain.
 *
 * @param options.connection to the process; reopened when that is replaced.
 * @param options.maxGrowthKilobytes by which a process may grow: one whose blocks take more than half of that is replaced on the way.
 */
export function createAnvilLauncher(options: {
  readonly anvil: Omit<AnvilOptions, "onExit" | "keptTransactionBlocks"> & {
    readonly onOutOfMemory: () => void;
  };
  readonly connection: Connection;
  readonly stored: Omit<RestoreOptions, "isFull" | "keptBlocks">;
  readonly maxGrowthKilobytes: number;
  readonly onError: (error: unknown) => void;
}): (onExit: () => void) => Promise<LaunchedAnvil> {
  const { connection, stored, maxGrowthKilobytes, onError } = options;
  const { onOutOfMemory, ...settings } = options.anvil;

  const start = (onExit: () => void, keptTransactionBlocks?: number): Promise<AnvilProcess> =>
    startAnvil({
      ...settings,
      ...(keptTransactionBlocks === undefined ? {} : { keptTransactionBlocks }),
      onExit(isOutOfMemory) {
        if (isOutOfMemory) onOutOfMemory();
        onExit();
      },
    });
  /** It would print a line for each request and six for each transaction, which nobody reads. */
  const silence = (): Promise<unknown> => connection.request("anvil_setLoggingEnabled", [false]);

  /** @param mayStore whether a process that is full after some blocks may be replaced; otherwise it has to take all of them. */
  const launch = async (onExit: () => void, mayStore: boolean): Promise<LaunchedAnvil> => {
    const anvil = await start(onExit);
    try {
      // A line that was opened just before the process listened breaks once.
      await silence().catch(async (error: unknown) => {
        if (!(error instanceof BrokenConnectionError)) throw error;
        await silence();
      });
      const before = anvil.residentKilobytes();
      const growthKilobytes = (): number => anvil.residentKilobytes() - before;
      // Half of it, so that the blocks that filled one process leave room in the next.
      const isFull = (): boolean => mayStore && growthKilobytes() > maxGrowthKilobytes / 2;
      const restored = existsSync(stored.stateFile)
        ? await restoreChain(connection, { ...stored, isFull })
        : { stored: -1, head: (await readBlock(connection, "latest"))!, isFull: false };
      if (!restored.isFull) return { ...anvil, restored, growthKilobytes };
    } catch (error) {
      await anvil.close();
      throw error;
    }
    await anvil.close();
    const restart = (keptBlocks: number) => start(() => {}, keptBlocks);
    const isStored = await storeLogged(connection, { ...stored, start: restart }).then(
      () => true,
      (error: unknown) => {
        onError(error);
        return false;
      },
    );
    return launch(onExit, isStored);
  };
  return (onExit) => launch(onExit, true);
}

/** What a process has after its start. */
interface RestoredChain {
  /** Block of the stored state, -1 if there is none. */
  readonly stored: number;
  readonly head: ReadBlock;
  /** Whether it stopped at this head because the process was full: it is of no use then. */
  readonly isFull: boolean;
}

interface RestoreOptions {
  readonly folder: string;
  readonly stateFile: string;
  readonly keeper: Keeper;
  /** Blocks whose transactions the node keeps. Default: {@link KEPT_TRANSACTION_BLOCKS}. */
  readonly keptBlocks?: number;
  /** Asked after each block that is mined. */
  readonly isFull: () => boolean;
  /** Called with one sentence about logged blocks that can't be recovered. */
  readonly onDamage: (sentence: string) => void;
}

/**
 * Brings a node that was started from the stored state back to where the chain was: restores what Anvil forgets of a state, then
 * the blocks since, then the time of day.
 */
async function restoreChain(
  connection: Connection,
  { folder, stateFile, keeper, keptBlocks = KEPT_TRANSACTION_BLOCKS, isFull, onDamage }: RestoreOptions,
): Promise<RestoredChain> {
  const state = readState(stateFile);
  const first = (await readBlock(connection, "latest"))!;
  const { number: stored, hash: headHash, timestamp } = first;
  await swapState(connection, state, { headHash, timestamp, dropHeaders: false });
  const { blocks, damage } = readBlockLog(folder, stored);
  const keepMined = await createReplayKeeping(keeper, blocks, keptBlocks);
  let wasFull = false;
  const head = await replayBlocks(connection, first, blocks, async (number) => {
    await keepMined(number);
    wasFull = isFull();
    return !wasFull;
  });
  if (wasFull) return { stored, head, isFull: true };
  if (damage !== undefined) {
    // A copy, because the log itself continues after the gap.
    const copy = `${damage.file}.set-aside-${Date.now()}`;
    copyFileSync(damage.file, copy);
    onDamage(
      `the block log ${damage.file} is damaged (${damage.problem}; a copy is ${copy}): blocks after ${head.number} are lost, and their transactions are sent again`,
    );
  }
  const last = blocks.at(-1);
  if (last !== undefined && last.hash !== head.hash)
    onDamage(
      `the blocks up to ${last.number} came out differently when they were mined again: their transactions are on the chain, but in other blocks`,
    );
  await connection.request("evm_setTime", [Math.max(Math.floor(Date.now() / 1000), head.timestamp)]);
  return { stored, head, isFull: false };
}

/**
 * Stores the state as of the newest logged block. Anvil keeps a trace of each transaction of its last blocks and can't leave them out of a
 * dump: those that fill a process would take several times its memory. So one process mines the blocks again for the history, as far as it
 * lacks any, and another one, which keeps no transaction, is dumped.
 *
 * @param options.start starts a process that keeps the transactions of this many blocks.
 * @throws {EmbeddedChainError} when the history can't be written.
 */
async function storeLogged(
  connection: Connection,
  {
    start,
    ...options
  }: Omit<RestoreOptions, "isFull" | "keptBlocks"> & {
    readonly start: (keptBlocks: number) => Promise<AnvilProcess>;
  },
): Promise<void> {
  const { folder, stateFile, keeper } = options;
  const { blocks: headers, best_block_number: stored } = readState(stateFile);
  const withNode = async (keptBlocks: number, work: () => Promise<void>): Promise<void> => {
    const anvil = await start(keptBlocks);
    try {
      const onDamage = keptBlocks === 0 ? options.onDamage : () => {};
      await restoreChain(connection, { ...options, keptBlocks, isFull: () => false, onDamage });
      await work();
    } finally {
      await anvil.close();
    }
  };
  const { blocks } = readBlockLog(folder, stored!);
  const isKept = async () => (await keeper.run("findMissing", blocks)) === undefined;
  if (!(await isKept())) {
    await withNode(1, async () => {});
    if (!(await isKept()))
      throw new EmbeddedChainError("the state can't be stored before the chain's history is written");
  }
  await withNode(0, async () => {
    await keeper.run(
      "dump",
      headers.map(({ header }) => Number(header.number)),
    );
    await keeper.run("save", `${stateFile}.next`);
    replaceState(`${stateFile}.next`, stateFile);
  });
}

function readState(stateFile: string): AnvilState {
  return JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
}

/**
 * Mines logged blocks again, on the block that the first of them was mined on: the same transactions at the same times give the
 * same hashes, because Anvil derives everything else from the parent block.
 *
 * @param onMined called after each block; returns whether to go on.
 * @returns the last block mined. After a block that came out differently the rest is mined all the same: our transactions stay
 * sent, and whoever follows the chain sees a reorg.
 */
async function replayBlocks(
  connection: Connection,
  head: ReadBlock,
  blocks: readonly LoggedBlock[],
  onMined: (number: number) => Promise<boolean>,
): Promise<ReadBlock> {
  if (blocks.length === 0) return head;
  await connection.request("evm_setAutomine", [false]);
  let time = head.timestamp;
  for (const { number, timestamp, transactions } of blocks) {
    // A user may have set the clock back; only `evm_setTime` makes Anvil accept a time before the newest block's.
    if (timestamp < time) await connection.request("evm_setTime", [timestamp]);
    time = timestamp;
    await connection.request("evm_setNextBlockTimestamp", [timestamp]);
    for (const raw of transactions) {
      // A transaction that is refused here was originally mined by other means (such as an impersonated sender): its block comes
      // out differently.
      await connection.request("eth_sendRawTransaction", [raw]).catch(() => {});
    }
    await connection.request("evm_mine", []);
    if (!(await onMined(number))) break;
  }
  await connection.request("evm_setAutomine", [true]);
  return (await readBlock(connection, "latest"))!;
}

/**
 * Creates the job that keeps, while blocks are mined again, those that an earlier process could not keep and that the node will have forgotten
 * at the end. If it fails, the node is started again later.
 */
async function createReplayKeeping(
  keeper: Keeper,
  blocks: readonly LoggedBlock[],
  keptBlocks: number,
): Promise<(number: number) => Promise<void>> {
  // Of the blocks mined again, the node certainly has the contents of half of those that it keeps.
  const forgotten = blocks.slice(0, Math.max(0, blocks.length - Math.floor(keptBlocks / 2)));
  const keptAtOnce = Math.max(1, keptBlocks / 4);
  let next =
    forgotten.length === 0 ? undefined : await keeper.run("findMissing", forgotten).catch(() => undefined);
  const last = forgotten.at(-1)?.number;
  return async (number) => {
    if (next === undefined || (number - next + 1 < keptAtOnce && number !== last)) return;
    const first = next;
    next = undefined;
    await keeper.run("keep", first, number).then(
      () => (next = number === last ? undefined : number + 1),
      () => {},
    );
  };
}
