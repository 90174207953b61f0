import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Hex } from "viem";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { createChainWatcher, type ChainWatcher } from "../../src/evm/watcher.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import type { Follower } from "../../src/evm/blockReader.ts";

/** Creation code of a contract that logs the first word of its calldata as a topic. */
const LOGGER_CODE: Hex = "0x6860003560006000a10060005260096017f3";

let chain: TestChain;
let watcher: ChainWatcher;
let logger: Hex;

beforeEach(async () => {
  chain = await startTestChain();
  const { transactionHash } = await chain.send(testAccount(0), { data: LOGGER_CODE });
  logger = (await chain.viem.getTransactionReceipt({ hash: transactionHash })).contractAddress!;
  watcher = createChainWatcher({ client: chain.client, pollIntervalMs: 50, onError: () => {} });
});
afterEach(async () => {
  watcher.close();
  await chain.close();
});

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
const log = (n: number) => chain.send(testAccount(0), { to: logger, data: word(n) });
const mine = (blocks: number) => chain.client.request("anvil_mine", [`0x${blocks.toString(16)}`]);

/** Follows the chain as a user of the watcher would, undoing what a reorg replaces. */
function follow(options: Partial<Follower> = {}) {
  let heard: { block: bigint; word: number }[] = [];
  const reorgs: bigint[] = [];
  watcher.follow({
    addresses: () => [logger],
    fromBlock: 0n,
    onBlock(block) {
      heard.push(...block.logs.map(({ topics }) => ({ block: block.number, word: Number(topics[0]) })));
    },
    onReorg(firstReplaced) {
      reorgs.push(firstReplaced);
      heard = heard.filter(({ block }) => block < firstReplaced);
    },
    ...options,
  });
  return { words: () => heard.map((one) => one.word), reorgs };
}

test("a reorganisation since an earlier process is told first", async () => {
  const [kept, , lost] = [await log(1), await log(2), await log(3)];
  await chain.client.request("anvil_reorg", [2, []]);
  await log(4);
  const known = new Map([kept, lost].map(({ blockNumber, blockHash }) => [blockNumber, blockHash]));
  const { words, reorgs } = follow({ known, fromBlock: lost.blockNumber + 1n });
  await vi.waitFor(() => expect(words()).toEqual([4]));
  expect(reorgs).toEqual([kept.blockNumber + 1n]);
});

test("blocks known from an earlier process count in a later reorganisation", async () => {
  const { blockNumber, blockHash } = await log(1);
  await mine(2);
  const { reorgs } = follow({ known: new Map([[blockNumber, blockHash]]), fromBlock: blockNumber + 2n });
  await vi.waitFor(() => expect(watcher.head()?.number).toBe(blockNumber + 2n));
  await chain.client.request("anvil_reorg", [3, []]);
  await vi.waitFor(() => expect(reorgs[0]).toBe(blockNumber));
});

test("a block that only a receipt told of, and that another took the place of, is a reorganisation", async () => {
  const { words, reorgs } = follow();
  const { blockNumber, blockHash } = await log(1);
  await vi.waitFor(() => expect(words()).toEqual([1]));
  watcher.expect({ blockNumber, blockHash });
  // One block still to come, and one that the watcher has passed.
  watcher.expect({ blockNumber: blockNumber + 1n, blockHash: word(77) });
  const next = await log(2);
  await vi.waitFor(() => expect(reorgs).toEqual([next.blockNumber]));
  await vi.waitFor(() => expect(words()).toEqual([1, 2]));
  watcher.expect({ blockNumber: next.blockNumber, blockHash: word(78) });
  await vi.waitFor(() => expect(reorgs).toEqual([next.blockNumber, next.blockNumber]));
  await vi.waitFor(() => expect(words()).toEqual([1, 2]));
  await log(3);
  await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
  expect(reorgs).toHaveLength(2);
});

test("blocks that go while they are read, and come again as others, are told", async () => {
  for (const n of [1, 2, 3]) await log(n);
  let isTakenBack = false;
  const { client } = chain;
  const getLogs: typeof client.getLogs = async (filter) => {
    if (!isTakenBack && "toBlock" in filter) {
      isTakenBack = true;
      await client.request("anvil_rollback", [2]);
    }
    return await client.getLogs(filter);
  };
  watcher = createChainWatcher({ client: { ...client, getLogs }, pollIntervalMs: 50, onError: () => {} });
  const { words } = follow();
  await vi.waitFor(() => expect(words()).toEqual([1]));
  await log(4);
  await vi.waitFor(() => expect(words()).toEqual([1, 4]));
  await log(5);
  await vi.waitFor(() => expect(words()).toEqual([1, 4, 5]));
});

