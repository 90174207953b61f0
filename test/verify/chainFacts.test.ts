import type { Hex } from "viem";
import { expect, test } from "vitest";
import { toHexText } from "../../src/lib/hex.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { createChainFacts, type ChainReader, type SearchBounds } from "../../src/verify/chainFacts.ts";
import { encodeReceipt, encodeTransaction, hashHeader } from "../../src/verify/encodeBlock.ts";
import { trieRoot } from "../../src/verify/trieRoot.ts";

/** Searches a chain for logs; returns what was found, and the ranges that the node searched. */
async function search({
  head,
  around = 0,
  searchesInParts = false,
  widest = Infinity,
  oldest = 0,
  codeFrom = 0,
  ...bounds
}: SearchBounds & {
  readonly head: number;
  readonly around?: number;
  readonly searchesInParts?: boolean;
  /** Most blocks that the node searches at once. */
  readonly widest?: number;
  /** First block that it has. */
  readonly oldest?: number;
  /** Block in which the contract was deployed. */
  readonly codeFrom?: number;
}) {
  const ranges: [number, number][] = [];
  let asked = 0;
  const reader: ChainReader = {
    async request(method, [filter, block] = []) {
      if (method === "eth_blockNumber") return `0x${head.toString(16)}`;
      if (method === "eth_getCode") {
        if (Number(block) < oldest) throw new RpcError("eth_getCode", "missing trie node");
        return Number(block) < codeFrom ? "0x" : "0x60";
      }
      asked += 1;
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      const range: [number, number] = [Number(fromBlock), Number(toBlock)];
      if (range[1] - range[0] >= widest) throw new RpcError("eth_getLogs", "too many blocks");
      if (range[0] < oldest) throw new RpcError("eth_getLogs", "pruned");
      ranges.push(range);
      const transactionHash = `0x${Math.floor(range[0] / 1_000)}`;
      return [{ topics: [], data: "0x", transactionHash }];
    },
  };
  const facts = createChainFacts(reader, {
    network: "test",
    chainId: 1,
    hasEthereumBlocks: true,
    searchesInParts,
  });
  const options = { ...bounds, around: BigInt(around), limit: 1_000 };
  return { found: await facts.findLogs({ address: "0x1", topics: [] }, options), ranges, asked };
}

test("a node is asked for the whole chain at once", async () => {
  const { found, ranges } = await search({ head: 5_000_000 });
  expect(found).toMatchObject({ from: 0n, to: 5_000_000n, isWhole: true });
  expect(ranges).toEqual([[0, 5_000_000]]);
});

test("a node that refuses that is asked in parts, from the middle outwards, and what it names is in order", async () => {
  const { found, ranges } = await search({ head: 2_500, around: 1_200, widest: 1_000 });
  expect(found).toEqual({
    from: 0n,
    to: 2_500n,
    codeFrom: 0n,
    omits: false,
    isWhole: true,
    transactionHashes: ["0x0", "0x1", "0x2"],
  });
  expect(ranges).toEqual([
    [1_200, 1_849],
    [550, 1_199],
    [1_850, 2_499],
    [0, 549],
    [2_500, 2_500],
  ]);
});

test("it is asked 30 times, or as often as the caller says; what was left out is searched next", async () => {
  const wide = { head: 5_000_000, around: 2_000_000, widest: 10_000 };
  const first = await search(wide);
  expect(first.asked).toBe(31);
  expect(first.found).toMatchObject({ from: 1_850_000n, to: 2_149_999n, isWhole: false });
  const before = await search({ ...wide, parts: 1_000, toBlock: first.found.from - 1n });
  expect(before.found).toMatchObject({ from: 0n, to: 1_849_999n, isWhole: false });
  expect(before.ranges[0]).toEqual([1_849_999, 1_849_999]);
  const after = await search({ ...wide, parts: 1_000, fromBlock: first.found.to + 1n });
  expect(after.found).toMatchObject({ from: 2_150_000n, to: 5_000_000n, isWhole: false });
  expect((await search({ ...wide, parts: 1_000 })).found.isWhole).toBe(true);
});

