import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { concat, type TransactionRequestLegacy } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  EMBEDDED_GAS_PRICE_WEI,
  KEPT_STATES,
  KEPT_TRANSACTION_BLOCKS,
} from "../../../../src/networks/embedded/process/anvil.ts";
import { startEmbeddedNode, type EmbeddedNode } from "../../../../src/networks/embedded/embeddedNode.ts";
import { KEPT_TOPICS } from "../../../../src/networks/embedded/rpc/past.ts";
import { testAccount } from "../../../support/anvil.ts";

const ADDRESS = testAccount(0).address;

let folder: string;
let node: EmbeddedNode;
let compactions = 0;
let restarts = 0;
let hash: string;
let block: string;
let blockHash: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  node = await startEmbeddedNode({
    chainId: 31337,
    folder,
    preferredPort: 0,
    rpcOrigins: [],
    onCompacted: () => (compactions += 1),
    onRestart: () => (restarts += 1),
    onError: (error) => console.error(error),
  });
  await pay(0);
  await node.begin(1);
  ({ transactionHash: hash, blockNumber: block, blockHash } = await pay(1));
});
afterAll(async () => {
  await node.close();
  rmSync(folder, { recursive: true, force: true });
});

const pay = (nonce: number) => send({ nonce, gas: 21_000n, to: testAccount(3).address, value: 1n });

