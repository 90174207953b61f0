import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import type { RawLog, Receipt } from "../../src/lib/nodeAnswers.ts";
import type {
  ArchivedBlock,
  ArchivedTransaction,
  ChainArchive,
  LogQuery,
} from "../../src/explorer/chainArchive.ts";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import {
  parseCursor,
  readAddressTransactions,
  readBlocks,
  readTransactions,
  summarizeTransactions,
} from "../../src/explorer/lists.ts";
import { searchRequest } from "../../src/explorer/search.ts";
import type { Appearance, AppearanceQuery } from "../../src/networks/network.ts";
import { idOf } from "../oracle/support/logs.ts";

const ALICE: Hex = `0x${"a".repeat(40)}`;
const BOB: Hex = `0x${"b".repeat(40)}`;
const book = { party: (address: Hex) => ({ address }), methodOf: () => "" } as unknown as AddressBook;

/**
 * Creates a chain whose blocks have transactions of Alice (`1`) and of others (`0`); blocks below `kept` are pruned.
 */
function createChain(blocks: readonly string[], { isEmbedded = true, kept = 0, isIndexed = false } = {}) {
  const chain = {
    blocks: [...blocks],
    asked: 0,
    receipts: 0,
    queries: [] as LogQuery[],
    logs: [] as RawLog[],
  };
  const block = (number: number): ArchivedBlock => ({
    number: BigInt(number),
    hash: idOf(BigInt(number) + 10_000n),
    parentHash: idOf(0n),
    miner: null,
    baseFeeWei: null,
    timestamp: 1n,
    gasUsed: 0n,
    gasLimit: 0n,
    transactions: Array.from(chain.blocks[number]!).map(
      (own, index) =>
        ({
          hash: idOf(BigInt(number * 100 + index)),
          from: own === "1" ? ALICE : BOB,
          to: BOB,
          created: null,
          input: "0x",
          valueWei: 0n,
        }) as unknown as ArchivedTransaction,
    ),
  });
  const findAppearances = async ({ below, limit }: AppearanceQuery) => {
    const all = chain.blocks.flatMap((own, number): Appearance[] =>
      Array.from(own).flatMap((one, index) =>
        one === "1" ? { block: number, blockHash: block(number).hash, index } : [],
      ),
    );
    const isWanted = ({ block: number, index }: Appearance): boolean =>
      below === undefined || number < below.block || (number === below.block && index < (below.index ?? 0));
    const found = all.toReversed().filter(isWanted).slice(0, limit);
    return { found, through: chain.blocks.length - 1, hasRemoved: kept > 0 };
  };
  const archive = {
    ...(isIndexed && { findAppearances }),
    getHeadNumber: async () => BigInt(chain.blocks.length - 1),
    async findBlock(number: bigint) {
      chain.asked += 1;
      return number >= BigInt(kept) && number < chain.blocks.length ? block(Number(number)) : undefined;
    },
    async findReceipt(hash: Hex) {
      chain.receipts += 1;
      const succeeded = BigInt(hash) % 2n === 0n;
      return { succeeded, gasUsed: 2n, effectiveGasPriceWei: 3n, logs: [] as RawLog[] } as unknown as Receipt;
    },
    async findLogs(query: LogQuery) {
      chain.queries.push(query);
      const { address, topics, fromBlock, toBlock } = query;
      return chain.logs.filter(
        (log) =>
          log.address === address &&
          topics.every((topic, i) => topic === null || [topic].flat().includes(log.topics[i]!)) &&
          log.blockNumber >= fromBlock &&
          log.blockNumber <= toBlock,
      );
    },
  } as unknown as ChainArchive;
  const contracts = {
    vrfCoordinator: BOB,
    batchVrfCoordinator: BOB,
    functionsRouter: ALICE,
    functionsCoordinator: ALICE,
    presetConsumer: BOB,
    link: BOB,
  } as unknown as StackAddresses;
  return Object.assign(chain, {
    explored: { network: "test", isEmbedded, archive, contracts } as unknown as ExploredChain,
    archive,
  });
}