test("of a chain of which a node has the newest blocks, these are searched", async () => {
  const { found } = await search({ head: 50_000, around: 49_990, oldest: 48_765, parts: 100 });
  expect(found).toMatchObject({ from: 48_765n, to: 50_000n, isWhole: false });
  const none = await search({ head: 50_000, around: 49_990, oldest: 60_000, parts: 100 });
  expect(none.found).toMatchObject({ from: 49_990n, to: 49_989n, isWhole: false, transactionHashes: [] });
});

test("a search begins where the contract had no code before, whatever block is published", async () => {
  const chain = { head: 50_000_000, around: 49_999_000, widest: 10_000, codeFrom: 49_990_000, parts: 10 };
  expect((await search(chain)).found).toMatchObject({ codeFrom: 0n, isWhole: false });
  for (const [published, codeFrom] of [
    [49_990_000n, 49_990_000n],
    [49_990_001n, 49_990_000n],
    [49_990_005n, 49_989_998n],
    // Earlier draws can't be hidden by a later block.
    [49_995_000n, 49_986_809n],
    [49_980_000n, 49_980_000n],
  ] as const)
    expect((await search({ ...chain, deploymentBlock: published })).found).toMatchObject({
      from: codeFrom,
      codeFrom,
      isWhole: true,
    });
});

test("a node without state of that time shows no beginning, nor does one that shows it after the request", async () => {
  const chain = { head: 50_000, around: 49_990, widest: 1_000, codeFrom: 40_000 };
  const pruned = await search({ ...chain, oldest: 45_000, deploymentBlock: 40_001n });
  expect(pruned.found).toMatchObject({ from: 45_000n, codeFrom: undefined, isWhole: false });
  const late = await search({ ...chain, codeFrom: 49_999, deploymentBlock: 49_999n });
  expect(late.found).toMatchObject({ codeFrom: undefined, isWhole: false });
  expect(late.ranges.some(([from]) => from < 49_990)).toBe(true);
});

test("a chain of this process is never asked for more than 1,000 blocks at once, nor for more than 30 times", async () => {
  const { found, ranges } = await search({ head: 1_000_000, around: 999_990, searchesInParts: true });
  expect(found).toMatchObject({ to: 1_000_000n, isWhole: false });
  expect(ranges).toHaveLength(30);
  for (const [from, to] of ranges) expect(to - from).toBeLessThan(1_000);
});

test("of a trace with a million calls, and calls to what is no address, the calls to the contract are read", async () => {
  const call = { type: "CALL", to: "0x1", input: "0x12" };
  const calls = [...Array<unknown>(1_000_000).fill(null), { ...call, to: { toString: 1 } }, call];
  const facts = createChainFacts(
    { request: async () => ({ calls }) },
    { network: "test", chainId: 1, hasEthereumBlocks: true },
  );
  expect(await facts.findCalls("0x2", "0x1")).toEqual(["0x12"]);
});

test("a search that goes on adds up with the part before it, unless blocks lie between them", async () => {
  const wide = { head: 50_000, around: 20_000, widest: 1_000, parts: 10 };
  const { found } = await search(wide);
  expect(found.isWhole).toBe(false);
  const earlier = { ...found, label: "raffle" };
  const rest = { ...wide, parts: 100, earlier };
  const after = await search({ ...rest, fromBlock: found.to + 1n });
  expect(after.found).toMatchObject({ from: found.from, to: 50_000n, isWhole: false });
  const before = await search({
    ...rest,
    toBlock: found.from - 1n,
    earlier: { ...after.found, label: "raffle" },
  });
  expect(before.found).toMatchObject({ from: 0n, to: 50_000n, isWhole: true, omits: false });
  const { transactionHashes } = before.found;
  expect(transactionHashes.slice(-1)).toEqual(["0x50"]);
  expect(new Set(transactionHashes)).toEqual(
    new Set((await search({ ...wide, parts: 100 })).found.transactionHashes),
  );
  // One block lies between them.
  const apart = await search({ ...rest, fromBlock: found.to + 2n });
  expect(apart.found).toMatchObject({ from: found.to + 2n, isWhole: false });
  // What an earlier part left out stays left out.
  const omitting = await search({
    ...rest,
    toBlock: found.from - 1n,
    earlier: { ...after.found, omits: true, label: "raffle" },
  });
  expect(omitting.found).toMatchObject({ from: 0n, to: 50_000n, isWhole: false, omits: true });
});

