import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Hex } from "viem";
import { createChainClient, type ChainClient } from "../../src/evm/client.ts";
import { chainSeconds, createChainWatcher, type ChainWatcher } from "../../src/evm/watcher.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { every, first, startFaultyNode, type FaultyNode } from "../support/faultyNode.ts";
import type { Follower } from "../../src/evm/blockReader.ts";

/** Creation code of a contract that logs the first word of its calldata as a topic. */
const LOGGER_CODE: Hex = "0x6860003560006000a10060005260096017f3";

let chain: TestChain;
let node: FaultyNode;
let client: ChainClient;
let watcher: ChainWatcher | undefined;
let logger: Hex;
let errors: unknown[];

beforeEach(async () => {
  chain = await startTestChain();
  node = await startFaultyNode(chain);
  errors = [];
  const { transactionHash } = await chain.send(testAccount(0), { data: LOGGER_CODE });
  const receipt = (await chain.client.request("eth_getTransactionReceipt", [transactionHash])) as {
    contractAddress: Hex;
  };
  logger = receipt.contractAddress;
});
afterEach(async () => {
  vi.restoreAllMocks();
  watcher?.close();
  await client.close();
  await node.close();
  await chain.close();
});

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
const log = (n: number) => chain.send(testAccount(0), { to: logger, data: word(n) });
const mine = (blocks: number) => chain.client.request("anvil_mine", [`0x${blocks.toString(16)}`]);

function watch(
  url: string,
  {
    timeoutMs = 20_000,
    ...options
  }: {
    timeoutMs?: number;
    pollIntervalMs?: number;
    rolledBackAfterMs?: number;
    rereadIntervalMs?: number;
  } = {},
) {
  client = createChainClient(url, { timeoutMs });
  watcher = createChainWatcher({ client, pollIntervalMs: 50, onError: (e) => errors.push(e), ...options });
}

