import { encodeAbiParameters, pad, type Hex } from "viem";
import { expect, test } from "vitest";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import type { LogQuery } from "../../src/explorer/chainArchive.ts";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import { presetRequestId } from "../../src/chainlink/presetBatch.ts";
import { parseCursor } from "../../src/explorer/lists.ts";
import { searchChain, searchLabel } from "../../src/explorer/search.ts";

const CONSUMER: Hex = `0x${"c0".repeat(20)}`;
const encode = (types: readonly string[], values: readonly unknown[]) =>
  encodeAbiParameters(
    types.map((type) => ({ type })),
    values,
  );
const dataOf = (label: string, item = 0) =>
  encode(["uint256", "uint256", "string", "string"], [0n, BigInt(item), "dapp_a", label]);

/** Creates a chain with a request in each of these blocks, with a label; those in one block are of one transaction. */
function chainWith(head: number, labelled: readonly number[], labelOf = (_block: number) => "raffle") {
  const queries: LogQuery[] = [];
  const receipts: Hex[] = [];
  const archive = {
    getHeadNumber: () => Promise.resolve(BigInt(head)),
    findLogs(query: LogQuery) {
      queries.push(query);
      const found = labelled.filter((block) => block >= query.fromBlock && block <= query.toBlock);
      return Promise.resolve(
        found.map((block, item) => ({
          topics: [EVENT_TOPICS.Labelled, pad("0x1")],
          data: dataOf(labelOf(block), item),
          blockNumber: BigInt(block),
          logIndex: item,
          transactionHash: hash(block),
        })),
      );
    },
    findReceipt(transactionHash: Hex) {
      receipts.push(transactionHash);
      const block = Number(transactionHash);
      const accepted = encode(["uint256", "uint256"], [0n, BigInt(block)]);
      return Promise.resolve({
        logs: [
          { address: CONSUMER, topics: [EVENT_TOPICS.Accepted], data: accepted },
          { address: CONSUMER, topics: [EVENT_TOPICS.Labelled, pad("0x1")], data: dataOf(labelOf(block)) },
        ],
      });
    },
  };
  const chain = {
    network: "test",
    archive,
    contracts: { presetConsumer: CONSUMER },
  } as unknown as ExploredChain;
  return { chain, queries, receipts };
}

const hash = (block: number): Hex => pad(`0x${block.toString(16)}`);

test("a search for a label ends after 100,000 blocks, and the next one goes on below them", async () => {
  const { chain, queries } = chainWith(123_456, [7, 23_456, 23_457, 123_456]);
  const first = await searchLabel({ label: "raffle" }, chain);
  expect(first).toMatchObject({
    hits: [{ transactionHash: hash(123_456) }, { transactionHash: hash(23_457) }],
    older: "23457",
  });
  for (const { fromBlock, toBlock } of queries) expect(toBlock - fromBlock).toBe(9_999n);
  expect(queries).toHaveLength(10);
  expect(await searchLabel({ label: "raffle" }, chain, { block: 23_457n })).toMatchObject({
    hits: [{ transactionHash: hash(23_456) }, { transactionHash: hash(7) }],
    older: null,
  });
});

test("it ends after 50, and the next one goes on right behind the last log", async () => {
  const labelled = Array.from({ length: 70 }, (_, i) => 90_000 + i);
  const { chain, receipts } = chainWith(99_999, [5, ...labelled]);
  const { hits, older } = await searchLabel({ label: "raffle" }, chain);
  expect(hits).toHaveLength(50);
  expect(receipts).toHaveLength(50);
  const further = await searchLabel({ label: "raffle" }, chain, parseCursor(older!));
  expect([further.hits.length, further.older]).toEqual([21, null]);
});

