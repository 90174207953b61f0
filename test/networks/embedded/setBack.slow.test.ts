import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Hex } from "viem";
import { afterEach, expect, test } from "vitest";
import { toQuantity } from "../../../src/lib/nodeAnswers.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../../src/networks/embedded/process/anvil.ts";
import { startEmbeddedNode } from "../../../src/networks/embedded/embeddedNode.ts";
import type { EmbeddedNode } from "../../../src/networks/embedded/embeddedNode.ts";
import { testAccount } from "../../support/anvil.ts";

const CHAIN_ID = 31337;
const DAY_SECONDS = 86_400;
/** Returns creation code that deploys a word of zeros and the BLOCKHASH of a block: no contract may begin with 0xef (EIP-3541). */
const blockHashCode = (number: bigint): Hex =>
  `0x63${number.toString(16).padStart(8, "0")}4060205260406000f3`;
/** Creation code that emits a log, so that every transaction can be searched for: log1(0, 0, 1). */
const LOGGING: Hex = "0x600160006000a100";

const folders: string[] = [];
const nodes: EmbeddedNode[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const newFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  folders.push(folder);
  return folder;
};

async function start(folder: string, { isNew = true } = {}): Promise<EmbeddedNode> {
  const node = await startEmbeddedNode({
    chainId: CHAIN_ID,
    folder,
    preferredPort: 0,
    rpcOrigins: [],
    onCompacted: () => {},
    onRestart: () => {},
    onError: (error) => console.error(error),
  });
  nodes.push(node);
  if (!isNew) node.resume(1);
  else {
    await node.client.request("anvil_mine", ["0x1"]);
    await node.begin(1);
  }
  return node;
}

/** Copies the folder as a power cut would leave it. */
const copyOf = (folder: string): string => {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true, filter: (file) => !file.endsWith("anvil.pid") });
  return copy;
};

/** Calls the node as a user's tool does. */
const rpc = async ({ rpcUrl }: EmbeddedNode, method: string, ...params: readonly unknown[]) => {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
};

/** Starts accounts that send continuously; returns the hashes sent, and a function that stops them. */
const load = (node: EmbeddedNode, senders = 3) => {
  const sent = new Set<Hex>();
  let isOver = false;
  const work = Array.from({ length: senders }, async (_, index) => {
    const account = testAccount(index);
    while (!isOver) {
      const nonce = await node.client.getNonce(account.address, "latest");
      const { raw, hash } = await account.sign({
        type: "legacy",
        chainId: CHAIN_ID,
        nonce,
        gasPrice: EMBEDDED_GAS_PRICE_WEI,
        gas: 100_000n,
        data: LOGGING,
      });
      // A nonce that has been used in the meantime is refused.
      await rpc(node, "eth_sendRawTransaction", raw).catch(() => {});
      sent.add(hash);
    }
  });
  return {
    sent,
    stop: async (): Promise<void> => {
      isOver = true;
      await Promise.all(work);
      await expect.poll(() => rpc(node, "txpool_status")).toMatchObject({ pending: "0x0" });
    },
  };
};

/** Returns every block hash from the newest block back to the first, by number; fails at a gap. */
const walk = async (client: ChainClient): Promise<Map<bigint, Hex>> => {
  const blocks = new Map<bigint, Hex>();
  let head = (await client.getHead("latest"))!;
  for (;;) {
    blocks.set(head.number, head.hash);
    if (head.number === 0n) return blocks;
    const parent = await client.getHead(head.number - 1n);
    expect(parent, `block ${head.number - 1n}`).toMatchObject({ hash: head.parentHash });
    head = parent!;
  }
};

const headNumber = async ({ client }: EmbeddedNode): Promise<bigint> =>
  (await client.getHead("latest"))!.number;
const timeOf = async (node: EmbeddedNode): Promise<number> =>
  Number(((await rpc(node, "eth_getBlockByNumber", "latest", false)) as { timestamp: Hex }).timestamp);

test("a snapshot under load holds the state of the block that it goes back to", async () => {
  const node = await start(newFolder());
  const { stop } = load(node);
  await expect.poll(() => headNumber(node)).toBeGreaterThan(10n);
  for (let times = 0; times < 8; times += 1) {
    const snapshot = await rpc(node, "evm_snapshot");
    const before = await headNumber(node);
    await expect.poll(() => headNumber(node), { interval: 5 }).toBeGreaterThan(before + 3n);
    await rpc(node, "evm_setAutomine", false);
    expect(await rpc(node, "evm_revert", snapshot)).toBe(true);
    const { number, hash } = (await node.client.getHead("latest"))!;
    const onChain = new Map<Hex, number>();
    for (let block = 0n; block <= number; block += 1n) {
      const answer = await rpc(node, "eth_getBlockByNumber", toQuantity(block), true);
      for (const { from } of (answer as { transactions: readonly { from: Hex }[] }).transactions)
        onChain.set(from, (onChain.get(from) ?? 0) + 1);
    }
    // The nonces match the transactions in the blocks, no more and no less.
    for (const [from, count] of onChain)
      expect({ hash, nonce: await node.client.getNonce(from, "latest") }).toEqual({ hash, nonce: count });
    await rpc(node, "evm_setAutomine", true);
  }
  await stop();
});

