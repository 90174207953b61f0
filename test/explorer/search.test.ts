import { encodeAbiParameters, pad, type Hex } from "viem";
import { expect, test } from "vitest";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import type { LogQuery } from "../../src/explorer/chainArchive.ts";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import { searchLabel } from "../../src/explorer/search.ts";

const data = encodeAbiParameters(
  ["uint256", "uint256", "string", "string"].map((type) => ({ type })),
  [0n, 0n, "dapp_a", "raffle"],
);

/** Creates a chain with a request of the label in each of these blocks. */
function chainWith(head: number, labelled: readonly number[]) {
  const queries: LogQuery[] = [];
  const archive = {
    getHeadNumber: () => Promise.resolve(BigInt(head)),
    findLogs(query: LogQuery) {
      queries.push(query);
      const found = labelled.filter((block) => block >= query.fromBlock && block <= query.toBlock);
      return Promise.resolve(
        found.map((block) => ({
          topics: [EVENT_TOPICS.Labelled, pad("0x1")],
          data,
          transactionHash: hash(block),
        })),
      );
    },
  };
  const chain = { network: "test", archive, contracts: {} } as unknown as ExploredChain;
  return { chain, queries };
}

const hash = (block: number): Hex => pad(`0x${block.toString(16)}`);

test("behaviour: a search for a label ends after 100,000 blocks, and the next one goes on below them", async () => {
  const { chain, queries } = chainWith(123_456, [7, 23_456, 23_457, 123_456]);
  const first = await searchLabel("raffle", chain);
  expect(first).toMatchObject({
    hits: [{ transactionHash: hash(123_456) }, { transactionHash: hash(23_457) }],
    older: 23_457n,
  });
  for (const { fromBlock, toBlock } of queries) expect(toBlock - fromBlock).toBe(9_999n);
  expect(queries).toHaveLength(10);
  expect(await searchLabel("raffle", chain, first.older!)).toMatchObject({
    hits: [{ transactionHash: hash(23_456) }, { transactionHash: hash(7) }],
    older: null,
  });
});

test("behaviour: it ends earlier where it has found 50, and leaves none of them out", async () => {
  const labelled = Array.from({ length: 70 }, (_, i) => 90_000 + i);
  const { chain } = chainWith(99_999, [5, ...labelled]);
  const { hits, older } = await searchLabel("raffle", chain);
  expect(hits).toHaveLength(70);
  expect(await searchLabel("raffle", chain, older!)).toMatchObject({ hits: [{}], older: null });
});