test("finds each of a block's requests once, however many they are, and reads each receipt once", async () => {
  const inOneBlock = (block: number, count: number) => Array.from({ length: count }, () => block);
  const { chain, receipts } = chainWith(9_999, [...inOneBlock(7, 120), ...inOneBlock(9, 30)]);
  const pages: number[] = [];
  for (let older: string | null | undefined; older !== null;) {
    const page = await searchLabel(
      { label: "raffle" },
      chain,
      older === undefined ? older : parseCursor(older)!,
    );
    pages.push(page.hits.length);
    older = page.older;
  }
  expect(pages).toEqual([50, 50, 50]);
  expect(receipts).toEqual([hash(9), hash(7), hash(7), hash(7)]);
});

test("a part of a label finds the requests whose label contains it, 50 on a page, with their ids on the chain", async () => {
  const { chain } = chainWith(
    99,
    Array.from({ length: 70 }, (_, block) => block),
    (block) => `raffle-${block}`,
  );
  const { hits, older } = await searchLabel({ label: "raffle" }, chain);
  expect(hits).toHaveLength(50);
  expect(hits[0]).toMatchObject({ label: "raffle-69", requestId: hash(69) });
  const further = await searchLabel({ label: "raffle" }, chain, parseCursor(older!));
  expect([further.hits.length, further.hits[0], further.older]).toMatchObject([
    20,
    { label: "raffle-19" },
    null,
  ]);
  expect((await searchLabel({ label: "raffle-6" }, chain)).hits).toMatchObject([{ label: "raffle-6" }]);
  expect((await searchLabel({ label: "fle-6" }, chain)).hits).toMatchObject(
    [69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 6].map((n) => ({ label: `raffle-${n}` })),
  );
  expect((await searchLabel({ label: "f" }, chain)).hits).toEqual([]);
  expect((await searchLabel({ label: "raffles" }, chain)).hits).toEqual([]);
});

test("finds each of the requests of one batch with the same label", async () => {
  const { chain } = chainWith(9, [5]);
  const log = (topic: Hex, data: Hex, ...topics: Hex[]) => ({
    address: CONSUMER,
    topics: [topic, ...topics],
    data,
    transactionHash: hash(5),
  });
  const labelled = [0n, 1n, 2n].map((item) =>
    log(
      EVENT_TOPICS.Labelled,
      encode(["uint256", "uint256", "string", "string"], [0n, item, "dapp_a", "raffle"]),
      pad("0x1"),
    ),
  );
  const vrfRequestId = pad("0x77");
  const archive = {
    ...chain.archive,
    findLogs: async () => labelled,
    findReceipt: async () => ({
      logs: [
        log(EVENT_TOPICS.BatchRequested, encode(["bytes"], ["0x"]), vrfRequestId),
        log(EVENT_TOPICS.Accepted, encode(["uint256", "uint256"], [0n, BigInt(vrfRequestId)])),
        ...labelled,
      ],
    }),
  };
  const { hits } = await searchLabel({ label: "raffle" }, { ...chain, archive } as unknown as ExploredChain);
  expect(hits.map((hit) => "requestId" in hit && hit.requestId).toReversed()).toEqual(
    [0, 1, 2].map((item) => presetRequestId(vrfRequestId, item)),
  );
});

test("finds known addresses by their beginning", async () => {
  const { chain } = chainWith(9, []);
  const party = (address: Hex) => ({ address });
  const book = { party, findByName: () => [party(CONSUMER), party(hash(5))] } as unknown as AddressBook;
  expect(await searchChain({ prefix: "0xc0c0c0c0" }, chain, book)).toEqual([
    { network: "test", kind: "address", party: { address: CONSUMER } },
  ]);
});

test("a dapp's id finds the requests with its labels, whatever these are", async () => {
  const { chain } = chainWith(99, [7, 8], (block) => `raffle-${block}`);
  expect((await searchLabel({ dapp: "dapp_a" }, chain)).hits).toMatchObject([
    { label: "raffle-8", dapp: "dapp_a" },
    { label: "raffle-7", dapp: "dapp_a" },
  ]);
  expect((await searchLabel({ dapp: "dapp_" }, chain)).hits).toEqual([]);
});