test("blocks that Anvil had queued when automine went off are part of what evm_revert takes back", async () => {
  const node = await start(newFolder());
  const { stop } = load(node, 9);
  await expect.poll(() => headNumber(node)).toBeGreaterThan(10n);
  for (let times = 0; times < 25; times += 1) {
    const snapshot = await rpc(node, "evm_snapshot");
    const before = await headNumber(node);
    await expect.poll(() => headNumber(node), { interval: 5 }).toBeGreaterThan(before + 3n);
    await rpc(node, "evm_setAutomine", false);
    expect(await rpc(node, "evm_revert", snapshot)).toBe(true);
    expect(await headNumber(node)).toBeLessThanOrEqual(before);
    await rpc(node, "evm_setAutomine", true);
  }
  await stop();
  await walk(node.client);
});

test.each([1, 40, 300, 1_000])(
  "evm_revert over %i blocks under load leaves a whole chain, on disk too",
  async (depth) => {
    const folder = newFolder();
    const node = await start(folder);
    const { sent, stop } = load(node);
    await expect.poll(() => headNumber(node)).toBeGreaterThan(10n);
    const snapshot = await rpc(node, "evm_snapshot");
    const before = await headNumber(node);
    while ((await headNumber(node)) < before + BigInt(depth)) {
      const left = Number(before) + depth - Number(await headNumber(node));
      if (left > 40) await rpc(node, "anvil_mine", toQuantity(left - 20));
    }
    const sentBefore = [...sent];
    expect(await rpc(node, "evm_revert", snapshot)).toBe(true);
    const atRevert = copyOf(folder);
    const after = await headNumber(node);
    await expect.poll(() => headNumber(node)).toBeGreaterThan(after + 5n);
    await stop();

    const blocks = await walk(node.client);
    // Without the hashes of past blocks, no VRF proof is accepted.
    const recent = [...blocks].slice(1, 250);
    const known = recent.map(([number]) => rpc(node, "eth_call", { data: blockHashCode(number) }, "latest"));
    expect(await Promise.all(known)).toEqual(recent.map(([, hash]) => `0x${"0".repeat(64)}${hash.slice(2)}`));
    // A receipt from a removed block would have a different hash than the chain's block.
    const receipts = await Promise.all(sentBefore.map((one) => node.client.getReceipt(one)));
    expect(
      receipts.filter((one) => one !== undefined && one.blockHash !== blocks.get(one.blockNumber)),
    ).toEqual([]);
    const again = await start(copyOf(folder), { isNew: false });
    expect((await again.client.getHead("latest"))!.hash).toBe([...blocks.values()][0]);
    // Right after the revert, the folder has nothing left of the removed blocks.
    const early = await start(atRevert, { isNew: false });
    const { number, hash } = (await early.client.getHead("latest"))!;
    expect(blocks.get(number)).toBe(hash);
  },
);

test("a reorganisation under load leaves a whole chain", async () => {
  const node = await start(newFolder());
  const { stop } = load(node);
  for (const depth of [1, 5, 20]) {
    const before = await headNumber(node);
    await expect.poll(() => headNumber(node)).toBeGreaterThan(before + BigInt(depth));
    await rpc(node, "anvil_reorg", depth, []);
  }
  await rpc(node, "anvil_rollback", 3);
  await stop();
  await walk(node.client);
});

test.each([
  ["evm_increaseTime", DAY_SECONDS],
  ["evm_setNextBlockTimestamp", DAY_SECONDS],
  ["evm_setTime", DAY_SECONDS],
  // Anvil gives such blocks timestamps before their parents'.
  ["evm_setTime", -DAY_SECONDS],
] as const)(
  "a chain whose clock was moved by %s and %i seconds mines on, and starts again",
  async (method, by) => {
    const folder = newFolder();
    const node = await start(folder);
    const began = await timeOf(node);
    await rpc(node, method, method === "evm_increaseTime" ? by : began + by);
    await rpc(node, "anvil_mine", "0x4");
    const moved = await timeOf(node);
    expect(Math.sign(moved - began)).toBe(Math.sign(by));
    expect(Math.abs(moved - began)).toBeGreaterThan(DAY_SECONDS / 2);
    const head = await node.client.getHead("latest");
    const again = await start(copyOf(folder), { isNew: false });
    expect(await again.client.getHead("latest")).toEqual(head);
    await rpc(again, "anvil_mine", "0x1");
    expect(await timeOf(again)).toBeGreaterThanOrEqual(moved);
  },
);

test("a clock moved by a day and taken back with its blocks mines on, and starts again", async () => {
  const folder = newFolder();
  const node = await start(folder);
  const snapshot = await rpc(node, "evm_snapshot");
  await rpc(node, "evm_increaseTime", DAY_SECONDS);
  await rpc(node, "anvil_mine", "0x3");
  expect(await rpc(node, "evm_revert", snapshot)).toBe(true);
  await rpc(node, "anvil_mine", "0x5");
  const head = await node.client.getHead("latest");
  const again = await start(copyOf(folder), { isNew: false });
  expect(await again.client.getHead("latest")).toEqual(head);
  await rpc(again, "anvil_mine", "0x1");
});
