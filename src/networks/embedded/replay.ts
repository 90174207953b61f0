import { copyFileSync, readFileSync } from "node:fs";
import type { Connection } from "../../evm/connection.ts";
import { swapState } from "./anvilState.ts";
import type { AnvilState } from "./anvilState.ts";
import { readBlockLog } from "./blockLog.ts";
import type { LoggedBlock } from "./blockLog.ts";
import { KEPT_TRANSACTION_BLOCKS } from "./anvil.ts";
import type { Keeper } from "./keeper.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock } from "./recorder.ts";

/** Of the blocks mined again, the node certainly has the contents of this many. */
const UNFORGOTTEN_BLOCKS = KEPT_TRANSACTION_BLOCKS / 2;
const KEPT_AT_ONCE = 16;

/** What a process has after its start. */
export interface RestoredChain {
  /** Block of the stored state, -1 if there is none. */
  readonly stored: number;
  readonly head: ReadBlock;
}

/**
 * Brings a node that was started from the stored state back to where the chain was: restores what Anvil forgets of a state, then
 * the blocks since, then the time of day.
 */
export async function restoreChain(
  connection: Connection,
  {
    folder,
    stateFile,
    keeper,
    onDamage,
  }: {
    readonly folder: string;
    readonly stateFile: string;
    readonly keeper: Keeper;
    /** Called with one sentence about logged blocks that can't be recovered. */
    readonly onDamage: (sentence: string) => void;
  },
): Promise<RestoredChain> {
  const state = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
  const first = (await readBlock(connection, "latest"))!;
  const { number: stored, hash: headHash, timestamp } = first;
  await swapState(connection, state, { headHash, timestamp, dropHeaders: false });
  const { blocks, damage } = readBlockLog(folder, stored);
  const head = await replayBlocks(connection, first, blocks, await createReplayKeeping(keeper, blocks));
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
  return { stored, head };
}

/**
 * Mines logged blocks again, on the block that the first of them was mined on: the same transactions at the same times give the
 * same hashes, because Anvil derives everything else from the parent block.
 *
 * @returns the last block mined. After a block that came out differently the rest is mined all the same: our transactions stay
 * sent, and whoever follows the chain sees a reorg.
 */
async function replayBlocks(
  connection: Connection,
  head: ReadBlock,
  blocks: readonly LoggedBlock[],
  onMined: (number: number) => Promise<void>,
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
    await onMined(number);
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
): Promise<(number: number) => Promise<void>> {
  const forgotten = blocks.slice(0, -UNFORGOTTEN_BLOCKS);
  let next =
    forgotten.length === 0 ? undefined : await keeper.run("findMissing", forgotten).catch(() => undefined);
  const last = forgotten.at(-1)?.number;
  return async (number) => {
    if (next === undefined || (number - next < KEPT_AT_ONCE && number !== last)) return;
    const first = next;
    next = undefined;
    await keeper.run("keep", first, number).then(
      () => (next = number === last ? undefined : number + 1),
      () => {},
    );
  };
}
