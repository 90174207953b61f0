import { copyFileSync, readFileSync } from "node:fs";
import type { Connection } from "../../evm/connection.ts";
import { swapState } from "./anvilState.ts";
import type { AnvilState } from "./anvilState.ts";
import { readBlockLog } from "./blockLog.ts";
import type { LoggedBlock } from "./blockLog.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock } from "./recorder.ts";

/** What a process has after its start. */
export interface RestoredChain {
  /** Block of the stored state, -1 for none. */
  readonly stored: number;
  readonly head: ReadBlock;
}

/**
 * Brings a node that was started with the stored state to where the chain was: what Anvil forgets of a state, then the blocks
 * since, then the time of day.
 */
export async function restoreChain(
  connection: Connection,
  {
    folder,
    stateFile,
    onDamage,
  }: {
    readonly folder: string;
    readonly stateFile: string;
    /** Told, in one sentence, of blocks that were logged and can't be had again. */
    readonly onDamage: (sentence: string) => void;
  },
): Promise<RestoredChain> {
  const state = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
  const first = (await readBlock(connection, "latest"))!;
  const { number: stored, hash: headHash, timestamp } = first;
  await swapState(connection, state, { headHash, timestamp, dropHeaders: false });
  const { blocks, damage } = readBlockLog(folder, stored);
  const head = await replayBlocks(connection, first, blocks);
  if (damage !== undefined) {
    // A copy, for the log itself goes on after the gap.
    const copy = `${damage.file}.set-aside-${Date.now()}`;
    copyFileSync(damage.file, copy);
    onDamage(
      `the block log ${damage.file} is damaged (${damage.problem}; a copy is ${copy}): blocks after ${head.number} are lost, and what they carried is sent again`,
    );
  }
  const last = blocks.at(-1);
  if (last !== undefined && last.hash !== head.hash)
    onDamage(
      `the blocks up to ${last.number} came out differently when they were mined again: their transactions are on the chain, in other blocks`,
    );
  await connection.request("evm_setTime", [Math.max(Math.floor(Date.now() / 1000), head.timestamp)]);
  return { stored, head };
}

/**
 * Mines logged blocks again, on the block that the first of them was mined on: the same transactions at the same times give
 * the same hashes, since Anvil derives everything else from the block before.
 *
 * @returns the last block mined. After a block that came out differently the rest is mined all the same: transactions of ours
 * stay sent, and whoever follows the chain sees a reorganisation.
 */
async function replayBlocks(
  connection: Connection,
  head: ReadBlock,
  blocks: readonly LoggedBlock[],
): Promise<ReadBlock> {
  if (blocks.length === 0) return head;
  await connection.request("evm_setAutomine", [false]);
  let time = head.timestamp;
  for (const { timestamp, transactions } of blocks) {
    // A user may have set the clock back; Anvil takes a time before the newest block's from `evm_setTime` alone.
    if (timestamp < time) await connection.request("evm_setTime", [timestamp]);
    time = timestamp;
    await connection.request("evm_setNextBlockTimestamp", [timestamp]);
    for (const raw of transactions) {
      // One that is refused here was mined by other means (an impersonated sender's): its block comes out differently.
      await connection.request("eth_sendRawTransaction", [raw]).catch(() => {});
    }
    await connection.request("evm_mine", []);
  }
  await connection.request("evm_setAutomine", [true]);
  return (await readBlock(connection, "latest"))!;
}
