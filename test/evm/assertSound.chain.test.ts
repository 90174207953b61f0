import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createPoolClient, type PoolClient } from "../../src/evm/nodePool.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { every, startFaultyNode, type FaultRule, type FaultyNode } from "../support/faultyNode.ts";

let chain: TestChain;
let nodes: FaultyNode[];
let pool: PoolClient;
let undo: (() => void)[];

beforeAll(async () => {
  chain = await startTestChain();
  nodes = [await startFaultyNode(chain), await startFaultyNode(chain)];
});
beforeEach(async () => {
  undo = [];
  pool = createPoolClient({
    rpcUrls: nodes.map((node) => node.httpUrl),
    chainId: chain.chainId,
    hedgeMs: 60_000,
    timeoutMs: 60_000,
    probeMs: 3_600_000,
  });
  await pool.checkNodes();
});
afterEach(async () => {
  for (const each of undo) each();
  await pool.close();
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await chain.close();
});

const inject = (index: number, rule: FaultRule): void => void undo.push(nodes[index]!.inject(rule));
const HASH = `0x${"11".repeat(32)}` as const;
const log = (number: number) => ({
  address: testAccount(0).address.toLowerCase(),
  topics: [],
  data: "0x",
  blockNumber: `0x${number.toString(16)}`,
  blockHash: HASH,
  transactionHash: HASH,
  logIndex: "0x0",
});
const receipt = {
  transactionHash: HASH,
  blockNumber: "0x1",
  blockHash: HASH,
  status: "0x1",
  gasUsed: "0x5208",
  effectiveGasPrice: "0x1",
  logs: [],
};
const readReceipt = () => pool.getReceipt(HASH);
const readLogs = () => pool.getLogs({ addresses: [testAccount(0).address], fromBlock: 0n, toBlock: 0n });
const lies: readonly [string, string, unknown, () => Promise<unknown>, unknown][] = [
  [
    "a decimal number",
    "eth_getBalance",
    "10",
    () => pool.getBalanceWei(testAccount(0).address),
    "not a 0x hex number",
  ],
  ["no code", "eth_call", "nothing", () => pool.call({ data: "0x" }), "not 0x hex"],
  ["a decimal status", "eth_getTransactionReceipt", { ...receipt, status: "1" }, readReceipt, "status"],
  ["no status", "eth_getTransactionReceipt", { ...receipt, status: null }, readReceipt, "status"],
  ["status 2", "eth_getTransactionReceipt", { ...receipt, status: "0x2" }, readReceipt, "status is 2"],
  [
    "another transaction's receipt",
    "eth_getTransactionReceipt",
    { ...receipt, transactionHash: HASH.replaceAll("1", "2") },
    readReceipt,
    "another transaction's",
  ],
  ["a log twice", "eth_getLogs", [log(0), log(0)], readLogs, "comes twice"],
  ["a log of another block", "eth_getLogs", [log(1)], readLogs, "was not asked for"],
  [
    "a log of another contract",
    "eth_getLogs",
    [{ ...log(0), address: `0x${"22".repeat(20)}` }],
    readLogs,
    "was not asked for",
  ],
];
test.each(lies)(
  "where the first node answers with %s, the second is believed",
  async (_, method, lie, read, why) => {
    inject(0, every(method, { result: () => lie }));
    inject(1, every(method, { result: (truth) => (method === "eth_getBalance" ? "0xa" : truth) }));
    inject(1, every("eth_call", { result: () => "0x" }));
    const answers: Record<string, unknown> = { eth_getBalance: 10n, eth_call: "0x", eth_getLogs: [] };
    expect(await read()).toEqual(answers[method]);
    expect(pool.nodes()).toMatchObject([
      { state: "failing", why: expect.stringContaining(String(why)) },
      { state: "healthy" },
    ]);
  },
);

test("logs of the block and the contract that were asked for are passed on", async () => {
  inject(0, every("eth_getLogs", { result: () => [log(0)] }));
  await expect(readLogs()).resolves.toHaveLength(1);
  expect(pool.nodes()).toMatchObject([{ state: "healthy" }, { state: "healthy" }]);
});

test.each([undefined, testAccount(0).address, [testAccount(0).address]])(
  "logs may be of one contract, of several, or of any (%s)",
  async (address) => {
    const found = log(0);
    inject(0, every("eth_getLogs", { result: () => [found] }));
    const filter = { ...(address === undefined ? {} : { address }), fromBlock: "0x0", toBlock: "0x0" };
    await expect(pool.request("eth_getLogs", [filter])).resolves.toEqual([found]);
    expect(pool.nodes()[0]).toMatchObject({ state: "healthy" });
  },
);
