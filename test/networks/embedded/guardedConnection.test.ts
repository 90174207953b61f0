import { expect, test } from "vitest";
import { BrokenConnectionError, type Connection } from "../../../src/evm/connection.ts";
import { openDeadlyCalls } from "../../../src/networks/embedded/process/deadlyCalls.ts";
import { createGate } from "../../../src/networks/embedded/gate.ts";
import { guardConnection } from "../../../src/networks/embedded/guardedConnection.ts";
import type { Recorder } from "../../../src/networks/embedded/recorder.ts";

const HEAD = 100;

/** Creates a chain with a log in each block; the node has those from `held` on, the history all earlier ones. */
function createChain(held: number) {
  const state = { held, whole: held };
  const logsOf = (filter: unknown, isThere: (block: number) => boolean): object[] => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    const blocks = Array.from({ length: HEAD + 1 }, (_, block) => block);
    return blocks
      .filter((block) => block >= Number(fromBlock) && block <= Number(toBlock) && isThere(block))
      .map((block) => ({ blockNumber: `0x${block.toString(16)}` }));
  };
  let onRecall = (): void => {};
  const connection: Connection = {
    request: async (_, [filter]) => logsOf(filter, (block) => block >= state.held),
    subscribe: async () => () => {},
    close() {},
  };
  const recorder = { head: () => ({ number: HEAD }), ensure: async () => {}, life: () => 1 };
  const guarded = guardConnection({
    connection,
    gate: createGate(),
    deadlyCalls: openDeadlyCalls({ file: "/nonexistent", isMining: async () => false, onError() {} }),
    recorder: recorder as unknown as Recorder,
    settle: recorder.ensure,
    async recall(_, [filter]) {
      onRecall();
      return logsOf(filter, (block) => block < state.held);
    },
    keepUp: async () => {},
    setBack: () => undefined,
    headListeners: new Set(),
    oldestWhole: () => state.whole,
    oldestHeld: () => state.held,
  });
  return {
    blocksOf: async (from: number, to: number) => {
      const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
      const logs = (await guarded.request("eth_getLogs", [range])) as { blockNumber: string }[];
      return logs.map(({ blockNumber }) => Number(blockNumber));
    },
    /** Makes the node lose all transactions before a block while the history is read, as a replacement of its state does. */
    loseAtRecall(before: number) {
      onRecall = () => {
        onRecall = () => {};
        Object.assign(state, { held: before, whole: before });
      };
    },
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("logs of a range come from the history and from the node", async () => {
  expect(await createChain(60).blocksOf(50, 80)).toEqual(range(50, 80));
});

test("no log is missing where the node's state is exchanged while a range is read", async () => {
  const chain = createChain(60);
  chain.loseAtRecall(75);
  expect(await chain.blocksOf(50, 80)).toEqual(range(50, 80));
});

/** Creates a chain whose process dies from each request, until `deaths` have died; returns the requests it got. */
function createDyingChain({ deaths, breaksPerDeath = 1 }: { deaths: number; breaksPerDeath?: number }) {
  let broken = 0;
  const asked: string[] = [];
  const life = () => 1 + Math.floor(broken / breaksPerDeath);
  const { request } = guardConnection({
    connection: {
      async request(method) {
        asked.push(method);
        if (life() > deaths) return "0x1";
        broken += 1;
        throw new BrokenConnectionError();
      },
      subscribe: async () => () => {},
      close() {},
    },
    gate: createGate(),
    deadlyCalls: openDeadlyCalls({ file: "/nonexistent", isMining: async () => false, onError() {} }),
    recorder: { head: () => ({ number: HEAD }), life } as unknown as Recorder,
    settle: async () => {},
    recall: async () => undefined,
    keepUp: async () => {},
    setBack: () => undefined,
    headListeners: new Set(),
    oldestWhole: () => 0,
    oldestHeld: () => 0,
  });
  return { request, asked };
}

test.each(["anvil_setCode", "hardhat_setCode", "anvil_setBalance", "evm_mine", "eth_sendTransaction"])(
  "%s isn't resent after its process died",
  async (method) => {
    const { request, asked } = createDyingChain({ deaths: 1 });
    await expect(request(method, [])).rejects.toThrow(BrokenConnectionError);
    expect(asked).toEqual([method]);
  },
);

test("a read is resent when its process died, three times in a row", async () => {
  const { request, asked } = createDyingChain({ deaths: 3 });
  expect(await request("eth_chainId", [])).toBe("0x1");
  expect(asked).toHaveLength(4);
});

test("a read that four processes died of isn't resent", async () => {
  const { request, asked } = createDyingChain({ deaths: 100 });
  await expect(request("eth_chainId", [])).rejects.toThrow(BrokenConnectionError);
  expect(asked).toHaveLength(4);
});

test("a read waits until the death of its process is known", async () => {
  const { request, asked } = createDyingChain({ deaths: 1, breaksPerDeath: 10 });
  expect(await request("eth_chainId", [])).toBe("0x1");
  expect(asked).toHaveLength(11);
});