/** Returns the hashes on every page of Alice's transactions, and the number of pages. */
async function readAll(chain: ReturnType<typeof createChain>, onPage?: () => void) {
  const hashes: Hex[] = [];
  for (let pages = 1, before; ; pages += 1) {
    const page = await readAddressTransactions(chain.explored, book, ALICE, before);
    hashes.push(...page.transactions.map(({ hash }) => hash));
    onPage?.();
    if (page.older === null) return { hashes, pages, isForgotten: page.isForgotten };
    before = parseCursor(page.older);
    expect(before).toBeDefined();
  }
}

const hashesOf = ({ blocks }: { readonly blocks: readonly string[] }, from = 0): Hex[] =>
  blocks
    .flatMap((own, number) =>
      Array.from(own).flatMap((one, i) =>
        one === "1" && number >= from ? [idOf(BigInt(number * 100 + i))] : [],
      ),
    )
    .toReversed();

describe("the pages of an address's transactions", () => {
  test("have each once, newest first, also where a page ends within a block", async () => {
    const chain = createChain(["1".repeat(40), "0101", "", "1".repeat(30), "10"]);
    const { hashes, pages } = await readAll(chain);
    expect(hashes).toEqual(hashesOf(chain));
    expect(pages).toBe(3);
  });

  test("stay as they are while the chain grows", async () => {
    const chain = createChain(Array.from({ length: 60 }, () => "1"));
    const expected = hashesOf(chain);
    const { hashes } = await readAll(chain, () => chain.blocks.push("11"));
    expect(hashes).toEqual(expected);
  });

  test.each([
    [true, 500, 3],
    [false, 100, 12],
  ])("read a bounded part of the chain each (embedded: %s, %i blocks)", async (isEmbedded, most, pages) => {
    const chain = createChain(["1", ...Array.from({ length: 1_199 }, () => "0")], { isEmbedded });
    const first = await readAddressTransactions(chain.explored, book, ALICE, undefined);
    expect(first).toMatchObject({
      transactions: [],
      searched: { from: `${1_200 - most}`, to: "1199" },
      older: `${1_200 - most}`,
      isForgotten: false,
    });
    expect(chain.asked).toBe(most);
    expect(await readAll(chain)).toMatchObject({
      hashes: [idOf(0n)],
      pages,
    });
  });

  test("end where the node has forgotten, and say so", async () => {
    const chain = createChain(
      Array.from({ length: 200 }, () => "1"),
      { kept: 150 },
    );
    expect(await readAll(chain)).toMatchObject({ hashes: hashesOf(chain, 150), isForgotten: true });
  });
});

describe("the pages of an address's transactions from an index", () => {
  test("have each once, newest first, and read no other blocks", async () => {
    const chain = createChain(
      ["1".repeat(40), "0101", ...Array.from({ length: 2_000 }, () => "0"), "1".repeat(30), "10"],
      { isIndexed: true },
    );
    const { hashes, pages } = await readAll(chain);
    expect(hashes).toEqual(hashesOf(chain));
    expect(pages).toBe(3);
    expect(chain.asked).toBeLessThan(10);
    const first = await readAddressTransactions(chain.explored, book, ALICE, undefined);
    expect(first).toMatchObject({ searched: { from: "0", to: "2003" }, isIndexed: true, isForgotten: false });
  });

  test("the last one says that old blocks were removed", async () => {
    const chain = createChain(["1", ...Array.from({ length: 30 }, () => "1")], { isIndexed: true, kept: 1 });
    const { hashes, isForgotten } = await readAll(chain);
    expect({ count: hashes.length, isForgotten }).toEqual({ count: 30, isForgotten: true });
    const first = await readAddressTransactions(chain.explored, book, ALICE, undefined);
    expect(first.isForgotten).toBe(false);
  });

  test("lack what was taken back meanwhile", async () => {
    const chain = createChain(["1", "1"], { isIndexed: true });
    const { findAppearances } = chain.archive;
    const blockHash = idOf(5n);
    const archive: ChainArchive = {
      ...chain.archive,
      async findAppearances(query) {
        const { found, ...rest } = await findAppearances!(query);
        return { ...rest, found: found.map((one) => (one.block === 1 ? { ...one, blockHash } : one)) };
      },
    };
    const page = await readAddressTransactions({ ...chain.explored, archive }, book, ALICE, undefined);
    expect(page.transactions.map(({ hash }) => hash)).toEqual([idOf(0n)]);
  });
});