test("where no node lags, a chain that was set back is taken for what it is at once", async () => {
  watcher = createChainWatcher({
    client: chain.client,
    pollIntervalMs: 50,
    rolledBackAfterMs: 0,
    onError: () => {},
  });
  const [{ blockNumber }] = [await log(1), await log(2), await log(3)];
  const { words, reorgs } = follow();
  await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
  await chain.client.request("anvil_rollback", [2]);
  await vi.waitFor(() => expect(reorgs).toEqual([blockNumber + 1n]));
  expect(words()).toEqual([1]);
});

test("who wants only what comes next hears of no reorganisation", async () => {
  const { number } = (await chain.client.getHead("latest"))!;
  const strict = createChainWatcher({
    client: chain.client,
    pollIntervalMs: 50,
    rolledBackAfterMs: 0,
    onError: () => {},
  });
  const reorgs: bigint[] = [];
  const blocks: bigint[] = [];
  strict.follow({
    addresses: () => [logger],
    fromBlock: number + 1n,
    onBlock: (block) => void blocks.push(block.number),
    onReorg: (firstReplaced) => void reorgs.push(firstReplaced),
  });
  await vi.waitFor(() => expect(strict.head()?.number).toBe(number));
  await log(1);
  await vi.waitFor(() => expect(blocks).toEqual([number + 1n]));
  expect(reorgs).toEqual([]);
  strict.close();
});

test("a chain that goes back to before a range while that is read, and grows past it, is told from its fork", async () => {
  const { client } = chain;
  let isArmed = false;
  const getLogs: typeof client.getLogs = async (filter) => {
    if (isArmed && "toBlock" in filter) {
      isArmed = false;
      await client.request("anvil_rollback", [4]);
      for (const n of [11, 12, 13, 14, 15]) await log(n);
    }
    return await client.getLogs(filter);
  };
  watcher = createChainWatcher({ client: { ...client, getLogs }, pollIntervalMs: 50, onError: () => {} });
  const held = Promise.withResolvers<void>();
  const first = await log(0);
  const told = await log(1);
  let heard: { block: bigint; word: number }[] = [];
  watcher.follow({
    addresses: () => [logger],
    fromBlock: first.blockNumber,
    async onBlock(block) {
      heard.push(...block.logs.map(({ topics }) => ({ block: block.number, word: Number(topics[0]) })));
      if (block.number === told.blockNumber) await held.promise;
    },
    onReorg(firstReplaced) {
      heard = heard.filter(({ block }) => block < firstReplaced);
    },
  });
  const words = () => heard.map(({ word: each }) => each);
  await vi.waitFor(() => expect(words()).toEqual([0, 1]));
  for (const n of [2, 3]) await log(n);
  const { blockNumber } = await log(4);
  await vi.waitFor(() => expect(watcher.head()?.number).toBe(blockNumber));
  isArmed = true;
  held.resolve();
  await vi.waitFor(() => expect(words()).toEqual([0, 11, 12, 13, 14, 15]));
});

test("a provider that takes five blocks at once is followed from far behind, in order", async () => {
  for (const n of [1, 2]) await log(n);
  await mine(300);
  for (const n of [3, 4]) await log(n);
  await mine(20);
  const { client } = chain;
  let refused = 0;
  const getLogs: typeof client.getLogs = async (filter) => {
    if ("toBlock" in filter && filter.toBlock - filter.fromBlock >= 5n) {
      refused += 1;
      throw new RpcError("eth_getLogs", "eth_getLogs is limited to a 5 range", { answered: true });
    }
    return await client.getLogs(filter);
  };
  watcher = createChainWatcher({ client: { ...client, getLogs }, pollIntervalMs: 50, onError: () => {} });
  const { words, reorgs } = follow();
  await vi.waitFor(() => expect(words()).toEqual([1, 2, 3, 4]));
  expect(refused).toBe(1);
  expect(reorgs).toEqual([]);
});
