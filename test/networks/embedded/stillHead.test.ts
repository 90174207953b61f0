import { performance } from "node:perf_hooks";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Connection } from "../../../src/evm/connection.ts";
import { untilHeadIsStill } from "../../../src/networks/embedded/setBack.ts";

/** Creates a node whose head is given by `headAt`, from the number of times it was read. */
function createNode(headAt: (asked: number) => number) {
  const node = { asked: 0, head: -1 };
  const request = async (method: string): Promise<unknown> => {
    if (method !== "eth_blockNumber") return "0x0";
    node.asked += 1;
    node.head = headAt(node.asked);
    return `0x${node.head.toString(16)}`;
  };
  return Object.assign(node, { connection: { request } as unknown as Connection });
}

/** Advances the clock by 2 ms with each read of the node, however long a read takes on a busy machine. */
function passTimeByLooks(node: { readonly asked: number }): void {
  const clock = vi.spyOn(performance, "now").mockImplementation(() => node.asked * 2);
  onTestFinished(() => clock.mockRestore());
}

const LONG_AGO = -1e6;

test("a chain that has rested is looked at for some milliseconds only", async () => {
  const node = createNode(() => 7);
  await untilHeadIsStill({ connection: node.connection, head: 7, activeAt: LONG_AGO });
  expect(node.asked).toBe(20);
});

test("blocks that are still to come are waited for, however many looks lie between them", async () => {
  const node = createNode((asked) => Math.min(9, Math.floor(asked / 15)));
  passTimeByLooks(node);
  await untilHeadIsStill({ connection: node.connection, head: 0, activeAt: LONG_AGO });
  expect(node.head).toBe(9);
  expect(node.asked).toBeGreaterThan(9 * 15 + 20);
});

test("option activeAt: right after something was sent, a block may be on its way that shows nowhere", async () => {
  const node = createNode((asked) => (asked < 25 ? 7 : 8));
  passTimeByLooks(node);
  await untilHeadIsStill({ connection: node.connection, head: 7, activeAt: 0 });
  expect(node.head).toBe(8);
});

test("option head: a block that nobody has been told of is one that has just come", async () => {
  const node = createNode((asked) => (asked < 25 ? 8 : 9));
  passTimeByLooks(node);
  await untilHeadIsStill({ connection: node.connection, head: 7, activeAt: LONG_AGO });
  expect(node.head).toBe(9);
});
