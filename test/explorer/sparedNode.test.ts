import { expect, onTestFinished, test, vi } from "vitest";
import { describeChain } from "../../src/app/network/networkViews.ts";
import { createNodeArchive } from "../../src/explorer/chainArchive.ts";
import { NodeSparedError, spareNode, type ExploredNode } from "../../src/explorer/sparedNode.ts";

const ACCOUNT = `0x${"1".repeat(40)}` as const;

/** Creates a node behind the limiter, with a clock that the test sets. */
function createNode() {
  const state = { calls: 0, ms: 0, isDown: false };
  const answer = async <T>(value: T): Promise<T> => {
    state.calls += 1;
    if (state.isDown) throw new Error("down");
    return value;
  };
  const node: ExploredNode = {
    request: () => answer<unknown>("0x10"),
    getBalanceWei: () => answer(1n),
    getNonce: () => answer(2),
    getCode: () => answer("0x"),
  };
  const clock = vi.spyOn(performance, "now").mockImplementation(() => state.ms);
  onTestFinished(() => clock.mockRestore());
  return Object.assign(state, { spared: spareNode(node) });
}

/** Asks for blocks until it is refused, and returns how many calls succeeded. */
async function exhaust(node: ReturnType<typeof createNode>): Promise<number> {
  for (let count = 0; count < 100_000; count += 1)
    try {
      await node.spared.request("eth_getBlockByNumber", [`0x${count.toString(16)}`, node.ms]);
    } catch (error) {
      if (error instanceof NodeSparedError) return count;
      throw error;
    }
  return Infinity;
}

test("whoever asks the same within seconds shares one call", async () => {
  const node = createNode();
  const archive = createNodeArchive(node.spared, { isEmbedded: false });
  const heads = await Promise.all(Array.from({ length: 50 }, () => archive.getHeadNumber()));
  expect(new Set(heads)).toEqual(new Set([16n]));
  expect(await archive.getAccount(ACCOUNT)).toEqual({ balanceWei: 1n, nonce: 2, code: "0x", codeBytes: 0 });
  await archive.getAccount(ACCOUNT);
  expect(node.calls).toBe(4);
  node.ms = 3_000;
  await archive.getHeadNumber();
  expect(node.calls).toBe(5);
});

test("a call that failed is made again", async () => {
  const node = createNode();
  node.isDown = true;
  await expect(node.spared.getCode(ACCOUNT)).rejects.toThrow("down");
  node.isDown = false;
  expect(await node.spared.getCode(ACCOUNT)).toBe("0x");
});

test("strangers who read different pages without end don't use up the node's quota", async () => {
  const node = createNode();
  expect(await exhaust(node)).toBe(1_000);
  node.ms = 60_000;
  expect(await exhaust(node)).toBe(600);
  expect(node.calls).toBe(1_600);
  await expect(node.spared.request("eth_blockNumber")).rejects.toMatchObject({
    code: "overloaded",
    retryable: true,
    details: { retryAfterMs: 10_000 },
  });
});

test.each([
  [true, 2_000],
  [false, 1_000],
])("only a node that others pay for is spared (embedded: %s)", async (isEmbedded, most) => {
  const node = createNode();
  const block = {
    number: "0x1",
    hash: "0x",
    parentHash: "0x",
    timestamp: "0x1",
    gasUsed: "0x1",
    gasLimit: "0x1",
  };
  const request = async () => {
    node.calls += 1;
    return { ...block, transactions: [] };
  };
  const { archive } = describeChain(
    { profile: {}, isEmbedded, terms: {}, titles: {} } as unknown as Parameters<typeof describeChain>[0],
    { client: { request }, deployment: {}, operator: {} } as unknown as Parameters<typeof describeChain>[1],
    async () => [],
  );
  await Promise.allSettled(Array.from({ length: 2_000 }, (_, i) => archive.findBlock(BigInt(i))));
  expect(node.calls).toBe(most);
});
