import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getContractAddress, type Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EMBEDDED_GAS_PRICE_WEI } from "../../../../src/networks/embedded/process/anvil.ts";
import { startEmbeddedNode } from "../../../../src/networks/embedded/embeddedNode.ts";
import type { EmbeddedNode } from "../../../../src/networks/embedded/embeddedNode.ts";
import {
  openHistory,
  type HistoricBlock,
  type History,
} from "../../../../src/networks/embedded/storage/history.ts";
import type { AppearanceQuery } from "../../../../src/networks/network.ts";
import { testAccount } from "../../../support/anvil.ts";

const addressOf = (number: number): Hex => `0x${number.toString(16).padStart(40, "0")}`;
const word = (number: number, chain = 0): Hex =>
  `0x${(number + chain * 1_000).toString(16).padStart(64, "0")}`;
const ALICE = addressOf(0xa11ce);
const BOB = addressOf(0xb0b);
const CONTRACT = addressOf(0xc0de);
const EMITTER = addressOf(0xe317);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the index of a history", () => {
  let history: History;

  beforeEach(() => {
    history = open();
  });
  afterEach(() => history.close());

  const file = (): string => path.join(folder, "history.sqlite");
  const open = (): History => openHistory(file());
  const log = { address: EMITTER, topics: [] };
  /** Creates a block in which Alice sends to Bob and then creates a contract, and someone else emits two logs. */
  const makeBlock = (number: number, chain = 0): HistoricBlock => ({
    number,
    hash: word(number, chain),
    block: {
      timestamp: `0x${number.toString(16)}`,
      transactions: [
        { hash: word(number, chain + 1), from: ALICE, to: BOB },
        { hash: word(number, chain + 2), from: ALICE, to: null },
      ],
    },
    receipts: [{ logs: [] }, { contractAddress: CONTRACT, logs: [log, log] }],
  });
  const append = (from: number, to: number, chain = 0): void =>
    history.append(Array.from({ length: to - from + 1 }, (_, i) => makeBlock(from + i, chain)));
  const find = (address: Hex, below?: AppearanceQuery["below"], limit = 100) =>
    history.findAppearances({ address, below, limit });
  const placesOf = (...query: Parameters<typeof find>) =>
    find(...query).found.map(({ block, index }) => `${block}.${index}`);
  const withDatabase = (work: (database: DatabaseSync) => void): void => {
    history.close();
    const database = new DatabaseSync(file());
    work(database);
    database.close();
    history = open();
  };
  const countEntries = (): number => {
    let count = 0;
    withDatabase((database) => {
      count = database.prepare("SELECT count(*) AS count FROM appearances").get()!["count"] as number;
    });
    return count;
  };

  test("senders, recipients, created contracts and emitters of logs are found, each once, newest first", () => {
    append(0, 2);
    expect(placesOf(ALICE)).toEqual(["2.1", "2.0", "1.1", "1.0", "0.1", "0.0"]);
    expect(placesOf(BOB)).toEqual(["2.0", "1.0", "0.0"]);
    expect(placesOf(CONTRACT)).toEqual(["2.1", "1.1", "0.1"]);
    expect(find(EMITTER)).toEqual({
      found: [2, 1, 0].map((block) => ({ block, blockHash: word(block), index: 1 })),
      through: 2,
      hasRemoved: false,
    });
    expect(placesOf(addressOf(1))).toEqual([]);
  });

  test("option below, limit: pages have each once, also where one ends within a block", () => {
    append(0, 9);
    expect(placesOf(ALICE, undefined, 3)).toEqual(["9.1", "9.0", "8.1"]);
    expect(placesOf(ALICE, { block: 8, index: 1 }, 3)).toEqual(["8.0", "7.1", "7.0"]);
    expect(placesOf(ALICE, { block: 7 }, 3)).toEqual(["6.1", "6.0", "5.1"]);
    expect(placesOf(ALICE, { block: 0 })).toEqual([]);
  });

  test("option first: the oldest is found without the others", () => {
    append(3, 9);
    expect(history.findAppearances({ address: ALICE, limit: 3, first: "oldest" }).found).toEqual([
      { block: 3, blockHash: word(3), index: 0 },
      { block: 3, blockHash: word(3), index: 1 },
      { block: 4, blockHash: word(4), index: 0 },
    ]);
  });

  test("addresses that a call names are found, those in creation code are not", () => {
    const consumer: Hex = `0x${"c0".repeat(20)}`;
    const named = (address: Hex): Hex => `0x12345678${"07".repeat(32)}${address.slice(2).padStart(64, "0")}`;
    const { block, ...rest } = makeBlock(0);
    const [call, creation] = block.transactions;
    const transactions = [
      { ...call!, input: named(consumer) },
      { ...creation!, input: named(`0x${"dd".repeat(20)}`) },
    ];
    history.append([{ ...rest, block: { ...block, transactions } }]);
    expect(placesOf(consumer)).toEqual(["0.0"]);
    expect(placesOf(`0x${"dd".repeat(20)}`)).toEqual([]);
  });

  test("blocks that are taken back or replaced leave nothing in it", () => {
    append(0, 9);
    history.cutAfter(5);
    expect(find(BOB)).toMatchObject({ through: 5, found: { length: 6 } });
    append(4, 7, 500);
    expect(find(BOB).found.map(({ blockHash }) => blockHash)).toEqual([
      ...[7, 6, 5, 4].map((number) => word(number, 500)),
      ...[3, 2, 1, 0].map((number) => word(number)),
    ]);
    expect(countEntries()).toBe(8 * 5);
  });

  test("blocks that are removed take their entries with them", () => {
    append(0, 9);
    history.removeSome({ from: 2, before: 8, olderThan: Infinity, limit: 100 });
    expect(find(CONTRACT)).toMatchObject({ through: 9, hasRemoved: true });
    expect(placesOf(CONTRACT)).toEqual(["9.1", "8.1", "1.1", "0.1"]);
    expect(countEntries()).toBe(4 * 5);
  });

  test("what an earlier version noted about blocks without entries goes, and the entries stay", () => {
    append(0, 9);
    withDatabase((database) =>
      database.exec(`CREATE TABLE unindexed_blocks (number INTEGER PRIMARY KEY);
        CREATE TRIGGER block_added AFTER INSERT ON blocks BEGIN
          INSERT OR IGNORE INTO unindexed_blocks VALUES (NEW.number);
        END`),
    );
    append(10, 11);
    expect(find(BOB)).toMatchObject({ found: { length: 12 }, through: 11 });
    withDatabase((database) =>
      expect(database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%unindexed%'").all()).toEqual(
        [],
      ),
    );
  });
});