test("the pages of blocks have each once, newest first", async () => {
  const { archive } = createChain(Array.from({ length: 60 }, () => ""));
  const numbers: bigint[] = [];
  let below: bigint | undefined;
  do {
    const page: Awaited<ReturnType<typeof readBlocks>> = await readBlocks(archive, { below });
    numbers.push(...page.blocks.map(({ number }) => number));
    below = page.older ?? undefined;
  } while (below !== undefined);
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, i) => BigInt(59 - i)));
});

test("outcomes are read once, and for a hundred transactions at most", async () => {
  const chain = createChain(["1".repeat(120)]);
  const block = (await chain.archive.findBlock(0n))!;
  const placed = block.transactions.map((transaction) => ({ block, transaction }));
  for (let i = 0; i < 2; i += 1) {
    const list = await summarizeTransactions(chain.explored, book, placed);
    expect(list.slice(0, 2).map(({ status, feeWei }) => [status, feeWei])).toEqual([
      ["succeeded", "6"],
      ["reverted", "6"],
    ]);
    expect(list.filter(({ status }) => status === null)).toHaveLength(20);
  }
  expect(chain.receipts).toBe(100);
});

test("an address's events are read once, counted beyond a hundred, and come with little data", async () => {
  const chain = createChain(["1"]);
  const named = { ...book, decodeEvent: () => undefined } as unknown as AddressBook;
  const topics = [idOf(1n)];
  const logs = Array.from({ length: 130 }, (_, logIndex) => ({
    address: ALICE,
    topics,
    data: `0x${"00".repeat(1_000)}`,
    logIndex,
    transactionHash: idOf(0n),
  }));
  const archive: ChainArchive = {
    ...chain.archive,
    async findReceipt(hash) {
      const receipt = (await chain.archive.findReceipt(hash))!;
      return { ...receipt, logs: logs as unknown as RawLog[] };
    },
  };
  for (let i = 0; i < 2; i += 1) {
    const page = await readAddressTransactions({ ...chain.explored, archive }, named, ALICE, undefined);
    expect(page.events).toHaveLength(100);
    const data = `0x${"00".repeat(256)}`;
    expect(page.events[99]).toEqual({ transactionHash: idOf(0n), logIndex: 99, topics, fields: [], data });
    expect(page).toMatchObject({ moreEvents: 30 });
  }
  expect(chain.receipts).toBe(1);
});

test("an event in a list has its arguments, long ones cut", async () => {
  const { explored } = createChain(["1"]);
  const log = { address: ALICE, topics: [idOf(1n)], data: "0x", logIndex: 0, transactionHash: idOf(0n) };
  const list = Array.from({ length: 9 }, (_, i) => ({ name: "", type: "uint256", value: String(i) }));
  const fields = [
    { name: "text", type: "string", value: "x".repeat(101) },
    { name: "all", type: "uint256[]", value: list },
  ];
  const decoding = { ...book, decodeEvent: () => ({ event: "Told", fields }) } as unknown as AddressBook;
  const archive: ChainArchive = {
    ...explored.archive,
    findReceipt: async () =>
      ({ succeeded: true, gasUsed: 1n, effectiveGasPriceWei: 1n, logs: [log] }) as never,
  };
  const page = await readAddressTransactions({ ...explored, archive }, decoding, ALICE, undefined);
  expect(page.events).toEqual([
    {
      transactionHash: idOf(0n),
      logIndex: 0,
      topics: [idOf(1n)],
      event: "Told",
      fields: [
        { name: "text", type: "string", value: `${"x".repeat(99)}…` },
        { name: "all", type: "uint256[]", value: [...list.slice(0, 8), { name: "", type: "", value: "…" }] },
      ],
    },
  ]);
});