/** Follows the chain as a user of the watcher would, undoing what a reorg replaces. */
function follow(options: Partial<Follower> = {}) {
  let heard: { block: bigint; word: number }[] = [];
  const reorgs: bigint[] = [];
  watcher!.follow({
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

describe.each(["HTTP", "WebSocket", "Unix socket"])("over %s", (kind) => {
  const url = (): string =>
    kind === "HTTP" ? node.httpUrl : kind === "WebSocket" ? node.wsUrl : node.ipcPath;

  test("tells each log once, in order, from before and from now on", async () => {
    for (const n of [1, 2, 3]) await log(n);
    await mine(30);
    await log(4);
    watch(url());
    const { words } = follow();
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3, 4]));
    for (const n of [5, 6, 7]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3, 4, 5, 6, 7]));
    expect(errors).toEqual([]);
  });

  test("logs are not missed when the node lacks a block for a while and says that it has no logs", async () => {
    watch(url());
    const { words } = follow();
    // By then it has read the blocks before.
    await log(1);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    const before = node.calls.length;
    let isAway = true;
    node.inject(({ method, params }) =>
      isAway && method === "eth_getLogs"
        ? { result: () => [] }
        : isAway && method === "eth_getBlockByNumber" && params[0] !== "latest"
          ? { result: () => null }
          : undefined,
    );
    await log(2);
    await vi.waitFor(() =>
      expect(node.calls.slice(before).some(({ method }) => method === "eth_getLogs")).toBe(true),
    );
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0));
    isAway = false;
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
  });

  test("logs that a block's bloom filter has are asked for again where one of the nodes behind a URL lacks them", async () => {
    watch(url());
    const { words } = follow();
    await vi.waitFor(() => expect(watcher!.head()).toBeDefined());
    node.inject(first(2, "eth_getLogs", { result: () => [] }));
    await log(1);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    // A block without any of the contract's logs is requested once.
    await mine(1);
    await vi.waitFor(() => expect(watcher!.head()?.number).toBe(3n));
    const { hash } = watcher!.head()!;
    await log(2);
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
    const asked = node.calls.filter(
      ({ method, params }) =>
        method === "eth_getLogs" && (params[0] as { blockHash?: Hex }).blockHash === hash,
    );
    expect(asked.length).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test("after a reorganisation the blocks that took the place of others are told", async () => {
    watch(url());
    const { words, reorgs } = follow();
    for (const n of [1, 2, 3]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
    // The last two blocks are replaced; the first of the new ones has another transaction.
    const { raw } = await testAccount(1).sign({
      type: "legacy",
      chainId: chain.chainId,
      nonce: 0,
      gasPrice: chain.gasPriceWei,
      gas: 100_000n,
      to: logger,
      data: word(9),
    });
    await chain.client.request("anvil_reorg", [2, [[raw, 0]]]);
    await vi.waitFor(() => expect(words()).toEqual([1, 9]));
    // Anvil replaces the blocks one by one and may be polled in between: then the second is reported separately, or first.
    expect(reorgs).toContain(3n);
    await log(2);
    await vi.waitFor(() => expect(words()).toEqual([1, 9, 2]));
  });

  test("a chain that was set back, and grows again, is followed", async () => {
    watch(url());
    const { words } = follow();
    for (const n of [1, 2, 3]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
    await chain.client.request("anvil_rollback", [2]);
    await log(8);
    await vi.waitFor(() => expect(words()).toEqual([1, 8]));
  });

  test("a chain that was set back and stays so is taken for what it is after a while", async () => {
    watch(url(), { rolledBackAfterMs: 300 });
    const { words, reorgs } = follow();
    for (const n of [1, 2]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
    await chain.client.request("anvil_rollback", [1]);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    expect(reorgs).toHaveLength(1);
  });

  test("a node that can't say its logs is asked again", async () => {
    watch(url());
    const { words } = follow();
    await vi.waitFor(() => expect(watcher!.head()).toBeDefined());
    node.inject(first(3, "eth_getLogs", { error: { code: -32_000, message: "busy" } }));
    await log(1);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    expect(errors.length).toBeGreaterThan(0);
  });

  test("a follower that fails is told the same block again", async () => {
    watch(url());
    let failures = 2;
    const words: number[] = [];
    follow({
      onBlock(block) {
        if (block.logs.length > 0 && failures-- > 0) throw new Error("not now");
        words.push(...block.logs.map(({ topics }) => Number(topics[0])));
      },
    });
    await log(1);
    await log(2);
    await vi.waitFor(() => expect(words).toEqual([1, 2]));
  });

  test("a stopped follower hears nothing more", async () => {
    watch(url());
    const seen: bigint[] = [];
    const stop = watcher!.follow({
      addresses: () => [logger],
      fromBlock: 0n,
      onBlock: (b) => void seen.push(b.number),
    });
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(0));
    stop();
    const before = seen.length;
    await log(1);
    await vi.waitFor(() => expect(watcher!.head()!.number).toBeGreaterThan(1n));
    expect(seen).toHaveLength(before);
  });
});

test("logs that a node omits are announced once it has them, followed by the later ones once more", async () => {
  watch(node.httpUrl, { rereadIntervalMs: 50 });
  const { words, reorgs } = follow();
  const heal = node.inject(
    every("eth_getLogs", {
      result: (logs) => (logs as { topics: Hex[] }[]).filter(({ topics }) => Number(topics[0]) % 2 === 1),
    }),
  );
  for (const n of [1, 2, 3, 4, 5]) await log(n);
  await mine(3);
  await vi.waitFor(() => expect(words()).toEqual([1, 3, 5]));
  const asked = node.calls.length;
  await vi.waitFor(() => expect(node.calls.length).toBeGreaterThan(asked + 5));
  expect(words()).toEqual([1, 3, 5]);
  heal();
  await vi.waitFor(() => expect(words()).toEqual([1, 3, 5, 2, 3, 4, 5]));
  expect(reorgs).toEqual([]);
  expect(errors.map(String)).toEqual([expect.stringContaining("omitted logs of block")]);
});

test("a follower that left off beyond the chain's end hears what comes next", async () => {
  watch(node.ipcPath);
  const { words } = follow({ fromBlock: 100n });
  await vi.waitFor(() => expect(watcher!.head()).toBeDefined());
  await log(1);
  await vi.waitFor(() => expect(words()).toEqual([1]));
});

test("a chain that was set back and grows slowly hides none of its new blocks", async () => {
  watch(node.ipcPath, { rolledBackAfterMs: 600 });
  const { words } = follow();
  await log(1);
  await vi.waitFor(() => expect(words()).toEqual([1]));
  // Blocks without logs in a range that is read at once are not reported individually.
  await mine(20);
  await vi.waitFor(() => expect(watcher!.head()!.number).toBe(22n));
  await chain.client.request("anvil_rollback", [15]);
  await log(2);
  await vi.waitFor(() => expect(watcher!.head()!.number).toBe(8n));
  await log(3);
  await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
});

describe("behind one URL with several nodes", () => {
  test("a node that lags hides no log and undoes none", async () => {
    watch(node.httpUrl);
    const { words, reorgs } = follow();
    for (const n of [1, 2, 3]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
    // Every other answer comes from a node that is two blocks behind: no newer block, no newer logs.
    const lag = async (): Promise<bigint> => (await chain.client.getHead("latest"))!.number - 2n;
    let horizon = await lag();
    let turn = 0;
    node.inject(({ method, params }) => {
      turn += 1;
      if (turn % 2 === 0) return undefined;
      if (method === "eth_getBlockByNumber" && params[0] !== "latest" && BigInt(params[0] as Hex) > horizon)
        return { result: () => null };
      if (method === "eth_getLogs" && "toBlock" in (params[0] as object))
        return {
          result: (logs) =>
            (logs as { blockNumber: Hex }[]).filter(({ blockNumber }) => BigInt(blockNumber) <= horizon),
        };
      return undefined;
    });
    for (const n of [4, 5, 6, 7, 8]) {
      await log(n);
      await mine(2);
      horizon = await lag();
    }
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]));
    expect(reorgs).toEqual([]);
  });

  test("a stale “latest” is waited out", async () => {
    watch(node.httpUrl);
    const { words, reorgs } = follow();
    await log(1);
    await log(2);
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
    const stale = await chain.client.request("eth_getBlockByNumber", ["0x1", false]);
    let staleAnswers = 0;
    const end = node.inject(({ method, params }) => {
      if (method !== "eth_getBlockByNumber" || params[0] !== "latest") return undefined;
      staleAnswers += 1;
      return { result: () => stale };
    });
    await log(3);
    const before = staleAnswers;
    await vi.waitFor(() => expect(staleAnswers).toBeGreaterThan(before + 3));
    expect(words()).toEqual([1, 2]);
    end();
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
    expect(reorgs).toEqual([]);
  });
});