async function send(more: Pick<TransactionRequestLegacy, "nonce" | "gas" | "to" | "value" | "data">) {
  const { raw } = await testAccount(0).sign({
    type: "legacy",
    chainId: 31337,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    ...more,
  });
  return (await node.client.request("eth_sendRawTransactionSync", [raw])) as Record<
    "transactionHash" | "blockNumber" | "blockHash" | "contractAddress",
    string
  >;
}
const ask = async (method: string, ...params: readonly unknown[]) => {
  const response = await fetch(node.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as {
    result?: unknown;
    error?: { code: number; message: string };
  };
  return error ?? result;
};
const traces = (): [string, ...unknown[]][] => [
  ["debug_traceTransaction", hash],
  ["debug_traceTransaction", hash, { tracer: "callTracer" }],
  ["trace_transaction", hash],
  ["ots_traceTransaction", hash],
  ["eth_getRawTransactionByHash", hash],
  ["debug_getRawTransaction", hash],
  ["debug_traceBlockByNumber", block, {}],
  ["debug_traceBlockByHash", blockHash, {}],
  ["trace_block", block],
  ["trace_filter", { fromBlock: block, toBlock: block }],
];
const states = (): [string, ...unknown[]][] => [
  ["eth_getBalance", ADDRESS, block],
  ["eth_call", { to: ADDRESS }, block],
  ["eth_getStorageAt", ADDRESS, "0x0", block],
  ["eth_getTransactionCount", ADDRESS, block],
];
const kept = (): [string, ...unknown[]][] => [
  ["eth_getTransactionReceipt", hash],
  ["eth_getBlockTransactionCountByNumber", block],
  ["eth_getBlockTransactionCountByHash", blockHash],
  ["eth_getTransactionByBlockNumberAndIndex", block, "0x0"],
  ["eth_getTransactionByBlockHashAndIndex", blockHash, "0x0"],
];
const askAll = (questions: [string, ...unknown[]][]) =>
  Promise.all(questions.map((question) => ask(...question)));

test("what Anvil has forgotten is an error that says what is kept, never an empty answer", async () => {
  const before = await askAll([...traces(), ...states(), ...kept()]);
  for (const answer of before) expect(answer).not.toHaveProperty("code");
  expect(before[0]).toMatchObject({ gas: 21_000 });

  await node.client.request("anvil_mine", [`0x${(KEPT_STATES + 4).toString(16)}`]);
  for (const answer of await askAll(states()))
    expect(answer).toMatchObject({
      code: -32_000,
      message: expect.stringMatching(
        /^the state of block 2 is gone: .*last 32 blocks, and its newest is \d+/,
      ),
    });
  expect(await ask("debug_traceTransaction", hash, { tracer: "callTracer" })).toMatchObject({
    code: -32_000,
    message: expect.stringContaining("the state it ran on is gone"),
  });
  expect(await ask("debug_traceTransaction", hash)).toEqual(before[0]);

  await node.client.request("anvil_mine", [`0x${KEPT_TRANSACTION_BLOCKS.toString(16)}`]);
  for (const answer of await askAll(traces()))
    expect(answer).toMatchObject({
      code: -32_000,
      message: expect.stringMatching(/can't answer for block 2: .*last 64 blocks/),
    });
  expect(await askAll(kept())).toEqual(before.slice(-kept().length));
});

test("a trace outlives a compaction, or is an error, after a restart of Anvil too", async () => {
  ({ transactionHash: hash, blockNumber: block, blockHash } = await pay(2));
  const [trace] = await askAll(traces());
  await ask("anvil_setNonce", `0x${"77".repeat(20)}`, "0x0");
  await expect.poll(() => compactions).toBeGreaterThan(0);
  const isTrue = expect.toSatisfy(
    (answer) =>
      JSON.stringify(answer) === JSON.stringify(trace) || (answer as { code: number }).code === -32_000,
  );
  expect(await ask("debug_traceTransaction", hash)).toEqual(isTrue);
  process.kill(Number.parseInt(readFileSync(path.join(folder, "anvil.pid"), "utf8"), 10), "SIGKILL");
  await expect.poll(() => restarts).toBe(1);
  expect(await ask("debug_traceTransaction", hash)).toEqual(isTrue);
  expect(await askAll(kept())).not.toContain(null);
});

test("the trace of a transaction that there isn't", async () => {
  const unknown = `0x${"7".repeat(64)}`;
  expect(await ask("debug_traceTransaction", unknown)).toMatchObject({
    code: -32_000,
    message: `transaction ${unknown} is not known on this chain`,
  });
});

test("a block that isn't there yet keeps Anvil's answer", async () => {
  expect(await ask("eth_getBalance", ADDRESS, "0xffffff")).toMatchObject({
    message: expect.not.stringContaining("gone"),
  });
});

test("what was removed is an error with a code of its own, never an empty answer", async () => {
  // Its only log is emitted during its creation.
  const data = concat([`0x7f${"77".repeat(32)}`, "0x60006000a100"]);
  const {
    contractAddress: contract,
    transactionHash,
    blockNumber,
    blockHash: logged,
  } = await send({ nonce: 3, gas: 100_000n, data });
  const logsIn = (fromBlock: string, toBlock: string, topics: readonly string[] = []) =>
    ask("eth_getLogs", { address: contract, fromBlock, toBlock, topics });
  expect(await logsIn(blockNumber, blockNumber)).toHaveLength(1);
  await node.client.request("anvil_mine", [`0x${(2 * KEPT_TRANSACTION_BLOCKS).toString(16)}`]);
  // The last step has nothing left to remove.
  while (await node.removeBlocks({ before: Number(blockNumber) + 1, olderThan: Infinity, limit: 50 }));
  const removed = {
    code: 4_444,
    message: expect.stringMatching(/^pruned history unavailable: blocks 2 to \d+ .*blockDays\)/),
  };
  const next = `0x${(Number(blockNumber) + 1).toString(16)}`;
  expect(
    await askAll([
      ["eth_getLogs", { address: contract, fromBlock: blockNumber, toBlock: "latest" }],
      ["eth_getLogs", { fromBlock: "earliest" }],
      ["eth_getLogs", { fromBlock: "0x0", toBlock: next, topics: [[KEPT_TOPICS[0]!, logged]] }],
      ["eth_getBlockByNumber", blockNumber, true],
      ["eth_getBlockReceipts", blockNumber],
      ["eth_getBlockTransactionCountByNumber", blockNumber],
      ["eth_getTransactionByBlockNumberAndIndex", blockNumber, "0x0"],
    ]),
  ).toEqual(Array.from({ length: 7 }, () => removed));
  expect(await logsIn(next, "latest")).toEqual([]);
  expect(await logsIn("0x0", "0x1")).toEqual([]);
  // All of these remain, however old.
  expect(await logsIn("0x0", "latest", [KEPT_TOPICS[0]!])).toEqual([]);
  expect(await ask("eth_getBlockByNumber", "0x1", false)).toMatchObject({ number: "0x1" });
  expect(await ask("eth_getBlockByNumber", next, false)).toMatchObject({ number: next });
  expect(await ask("eth_getTransactionReceipt", transactionHash)).toBeNull();
  for (const [method, parameter] of [
    ["eth_getLogs", { blockHash: logged }],
    ["eth_getBlockReceipts", logged],
  ] as const)
    expect(await ask(method, parameter)).not.toEqual([]);
});
