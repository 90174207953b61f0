import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Hex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  openHistory,
  type HistoricBlock,
  type History,
} from "../../../../src/networks/embedded/storage/history.ts";

const KEPT_TOPIC = `0x${"aa".repeat(32)}` as const;
const OTHER_TOPIC = `0x${"bb".repeat(32)}` as const;
const ADDRESS = `0x${"11".repeat(20)}` as const;
/** Seconds between blocks; the first has timestamp 0. */
const BLOCK_TIME = 10;

let folder: string;
let history: History;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  history = open();
});
afterEach(() => {
  history.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (): History => openHistory(path.join(folder, "history.sqlite"), [KEPT_TOPIC]);
const quantity = (number: number): Hex => `0x${number.toString(16)}`;
const word = (number: number, chain = 0): Hex =>
  `0x${(number + chain * 1_000).toString(16).padStart(64, "0")}`;

/** Creates a block with one transaction, which has one log. */
function makeBlock(number: number, topic: Hex = OTHER_TOPIC, chain = 0): HistoricBlock {
  const log = { address: ADDRESS, topics: [topic], blockNumber: quantity(number) };
  return {
    number,
    hash: word(number, chain),
    block: {
      timestamp: quantity(number * BLOCK_TIME),
      transactions: [{ hash: word(number, chain + 1), from: ADDRESS }],
    },
    receipts: [{ logs: [log] }],
  };
}

const append = (from: number, to: number, chain = 0): void =>
  history.append(Array.from({ length: to - from + 1 }, (_, i) => makeBlock(from + i, undefined, chain)));
const numbersOfLogs = (topics: readonly Hex[] = []): number[] =>
  (
    history.recall("eth_getLogs", [{ topics, fromBlock: "0x0", toBlock: "0xff" }]) as { blockNumber: Hex }[]
  ).map(({ blockNumber }) => Number(blockNumber));
const isThere = (number: number): boolean =>
  history.recall("eth_getBlockByNumber", [quantity(number), false]) !== undefined;

test("the oldest blocks go with their transactions and logs, but for the first ones and those with a kept topic", () => {
  append(1, 4);
  history.append([makeBlock(5, KEPT_TOPIC)]);
  append(6, 10);
  const range = { from: 3, before: 8, olderThan: Infinity, limit: 100 };
  expect(history.removed()).toEqual({ from: 0, before: 0 });
  expect(history.removeSome(range)).toBe(false);
  expect(history.removed()).toEqual({ from: 3, before: 8 });
  expect(numbersOfLogs()).toEqual([1, 2, 5, 8, 9, 10]);
  expect(numbersOfLogs([KEPT_TOPIC])).toEqual([5]);
  expect([2, 3, 5, 7, 8].map(isThere)).toEqual([true, false, true, false, true]);
  expect(history.recall("eth_getTransactionReceipt", [word(3, 1)])).toBeUndefined();
  expect(history.recall("eth_getTransactionByHash", [word(5, 1)])).toEqual({
    hash: word(5, 1),
    from: ADDRESS,
  });
});

test("it goes step by step, from where it was after another start, up to the first block that isn't old", () => {
  append(1, 10);
  const range = { from: 1, before: 100, olderThan: 7 * BLOCK_TIME, limit: 4 };
  expect(history.removeSome(range)).toBe(true);
  expect(history.removed()).toEqual({ from: 1, before: 5 });
  history.close();
  history = open();
  expect(history.removeSome(range)).toBe(false);
  expect(history.removed()).toEqual({ from: 1, before: 7 });
  expect(numbersOfLogs()).toEqual([7, 8, 9, 10]);
  expect(history.removeSome(range)).toBe(false);
  expect(history.removeSome({ ...range, olderThan: 8 * BLOCK_TIME })).toBe(false);
  expect(history.removed()).toEqual({ from: 1, before: 8 });
});

test.each([
  ["that was set back among removed blocks has all of its new ones", 3, { from: 1, before: 4 }],
  ["that was set back before them has lost none", 0, { from: 0, before: 0 }],
  ["that was set back after them lacks what it lacked", 8, { from: 1, before: 7 }],
])("a chain %s", (_, left, removed) => {
  append(1, 10);
  history.removeSome({ from: 1, before: 7, olderThan: Infinity, limit: 100 });
  history.cutAfter(left);
  append(left + 1, 10, 1);
  expect(history.removed()).toEqual(removed);
  const first = Math.max(removed.before, 1);
  expect(numbersOfLogs()).toEqual(Array.from({ length: 11 - first }, (__, i) => first + i));
});

test("a damaged block stops a step, which leaves everything as it was", () => {
  append(1, 4);
  const database = new DatabaseSync(path.join(folder, "history.sqlite"));
  database.exec("UPDATE blocks SET body = x'28' WHERE number = 3");
  database.close();
  expect(() => history.removeSome({ from: 1, before: 9, olderThan: Infinity, limit: 9 })).toThrow(
    "unexpected end of file",
  );
  expect(history.removed()).toEqual({ from: 0, before: 0 });
  expect(numbersOfLogs()).toEqual([1, 2, 3, 4]);
});