describe("the index of a chain", () => {
  const CHAIN_ID = 31337;
  /** Creation code that emits a log: log0(0, 0). */
  const LOGGING: Hex = "0x60006000a000";
  const nodes: EmbeddedNode[] = [];

  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close();
  });

  const start = async ({ isNew = true } = {}): Promise<EmbeddedNode> => {
    const node = await startEmbeddedNode({
      chainId: CHAIN_ID,
      folder,
      preferredPort: 0,
      rpcOrigins: [],
      onCompacted: () => {},
      onRestart: () => {},
      onError: (error) => console.error(error),
    });
    nodes.push(node);
    if (!isNew) node.resume(1);
    else {
      await node.client.request("anvil_mine", ["0x1"]);
      await node.begin(1);
    }
    return node;
  };
  const { address } = testAccount(0);
  const create = async ({ client }: EmbeddedNode): Promise<Hex> => {
    const nonce = await client.getNonce(address, "latest");
    const { raw, hash } = await testAccount(0).sign({
      type: "legacy",
      chainId: CHAIN_ID,
      nonce,
      gasPrice: EMBEDDED_GAS_PRICE_WEI,
      gas: 100_000n,
      data: LOGGING,
    });
    await client.request("eth_sendRawTransaction", [raw]);
    await expect.poll(() => client.getReceipt(hash)).toBeDefined();
    return getContractAddress({ from: address, nonce: BigInt(nonce) });
  };
  const blocksOf = async (node: EmbeddedNode, of: Hex) => {
    const { found, through } = await node.findAppearances({ address: of, limit: 100 });
    const head = (await node.client.getHead("latest"))!;
    expect(through).toBe(Number(head.number));
    for (const { block, blockHash } of found)
      expect((await node.client.getHead(BigInt(block)))!.hash).toBe(blockHash);
    return found.map(({ block }) => block);
  };

  test("has the newest block at once, and every earlier one", async () => {
    const node = await start();
    const created = await create(node);
    await node.client.request("anvil_mine", ["0x64"]);
    const again = await create(node);
    expect(await blocksOf(node, address)).toEqual([103, 2]);
    expect(await blocksOf(node, created)).toEqual([2]);
    expect(await blocksOf(node, again)).toEqual([103]);
  });

  test.each([
    ["evm_revert", []],
    ["anvil_rollback", [3]],
    ["anvil_reorg", [3, []]],
  ] as const)("%s leaves only what the chain has, also after another start", async (method, parameters) => {
    let node = await start();
    await create(node);
    const snapshot = await node.client.request("evm_snapshot", []);
    const first = await create(node);
    await create(node);
    const last = await create(node);
    expect(await blocksOf(node, address)).toEqual([5, 4, 3, 2]);
    await node.client.request(method, method === "evm_revert" ? [snapshot] : [...parameters]);
    expect(await blocksOf(node, address)).toEqual([2]);
    expect(await blocksOf(node, last)).toEqual([]);
    const again = await create(node);
    expect(again).toBe(first);
    const expected = [method === "anvil_reorg" ? 6 : 3, 2];
    expect(await blocksOf(node, address)).toEqual(expected);
    await node.close();
    node = await start({ isNew: false });
    expect(await blocksOf(node, address)).toEqual(expected);
  });
});
