import { setTimeout as sleep } from "node:timers/promises";
import { toHex, type Hex } from "viem";
import type { ChainClient } from "../../src/evm/client.ts";

/** Waits until Anvil has stored its newest block: it announces a block before it has the logs. Returns the block's number. */
export async function untilStored(client: ChainClient): Promise<bigint> {
  for (;;) {
    const { number: head } = (await client.getHead("latest"))!;
    if (await isStored(client, head)) return head;
    await sleep(5);
  }
}

/**
 * Returns the logs of some contracts from a block to the newest. Anvil announces a block before it has stored its logs, and a range that ends
 * there has none at all: the newest block is read alone, once it has the logs of its receipts.
 */
export async function readLogs(
  client: ChainClient,
  addresses: readonly Hex[],
  fromBlock = 0n,
): ReturnType<ChainClient["getLogs"]> {
  const head = await untilStored(client);
  const before = head > fromBlock ? await client.getLogs({ addresses, fromBlock, toBlock: head - 1n }) : [];
  return [...before, ...(await client.getLogs({ addresses, fromBlock: head, toBlock: head }))];
}

/** Whether a block's logs are all there. Receipts are read one by one: Hardhat has no `eth_getBlockReceipts`. */
async function isStored(client: ChainClient, number: bigint): Promise<boolean> {
  const block = (await client.request("eth_getBlockByNumber", [toHex(number), false])) as {
    readonly transactions: readonly Hex[];
  } | null;
  const receipts = await Promise.all((block?.transactions ?? []).map((hash) => client.getReceipt(hash)));
  if (block === null || receipts.includes(undefined)) return false;
  const logs = await client.getLogs({ addresses: [], fromBlock: number, toBlock: number });
  return logs.length === receipts.flatMap((receipt) => receipt!.logs).length;
}
