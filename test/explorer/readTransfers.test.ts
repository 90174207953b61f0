import { pad, toEventSelector, toHex, type Hex } from "viem";
import { expect, test } from "vitest";
import type { AddressBook } from "../../src/chainlink/addressBook.ts";
import type { LogQuery } from "../../src/explorer/chainArchive.ts";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import { parseCursor } from "../../src/explorer/lists.ts";
import { readTransfers } from "../../src/explorer/readTransfers.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";

const LINK = `0x${"11".repeat(20)}` as const;
const ALICE = `0x${"aa".repeat(20)}` as const;
const BOB = `0x${"bb".repeat(20)}` as const;
const NOBODY = `0x${"00".repeat(20)}` as const;

const book = { party: (address: Hex) => ({ address }) } as unknown as AddressBook;

/** A chain with these transfers of 1, 2, … juels, in a block each, the first at `firstBlock`. */
function chainWith(
  transfers: readonly (readonly [from: Hex, to: Hex])[],
  { firstBlock = 0, isEmbedded = true, queries = [] as LogQuery[] },
) {
  const logs = transfers.map(([from, to], i) => ({
    address: LINK,
    topics: [toEventSelector("Transfer(address,address,uint256)"), pad(from), pad(to)],
    data: pad(toHex(i + 1)),
    blockNumber: BigInt(firstBlock + i),
    logIndex: 0,
    transactionHash: pad(toHex(i + 1)),
  }));
  const archive = {
    getHeadNumber: async () => BigInt(firstBlock + transfers.length),
    findBlock: async () => undefined,
    async findLogs(query: LogQuery) {
      const { topics, fromBlock, toBlock } = query;
      queries.push(query);
      return logs.filter(
        (log) =>
          log.blockNumber >= fromBlock &&
          log.blockNumber <= toBlock &&
          topics.every((topic, i) => topic === null || topic === log.topics[i]),
      ) as unknown as RawLog[];
    },
  };
  return { network: "test", isEmbedded, archive, contracts: { link: LINK } } as unknown as ExploredChain;
}

const amounts = ({ transfers }: Awaited<ReturnType<typeof readTransfers>>) =>
  transfers.map(({ juels }) => juels);

test("an address has what it sent and received, what it sent itself once, and the token what everybody did", async () => {
  const chain = chainWith(
    [
      [NOBODY, ALICE],
      [ALICE, BOB],
      [ALICE, ALICE],
      [NOBODY, BOB],
    ],
    {},
  );
  const page = await readTransfers(ALICE, chain, book);
  expect(amounts(page)).toEqual(["3", "2", "1"]);
  expect(page).toMatchObject({ searched: { from: "0", to: "4" }, older: null });
  expect(page.transfers[2]).toEqual({
    transactionHash: pad("0x01"),
    blockNumber: "0",
    from: { address: NOBODY },
    to: { address: ALICE },
    juels: "1",
  });
  expect(amounts(await readTransfers(LINK, chain, book))).toEqual(["4", "3", "2", "1"]);
});

test("goes on from page to page, through ranges without any", async () => {
  const chain = chainWith(
    Array.from({ length: 30 }, () => [ALICE, BOB] as const),
    { firstBlock: 25_000, isEmbedded: false },
  );
  const first = await readTransfers(BOB, chain, book);
  expect([first.transfers.length, first.older]).toEqual([25, "25005.0"]);
  const second = await readTransfers(BOB, chain, book, parseCursor(first.older!));
  expect(amounts(second)).toEqual(["5", "4", "3", "2", "1"]);
  const third = await readTransfers(BOB, chain, book, parseCursor(second.older!));
  expect(third).toMatchObject({ transfers: [], older: null, searched: { from: "0" } });
});

test("of the token itself, reads few blocks at first, and twice as many with each query", async () => {
  const queries: LogQuery[] = [];
  const chain = chainWith([[ALICE, BOB]], { firstBlock: 25_000, isEmbedded: false, queries });
  const { searched } = await readTransfers(LINK, chain, book);
  expect(queries.map(({ fromBlock, toBlock }) => Number(toBlock - fromBlock) + 1)).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 6_400, 7_300,
  ]);
  expect(searched).toEqual({ from: "5002", to: "25001" });
});
