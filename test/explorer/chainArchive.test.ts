import { expect, test } from "vitest";
import { AnswerError } from "../../src/evm/connection.ts";
import type { ChainClient } from "../../src/evm/client.ts";
import { createNodeArchive } from "../../src/explorer/chainArchive.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";

const ADDRESS = `0x${"c0".repeat(20)}` as const;
const hash = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, "0")}`;

/** Creates a node with one log per block that serves at most `limit` blocks of logs at once. Counts answers and refusals. */
function createNode(limit: number) {
  const calls = { answered: 0, refused: 0 };
  const request = async (_: string, [filter]: readonly { fromBlock: string; toBlock: string }[]) => {
    const [from, to] = [Number(filter!.fromBlock), Number(filter!.toBlock)];
    if (to - from + 1 > limit) {
      calls.refused += 1;
      const cause = new AnswerError("query exceeds limits", -32_005, undefined);
      throw new RpcError("eth_getLogs", cause.message, { answered: true, cause });
    }
    calls.answered += 1;
    return Array.from({ length: to - from + 1 }, (_, i) => ({
      address: ADDRESS,
      topics: [],
      data: "0x",
      blockNumber: `0x${(from + i).toString(16)}`,
      blockHash: hash(from + i),
      transactionHash: hash(from + i),
      transactionIndex: "0x0",
      logIndex: "0x0",
      removed: false,
    }));
  };
  return { calls, client: { request } as unknown as ChainClient };
}
const query = (blocks: number) => ({ address: ADDRESS, topics: [], fromBlock: 1n, toBlock: BigInt(blocks) });

test.each([
  [50_000, 1],
  [500, 2],
  [20, 90],
])("an external node that takes %d blocks at once gives all logs", async (limit, blocks) => {
  const { client } = createNode(limit);
  const archive = createNodeArchive(client, { isEmbedded: false });
  for (const count of [blocks, 600]) {
    const logs = await archive.findLogs(query(count));
    expect(logs.map(({ blockNumber }) => Number(blockNumber))).toEqual(
      Array.from({ length: count }, (_, i) => i + 1),
    );
  }
});

test("what a node takes is kept to, and more tried now and then", async () => {
  const { client, calls } = createNode(500);
  const archive = createNodeArchive(client, { isEmbedded: false });
  await archive.findLogs(query(10_000));
  const { refused } = calls;
  await archive.findLogs(query(1_000));
  expect(calls.refused - refused).toBeLessThan(2);
});

test("a node that takes too few is not asked without end", async () => {
  const { client, calls } = createNode(5);
  const archive = createNodeArchive(client, { isEmbedded: false });
  await expect(archive.findLogs(query(10_000))).rejects.toThrow("so few blocks at once");
  expect(calls.answered).toBe(100);
});

test("a node of the service's own is asked once", async () => {
  const { client, calls } = createNode(1_000_000);
  await createNodeArchive(client, { isEmbedded: true }).findLogs(query(20_000));
  expect(calls).toEqual({ answered: 1, refused: 0 });
});

test.each([
  ["0x", undefined],
  [`0xef0100${"12".repeat(20)}`, `0x${"12".repeat(20)}`],
  [`0xEF0100${"AB".repeat(20)}`, `0x${"ab".repeat(20)}`],
  [`0xef0100${"12".repeat(19)}`, undefined],
  [`0xef0100${"12".repeat(21)}`, undefined],
  [`0xef0101${"12".repeat(20)}`, undefined],
  [`0x60ef0100${"12".repeat(20)}`, undefined],
] as const)("the code %s delegates to %s (EIP-7702)", async (code, delegate) => {
  const node = { getBalanceWei: async () => 0n, getNonce: async () => 0, getCode: async () => code };
  const archive = createNodeArchive(node as unknown as ChainClient, { isEmbedded: true });
  expect((await archive.getAccount(ADDRESS)).delegate).toBe(delegate);
});

test("a block's fees go to nobody where the chain names the zero address, and there may be no base fee", async () => {
  const block = { number: "0x1", hash: hash(1), parentHash: hash(0), timestamp: "0x1", transactions: [] };
  const readBlock = async (more: object) => {
    const answer = { ...block, gasUsed: "0x1", gasLimit: "0x2", ...more };
    const client = { request: () => Promise.resolve(answer) } as unknown as ChainClient;
    return await createNodeArchive(client, { isEmbedded: false }).findBlock(1n);
  };
  expect(await readBlock({ miner: `0x${"00".repeat(20)}` })).toMatchObject({ miner: null, baseFeeWei: null });
  const fees = { miner: ADDRESS.toUpperCase().replace("X", "x"), baseFeePerGas: "0x7" };
  expect(await readBlock(fees)).toMatchObject({ miner: ADDRESS, baseFeeWei: 7n });
});

test("a transaction that has a receipt is mined, although the node has it among those that wait still", async () => {
  const sent = {
    hash: hash(7),
    from: ADDRESS,
    to: ADDRESS,
    nonce: "0x1",
    value: "0x0",
    gas: "0x1",
    input: "0x",
  };
  const answers: Readonly<Record<string, unknown>> = {
    eth_getTransactionByHash: { ...sent, blockHash: null, blockNumber: null, transactionIndex: null },
    eth_getTransactionReceipt: { blockHash: hash(1), blockNumber: "0x9", transactionIndex: "0x2" },
  };
  const read = (receipt: unknown) => {
    const request = async (method: string) =>
      method === "eth_getTransactionReceipt" ? receipt : answers[method];
    const archive = createNodeArchive({ request } as unknown as ChainClient, { isEmbedded: true });
    return archive.findTransaction(hash(7));
  };
  expect(await read(answers["eth_getTransactionReceipt"])).toMatchObject({ blockNumber: 9n, index: 2 });
  expect(await read(null)).toMatchObject({ hash: hash(7), blockNumber: null, index: null });
});
