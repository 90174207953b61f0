import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { toHex } from "viem";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { BlockHead } from "../../src/evm/client.ts";
import { createPoolClient, type NodePoolOptions, type PoolClient } from "../../src/evm/nodePool.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import {
  every,
  first,
  startFaultyNode,
  type Fault,
  type FaultRule,
  type FaultyNode,
} from "../support/faultyNode.ts";

const SEND = "eth_sendRawTransaction";

let chain: TestChain;
let nodes: FaultyNode[];
let pool: PoolClient;
let undo: (() => void)[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  nodes = [await startFaultyNode(chain), await startFaultyNode(chain)];
});
afterEach(async () => {
  for (const each of undo) each();
  undo = [];
  vi.restoreAllMocks();
  await pool.close();
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await chain.close();
});

/** Opens a pool that checks all nodes once, and then only on demand. */
async function open(options: Partial<NodePoolOptions> = {}): Promise<PoolClient> {
  pool = createPoolClient({
    rpcUrls: nodes.map((node) => node.httpUrl),
    chainId: chain.chainId,
    timeoutMs: 60_000,
    hedgeMs: 60_000,
    probeMs: 3_600_000,
    ...options,
  });
  await pool.checkNodes();
  for (const node of nodes) node.calls.splice(0);
  return pool;
}
const inject = (index: number, rule: FaultRule): void => void undo.push(nodes[index]!.inject(rule));
const asked = (index: number, method: string) =>
  nodes[index]!.calls.filter((call) => call.method === method).length;
const states = () => pool.nodes().map(({ state }) => state);
const mine = (blocks: number) => chain.client.request("anvil_mine", [`0x${blocks.toString(16)}`]);

test("asks the first node, and knows how each stands", async () => {
  await open();
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect([asked(0, "eth_getBalance"), asked(1, "eth_getBalance")]).toEqual([1, 0]);
  expect(pool.nodes()).toMatchObject([
    { node: 1, state: "healthy", chainId: 31337 },
    { node: 2, state: "healthy", chainId: 31337 },
  ]);
  expect(pool).toMatchObject({ isOneNode: false, isSureOfLogs: true, rpcUrl: "" });
});

const faults: readonly [string, FaultRule, string][] = [
  ["says 429", () => ({ status: 429 }), "status 429"],
  ["says 503", () => ({ status: 503 }), "status 503"],
  ["answers a page", () => ({ page: "<html>busy</html>" }), "not JSON-RPC"],
  ["breaks the connection", () => ({ breakLine: true }), "reached"],
  ["never answers", every("eth_getBalance", { dropAnswer: true }), "no answer within 500 ms"],
  [
    "is over its rate limit",
    () => ({ error: { code: -32_005, message: "request rate limited" } }),
    "request rate limited",
  ],
];
test.each(faults)("where the first node %s, the second answers", async (_, rule, why) => {
  await open({ hedgeMs: 500 });
  // Half a second passes until the second node answers, of the second for which a node that fails is left alone.
  let now = Math.ceil(performance.now());
  vi.spyOn(performance, "now").mockImplementation(() => now);
  inject(0, rule);
  inject(1, () => void (now += 500));
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect(pool.nodes()[0]).toMatchObject({ state: "failing", why: expect.stringContaining(why) });
  const before = nodes[0]!.calls.length;
  await pool.getBalanceWei(testAccount(0).address);
  expect(nodes[0]!.calls.length).toBe(before);
});

test("requests that fail together are one failure: the node is left alone for a second", async () => {
  await open();
  const heal = nodes[0]!.inject(() => ({ status: 503 }));
  await Promise.all(Array.from({ length: 20 }, () => pool.getBalanceWei(testAccount(0).address)));
  heal();
  expect(states()).toEqual(["failing", "healthy"]);
  // Twenty failures in a row would keep it out for 30 seconds.
  await vi.waitFor(
    async () => {
      await pool.checkNodes();
      expect(states()).toEqual(["healthy", "healthy"]);
    },
    { interval: 100 },
  );
});

