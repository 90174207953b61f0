import type { Connection } from "../connection.ts";
import type { LoggedBlock } from "./blockLog.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock } from "./recorder.ts";

/**
 * Mines logged blocks again, on the block that the first of them was mined on: the same transactions at the same times give
 * the same hashes, since Anvil derives everything else from the block before.
 *
 * @returns the last block mined. After a block that came out differently the rest is mined all the same: transactions of ours
 * stay sent, and whoever follows the chain sees a reorganisation.
 */
export async function replayBlocks(
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
