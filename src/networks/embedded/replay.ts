import { copyFileSync, readFileSync } from "node:fs";
import { EmbeddedChainError, KEPT_TRANSACTION_BLOCKS } from "./process/anvil.ts";
import type { AnvilProcess } from "./process/anvil.ts";
import type { Connection } from "../../evm/connection.ts";
import { swapState } from "./storage/anvilState.ts";
import type { AnvilState } from "./storage/anvilState.ts";
import { readBlockLog } from "./storage/blockLog.ts";
import type { LoggedBlock } from "./storage/blockLog.ts";
import type { Keeper } from "./storage/keeper.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock } from "./recorder.ts";
import { replaceState } from "./storage/stateFile.ts";

/** What a process has after its start. */
export interface RestoredChain {
  /** Block of the stored state, -1 if there is none. */
  readonly stored: number;
  readonly head: ReadBlock;
  /** Whether it stopped at this head because the process was full: it is of no use then. */
  readonly isFull: boolean;
}

export interface RestoreOptions {
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
export async function restoreChain(
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
export async function storeLogged(
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