/** Creates a chain of which no header rules out a log, with this many transactions in each block. */
function createFullChain(blocks: number, transactions: number) {
  const zero = `0x${"00".repeat(32)}`;
  const [nothing, logsBloom] = ["0x0", `0x${"ff".repeat(256)}`];
  const call = { nonce: nothing, gasPrice: nothing, gas: nothing, to: null, value: nothing, input: "0x" };
  const all = Array.from({ length: transactions }, () => ({ ...call, v: "0x1b", r: "0x1", s: "0x1" }));
  const receipts = all.map(() => ({ status: "0x1", cumulativeGasUsed: nothing, logsBloom, logs: [] }));
  const body = {
    sha3Uncles: zero,
    miner: zero.slice(0, 42),
    stateRoot: zero,
    mixHash: zero,
    logsBloom,
    difficulty: nothing,
    gasLimit: nothing,
    gasUsed: nothing,
    timestamp: nothing,
    extraData: "0x",
    nonce: `0x${"00".repeat(8)}`,
    transactionsRoot: toHexText(trieRoot(all.map((one) => encodeTransaction(one)))),
    receiptsRoot: toHexText(trieRoot(receipts.map(encodeReceipt))),
    transactions: all,
  };
  const chain = new Map<unknown, object>();
  let hash = zero as Hex;
  for (let number = 0; number <= blocks; number += 1) {
    const block = { ...body, parentHash: hash, number: `0x${number.toString(16)}` };
    hash = hashHeader(block);
    chain.set(hash, block).set(block.number, block);
  }
  const reader: ChainReader = {
    request: async (method, [of] = []) => (method === "eth_getBlockReceipts" ? receipts : chain.get(of)),
  };
  return { reader, hash };
}

test.each([
  { blocks: 1_010, transactions: 1, read: 1_000 },
  { blocks: 12, transactions: 2_000, read: 10 },
])(
  "of full blocks 1,000 are read, and no more than have 20,000 transactions: $transactions each",
  async ({ blocks, transactions, read }) => {
    const { reader, hash } = createFullChain(blocks, transactions);
    const facts = createChainFacts(reader, { network: "test", chainId: 1, hasEthereumBlocks: true });
    const options = { block: BigInt(blocks), hash, from: 0n };
    const { from } = await facts.proveLogs({ address: `0x${"01".repeat(20)}`, topics: [] }, options);
    expect(from).toBe(BigInt(blocks - read + 1));
  },
);

test("a header that the node fails to show is asked for again", async () => {
  const { reader, hash } = createFullChain(40, 1);
  const asked = new Set<unknown>();
  const flaky: ChainReader = {
    async request(method, parameters = []) {
      const isFirst = method === "eth_getBlockByNumber" && !asked.has(parameters[0]);
      asked.add(parameters[0]);
      if (isFirst) throw new RpcError(method, "too many requests");
      return await reader.request(method, parameters);
    },
  };
  const facts = createChainFacts(flaky, { network: "test", chainId: 1, hasEthereumBlocks: true });
  const search = { address: `0x${"01".repeat(20)}`, topics: [] } as const;
  expect(await facts.proveLogs(search, { block: 40n, hash, from: 0n })).toMatchObject({ from: 0n });
});