test("reads no cursor from other texts", () => {
  for (const text of ["", "-1", "1.", ".1", "1.2.3", "0x1", "01", "1e3", "9".repeat(16)])
    expect(parseCursor(text)).toBeUndefined();
  expect(parseCursor("12.3")).toEqual({ block: 12n, index: 3 });
});

describe("a request is found by its id", () => {
  const id = idOf(7n);
  const answer = (address: Hex, topic: Hex, blockNumber: bigint): RawLog =>
    ({
      address,
      topics: [topic, id],
      data: "0x",
      blockNumber,
      transactionHash: idOf(8n),
    }) as unknown as RawLog;
  const long = Array.from<string>({ length: 150_000 }).fill("");

  test("in the first block of an embedded chain, with one query", async () => {
    const chain = createChain(long);
    chain.logs.push(answer(ALICE, EVENT_TOPICS.RequestProcessed, 0n));
    expect(await searchRequest(id, chain.explored)).toMatchObject([{ kind: "function", requestId: id }]);
    expect(chain.queries.filter(({ address }) => address === ALICE)).toHaveLength(1);
  });

  test("it is not answered while there is but the log of its start, and then by its answer", async () => {
    const chain = createChain(long);
    // RequestStart's seven words, of which the fourth is the offset of its empty bytes.
    const words = [0, 0, 0, 7 * 32, 0, 0, 0, 0].map((word) => word.toString(16).padStart(64, "0"));
    const started = answer(ALICE, EVENT_TOPICS.RequestStart, 5n);
    const topics = [...started.topics, idOf(1n), idOf(2n)];
    chain.logs.push({ ...started, topics, data: `0x${words.join("")}` });
    expect(await searchRequest(id, chain.explored)).toMatchObject([{ kind: "function", isAnswered: false }]);
    chain.logs.push({ ...answer(ALICE, EVENT_TOPICS.RequestProcessed, 6n), transactionHash: idOf(9n) });
    expect(await searchRequest(id, chain.explored)).toMatchObject([
      { kind: "function", isAnswered: true, transactionHash: idOf(9n) },
    ]);
  });

  test("in the newest 100,000 blocks of an external one, 10,000 a query", async () => {
    const chain = createChain(long, { isEmbedded: false });
    chain.logs.push(answer(BOB, EVENT_TOPICS.RandomWordsFulfilled, 50_000n));
    expect(await searchRequest(id, chain.explored)).toMatchObject([{ kind: "random", requestId: id }]);
    for (const { fromBlock, toBlock } of chain.queries) expect(toBlock - fromBlock).toBeLessThan(10_000n);
    chain.logs[0] = answer(BOB, EVENT_TOPICS.RandomWordsFulfilled, 49_999n);
    expect(await searchRequest(id, chain.explored)).toEqual([]);
  });
});

test("a chain's transactions, whoever sent them, are listed page by page, newest first", async () => {
  const { explored: chain } = createChain(["1".repeat(10), "0".repeat(10), "10".repeat(5)]);
  const first = await readTransactions(chain, book, undefined);
  expect(first.transactions).toHaveLength(25);
  expect(first.transactions[0]!.hash).toBe(idOf(209n));
  expect(first).toMatchObject({ searched: { from: "0", to: "2" }, older: "0.5" });
  const second = await readTransactions(chain, book, parseCursor(first.older!));
  expect(second.transactions.map(({ hash }) => hash)).toEqual([4n, 3n, 2n, 1n, 0n].map(idOf));
  expect(second.older).toBe(null);
});
