import { expect, test } from "vitest";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { createChainFacts, type ChainReader } from "../../src/verify/chainFacts.ts";

/** Searches a chain for logs; returns what was found, and the ranges that the node was asked for. */
async function search({
  head,
  around = 0,
  searchesInParts = false,
  widest = Infinity,
}: {
  readonly head: number;
  readonly around?: number;
  readonly searchesInParts?: boolean;
  /** Most blocks that the node searches at once. */
  readonly widest?: number;
}) {
  const ranges: [number, number][] = [];
  const reader: ChainReader = {
    async request(method, [filter] = []) {
      if (method === "eth_blockNumber") return `0x${head.toString(16)}`;
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      const range: [number, number] = [Number(fromBlock), Number(toBlock)];
      if (range[1] - range[0] >= widest) throw new RpcError("eth_getLogs", "too many blocks");
      ranges.push(range);
      return [];
    },
  };
  const facts = createChainFacts(reader, {
    network: "test",
    chainId: 1,
    hasEthereumBlocks: true,
    searchesInParts,
  });
  const found = await facts.findLogs({ address: "0x1", topics: [] }, BigInt(around), 10);
  return { found, ranges };
}

test("default: a node is asked for the whole chain at once", async () => {
  const { found, ranges } = await search({ head: 5_000_000 });
  expect(found).toMatchObject({ from: 0n, to: 5_000_000n, isWhole: true });
  expect(ranges).toEqual([[0, 5_000_000]]);
});

test("behaviour: a node that refuses that is asked for 15,000 blocks before and after, 1,000 at a time", async () => {
  const { found, ranges } = await search({ head: 5_000_000, around: 2_000_000, widest: 1_000 });
  expect(found).toMatchObject({ from: 1_985_000n, to: 2_015_000n, isWhole: false });
  const early = await search({ head: 5_000_000, around: 10, widest: 1_000 });
  expect(early.found).toMatchObject({ from: 0n, to: 15_010n, isWhole: false });
  expect(ranges).toHaveLength(31);
  expect(ranges[0]).toEqual([1_985_000, 1_985_999]);
});

test("behaviour: so it is asked for a short chain, but for all of it", async () => {
  const { found, ranges } = await search({ head: 2_500, around: 2_400, widest: 1_000 });
  expect(found).toMatchObject({ from: 0n, to: 2_500n, isWhole: true });
  expect(ranges).toEqual([
    [0, 999],
    [1_000, 1_999],
    [2_000, 2_500],
  ]);
});

test("behaviour: a chain of this process is never asked for more than 1,000 blocks at once, nor for more than 31 times", async () => {
  const { found, ranges } = await search({ head: 1_000_000, around: 999_990, searchesInParts: true });
  expect(found).toMatchObject({ from: 984_990n, to: 1_000_000n });
  expect(ranges.length).toBeLessThanOrEqual(31);
  for (const [from, to] of ranges) expect(to - from).toBeLessThan(1_000);
});

test("behaviour: of a trace with a million calls, and calls to what is no address, the calls to the contract are read", async () => {
  const call = { type: "CALL", to: "0x1", input: "0x12" };
  const calls = [...Array<unknown>(1_000_000).fill(null), { ...call, to: { toString: 1 } }, call];
  const facts = createChainFacts(
    { request: async () => ({ calls }) },
    { network: "test", chainId: 1, hasEthereumBlocks: true },
  );
  expect(await facts.findCalls("0x2", "0x1")).toEqual(["0x12"]);
});
