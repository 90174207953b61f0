import { setTimeout as sleep } from "node:timers/promises";
import type { ChainClient } from "../../src/evm/client.ts";

/**
 * Replaces the newest blocks of a busy chain with empty ones. Mining pauses meanwhile: Anvil 1.7.1 fails or leaves gaps if it mines
 * during a reorg.
 */
export async function reorgUnderLoad(client: ChainClient, depth: number): Promise<void> {
  await client.request("evm_setAutomine", [false]);
  for (let head = await client.getHead("latest"), before; head?.hash !== before;) {
    before = head?.hash;
    await sleep(20);
    head = await client.getHead("latest");
  }
  await client.request("anvil_reorg", [depth, []]);
  await client.request("evm_setAutomine", [true]);
  const { pending } = (await client.request("txpool_status")) as { readonly pending: string };
  if (Number(pending) > 0) await client.request("evm_mine");
}