describe.each(["WebSocket", "Unix socket"])("pushed over %s", (kind) => {
  const url = (): string => (kind === "WebSocket" ? node.wsUrl : node.ipcPath);

  test("a subscription that gets lost is made up for by looking", async () => {
    watch(url(), { pollIntervalMs: 100 });
    const { words } = follow();
    await log(1);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    node.loseSubscriptions();
    await log(2);
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
  });

  test("a connection that breaks, or falls silent, hides no log", async () => {
    watch(url(), { pollIntervalMs: 100, timeoutMs: 500 });
    const { words } = follow();
    await log(1);
    await vi.waitFor(() => expect(words()).toEqual([1]));
    node.breakLines();
    await log(2);
    await vi.waitFor(() => expect(words()).toEqual([1, 2]));
    node.freezeLines();
    await log(3);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3]));
  });

  test("a head that is pushed twice, or late, is told once", async () => {
    watch(url(), { pollIntervalMs: 5_000 });
    const { words } = follow();
    node.inject(every("eth_getBlockByNumber", { delayMs: 50, times: 2 }));
    for (const n of [1, 2, 3, 4]) await log(n);
    await vi.waitFor(() => expect(words()).toEqual([1, 2, 3, 4]));
  });
});

test("the head is known with its age", async () => {
  const startedMs = performance.now();
  watch(node.ipcPath);
  await vi.waitFor(() => expect(watcher!.head()).toBeDefined());
  const { number, seenAtMs } = watcher!.head()!;
  expect(number).toBe(1n);
  expect(seenAtMs).toBeGreaterThanOrEqual(startedMs);
  expect(seenAtMs).toBeLessThanOrEqual(performance.now());
});

test("time in which the head could not be seen is not watched, and passes on an idle chain", async () => {
  watch(node.ipcPath);
  await vi.waitFor(() => expect(watcher!.head()).toBeDefined());
  expect(watcher!.watched().sinceGapMs).toBe(Infinity);
  const { timestamp } = watcher!.head()!;
  // From here on time passes in these steps only: a busy machine's own pauses would be gaps, too.
  let now = Math.ceil(performance.now()) + 320_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  await vi.waitFor(() => expect(watcher!.head()!.seenAtMs).toBe(now));
  const { totalMs, sinceGapMs } = watcher!.watched();
  expect(totalMs).toBeLessThan(320_000);
  expect(sinceGapMs).toBeLessThan(totalMs);
  expect(chainSeconds(watcher!.head()!)).toBeGreaterThanOrEqual(Number(timestamp) + 320 - 15);
  now += 5_000;
  await vi.waitFor(() => expect(watcher!.head()!.seenAtMs).toBe(now));
  expect(watcher!.watched().totalMs).toBeCloseTo(totalMs + 5_000);
  expect(watcher!.watched().sinceGapMs).toBeCloseTo(sinceGapMs + 5_000);
});
