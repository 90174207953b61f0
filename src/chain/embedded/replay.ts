import { readFileSync } from "node:fs";
import type { Connection } from "../connection.ts";
import { swapState } from "./anvilState.ts";
import type { AnvilState } from "./anvilState.ts";
import { readBlockLog } from "./blockLog.ts";
import type { LoggedBlock } from "./blockLog.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock } from "./recorder.ts";

/**
 * Brings a node that was started with the stored state to where the chain was: what Anvil forgets of a state, then the blocks
 * since, then the time of day.
 *
 * @returns the number of the stored state's block, and the newest block.
 */
export async function restoreChain(
  connection: Connection,
  { folder, stateFile }: { readonly folder: string; readonly stateFile: string },
): Promise<{ readonly stored: number; readonly head: ReadBlock }> {
  const state = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
  const first = (await readBlock(connection, "latest"))!;
  const { number: stored, hash: headHash, timestamp } = first;
  await swapState(connection, state, { headHash, timestamp, dropHeaders: false });
  const head = await replayBlocks(connection, first, readBlockLog(folder, stored));
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
  for (const { timestamp, transactions } of blocks) {
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