test("the only node is asked again after a bad answer, and is not left alone for long", async () => {
  await open({ rpcUrls: [nodes[0]!.httpUrl] });
  let calls = 0;
  inject(0, ({ method }) =>
    method === "eth_getBalance" && calls++ % 2 === 0
      ? { page: "<html>busy</html>", reach: false }
      : undefined,
  );
  for (let i = 0; i < 5; i += 1)
    await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect(states()).toEqual(["healthy"]);
  const heal = nodes[0]!.inject(() => ({ status: 503 }));
  await expect(pool.getBalanceWei(testAccount(0).address)).rejects.toThrow("node 1");
  heal();
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
});

test("a node that was just asked, because another one was slow, isn't called slow", async () => {
  await open({ hedgeMs: 2_000 });
  const isSecondAsked = Promise.withResolvers<void>();
  inject(0, every("eth_getBalance", { until: isSecondAsked.promise }));
  inject(1, ({ method }) => {
    if (method !== "eth_getBalance") return undefined;
    isSecondAsked.resolve();
    return { dropAnswer: true };
  });
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("a node that has recovered is asked again", async () => {
  await open();
  const heal = nodes[0]!.inject(() => ({ status: 503 }));
  await pool.getBalanceWei(testAccount(0).address);
  expect(states()).toEqual(["failing", "healthy"]);
  heal();
  await vi.waitFor(
    async () => {
      await pool.checkNodes();
      expect(states()).toEqual(["healthy", "healthy"]);
    },
    { interval: 200 },
  );
  await pool.getBalanceWei(testAccount(0).address);
  expect(asked(0, "eth_getBalance")).toBe(2);
});

test.each([
  ["a call that reverts", "eth_call", { code: 3, message: "execution reverted", data: "0x08c379a0" }],
  ["a spent nonce", SEND, { code: -32_000, message: "nonce too low" }],
  ["a transaction that is known", SEND, { code: -32_000, message: "already known" }],
])("%s is the answer, and no other node is asked", async (_, method, error) => {
  await open();
  inject(0, every(method, { error }));
  await expect(pool.request(method, ["0x"])).rejects.toMatchObject({
    answered: true,
    message: expect.stringContaining(error.message),
  });
  expect(asked(1, method)).toBe(0);
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("what the first node has not got, the second is asked for", async () => {
  await open();
  inject(0, every("eth_getLogs", { error: { code: -32_000, message: "unknown block" } }));
  const { hash } = (await chain.client.getHead("latest"))!;
  await expect(pool.getLogs({ addresses: [], blockHash: hash })).resolves.toEqual([]);
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("logs of a block that the first node has not got are asked of the second, whatever it says of them", async () => {
  await open();
  await mine(1);
  const { hash, number } = (await chain.client.getHead("latest"))!;
  inject(0, every("eth_getLogs", { result: () => [] }));
  inject(0, every("eth_getBlockByHash", { result: () => null }));
  inject(0, every("eth_getBlockByNumber", { result: () => null }));
  await expect(pool.getLogs({ addresses: [], blockHash: hash })).resolves.toEqual([]);
  expect(asked(1, "eth_getLogs")).toBe(1);
  await pool.getLogs({ addresses: [], fromBlock: 0n, toBlock: number });
  expect(asked(1, "eth_getLogs")).toBe(2);
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("a receipt that the first node doesn't know is asked of the second", async () => {
  await open();
  const method = "eth_getTransactionReceipt";
  await expect(pool.getReceipt(`0x${"5".repeat(64)}`)).resolves.toBeUndefined();
  expect([asked(0, method), asked(1, method)]).toEqual([1, 1]);
  const { number } = (await chain.client.getHead("latest"))!;
  inject(0, every("eth_getBlockByNumber", { result: () => null }));
  await expect(pool.getHead(number)).resolves.toMatchObject({ number });
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("what one node doesn't know is unknown while the other one fails", async () => {
  await open();
  inject(1, () => ({ breakLine: true, reach: false }));
  await expect(pool.getHead(0xffffn)).resolves.toBeUndefined();
  expect(states()).toEqual(["healthy", "failing"]);
  await expect(pool.getHead(0xffffn)).resolves.toBeUndefined();
});

test("logs and receipts asked of every node are all that any of them has", async () => {
  await open();
  // Its creation emits a log without topics.
  const { transactionHash, blockNumber } = await chain.send(testAccount(0), { data: "0x60006000a0" });
  inject(0, every("eth_getLogs", { result: () => [] }));
  inject(
    0,
    every("eth_getTransactionReceipt", { result: (receipt) => ({ ...(receipt as object), status: "0x0" }) }),
  );
  const range = { addresses: [], fromBlock: blockNumber, toBlock: blockNumber };
  expect(await pool.getLogs(range)).toEqual([]);
  expect(await pool.getLogsOfEach(range)).toMatchObject([{ transactionHash }]);
  expect((await pool.getReceipts(transactionHash)).map(({ succeeded }) => succeeded)).toEqual([false, true]);
  inject(1, () => ({ status: 503 }));
  expect(await pool.getLogsOfEach(range)).toEqual([]);
});

test("another block than the one asked for is no answer", async () => {
  await open();
  inject(
    0,
    every("eth_getBlockByNumber", { result: (block) => ({ ...(block as object), number: "0xfffff" }) }),
  );
  await expect(pool.getHead(0n)).resolves.toMatchObject({ number: 0n });
  expect(pool.nodes()[0]).toMatchObject({
    state: "failing",
    why: "asked for block 0, it returned a different one",
  });
});

test("a node of another chain is excluded, and the message names both ids", async () => {
  inject(0, every("eth_chainId", { result: () => "0x5" }));
  await open();
  expect(pool.nodes()[0]).toMatchObject({
    state: "excluded",
    chainId: 5,
    why: "its chain id is 5, but 31337 is expected",
  });
  await pool.getBalanceWei(testAccount(0).address);
  expect(asked(0, "eth_getBalance")).toBe(0);
});

test("a node that answers from another chain later is excluded at the next check", async () => {
  await open();
  inject(0, every("eth_chainId", { result: () => "0x5" }));
  await pool.checkNodes();
  expect(states()).toEqual(["excluded", "healthy"]);
});

test.each([
  ["ahead", 100n],
  ["behind", -100n],
])("a head far %s has the node asked for its chain at once", async (_, distance) => {
  await mine(200);
  await open();
  inject(0, every("eth_chainId", { result: () => "0x5" }));
  inject(
    0,
    every("eth_getBlockByNumber", {
      result: (block) => {
        const { number } = block as { readonly number: string };
        return { ...(block as object), number: toHex(BigInt(number) + distance) };
      },
    }),
  );
  await pool.getHead("latest");
  expect(states()).toEqual(["excluded", "healthy"]);
});

test.each<[string, Fault]>([
  ["refuses to name its chain", { error: { code: -32_000, message: "internal" } }],
  ["names no chain id", { result: (chainId) => [chainId, null] }],
])("where the first node %s, the second answers", async (_, fault) => {
  inject(0, every("eth_chainId", fault));
  await open();
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect(asked(0, "eth_getBalance")).toBe(0);
  expect(states()).toEqual(["failing", "healthy"]);
});

test("the only node is asked again after it has refused to name its chain", async () => {
  await open({ rpcUrls: [nodes[0]!.httpUrl], hedgeMs: 1_000 });
  inject(0, first(1, "eth_getBalance", { status: 503 }));
  inject(0, first(2, "eth_chainId", { error: { code: -32_000, message: "internal" } }));
  await expect(pool.getBalanceWei(testAccount(0).address)).resolves.toBeGreaterThan(0n);
  expect(states()).toEqual(["healthy"]);
});

test("where all nodes are of another chain, the error says so", async () => {
  await open({ chainId: 1 });
  await expect(pool.getHead("latest")).rejects.toThrow("node 2: its chain id is 31337, but 1 is expected");
});

test("a node behind the others is asked after them", async () => {
  const old = await chain.client.request("eth_getBlockByNumber", ["0x0", false]);
  await mine(20);
  inject(0, ({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: () => old } : undefined,
  );
  await open();
  expect(states()).toEqual(["lagging", "healthy"]);
  await pool.getBalanceWei(testAccount(0).address);
  expect([asked(0, "eth_getBalance"), asked(1, "eth_getBalance")]).toEqual([0, 1]);
});

test("a head far ahead of blocks that the node has not got is not believed", async () => {
  await open();
  const { number, hash } = (await chain.client.getHead("latest"))!;
  inject(0, ({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? { result: (block) => ({ ...(block as object), number: "0xffffff" }) }
      : undefined,
  );
  await expect(pool.getHead("latest")).resolves.toMatchObject({ number, hash });
  expect(pool.nodes()[0]).toMatchObject({
    state: "failing",
    why: expect.stringContaining("block 16777215"),
  });
  await pool.checkNodes();
  expect(states()).toEqual(["failing", "healthy"]);
});

test("a head that is far ahead and there is believed", async () => {
  await open();
  await mine(50);
  await expect(pool.getHead("latest")).resolves.toMatchObject({
    number: (await chain.client.getHead("latest"))!.number,
  });
  expect(states()).toEqual(["healthy", "healthy"]);
});

test("a signed transaction is handed to the other nodes, too", async () => {
  await open();
  const account = testAccount(5);
  const { raw } = await account.sign({
    type: "legacy",
    chainId: chain.chainId,
    nonce: await chain.client.getNonce(account.address, "latest"),
    gasPrice: chain.gasPriceWei,
    gas: 21_000n,
    to: account.address,
  });
  await pool.request(SEND, [raw]);
  await vi.waitFor(() => expect([asked(0, SEND), asked(1, SEND)]).toEqual([1, 1]));
});

test("heads are pushed by the next node when the first is gone", async () => {
  const spare = await startFaultyNode(chain);
  await open({ rpcUrls: [spare.wsUrl, nodes[0]!.httpUrl, nodes[1]!.wsUrl] });
  const heads: BlockHead[] = [];
  const stop = await pool.subscribeHeads((head) => heads.push(head));
  const expectHeads = () =>
    vi.waitFor(
      async () => {
        await mine(1);
        await pool.checkNodes();
        expect(heads.length).toBeGreaterThan(1);
      },
      { interval: 100 },
    );
  await expectHeads();
  await spare.close();
  heads.splice(0);
  await expectHeads();
  expect(heads.map(({ number }) => number)).toEqual(
    heads.map(({ number }) => number).toSorted((a, b) => Number(a - b)),
  );
  stop?.();
});

test("a node that has stopped pushing is subscribed to anew", async () => {
  await open({ rpcUrls: [nodes[0]!.wsUrl] });
  const heads: BlockHead[] = [];
  const stop = await pool.subscribeHeads((head) => heads.push(head));
  await vi.waitFor(async () => {
    await mine(1);
    expect(heads.length).toBeGreaterThan(0);
  });
  // The connection stays open, and answers still arrive on it.
  nodes[0]!.loseSubscriptions();
  const lost = (await chain.client.getHead("latest"))!.number;
  await vi.waitFor(
    async () => {
      await mine(10);
      await pool.checkNodes();
      expect(heads.some(({ number }) => number > lost)).toBe(true);
    },
    { interval: 100 },
  );
  stop?.();
});

test("without a URL that pushes there is nothing to subscribe to", async () => {
  await open();
  await expect(pool.subscribeHeads(() => {})).resolves.toBeUndefined();
});

test("no part of an error or a status holds a URL or a host", async () => {
  const server = createServer((request, response) => {
    response.statusCode = 200;
    response.end(
      JSON.stringify({ id: 1, error: { code: -32_000, message: `https://localhost${request.url} revert` } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const path = "/v3/s3cr3t-pr0j3ct-k3y";
  await open({ rpcUrls: [`http://localhost:${port}${path}`, `http://localhost:1${path}`] });
  const error: unknown = await pool.getHead("latest").catch((thrown: unknown) => thrown);
  server.close();
  expect(error).toMatchObject({ code: "chain_unavailable" });
  const shown = inspect([error, pool.nodes()], { depth: Infinity, showHidden: true });
  expect(shown).not.toMatch(/s3cr3t|localhost:|http:/);
});
