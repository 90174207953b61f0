import { expect, test } from "vitest";
import type { Connection } from "../../../src/evm/connection.ts";
import { shareBlockLogs } from "../../../src/networks/embedded/sharedBlockLogs.ts";

const BLOCK = `0x${"b1".repeat(32)}`;
const [COORDINATOR, CONSUMER, OTHER] = ["0xAa", "0xbB", "0xcc"];

/** Creates a node with one block, and records what it is asked. */
function createNode() {
  const node = {
    logs: [{ address: "0xaa" }, { address: "0xbb" }, { address: "0xcc" }],
    isDown: false,
    asked: [] as unknown[],
  };
  const connection: Connection = {
    async request(method, [filter]) {
      node.asked.push(method === "eth_getLogs" ? (filter as { address: unknown }).address : method);
      if (node.isDown) throw new Error("down");
      const { address } = (filter ?? {}) as { address?: string[] };
      return node.logs.filter((log) => address?.includes(log.address));
    },
    subscribe: async () => () => {},
    close() {},
  };
  const { request } = shareBlockLogs(connection);
  const logsOf = (...address: unknown[]) => request("eth_getLogs", [{ blockHash: BLOCK, address }]);
  return { node, request, logsOf };
}

test("a block's logs are read once for all who ask, and each gets those of its own contracts", async () => {
  const { node, logsOf } = createNode();
  await logsOf(COORDINATOR, CONSUMER);
  node.asked = [];
  expect(await Promise.all([logsOf(COORDINATOR, "0xaa"), logsOf(CONSUMER)])).toEqual([
    [{ address: "0xaa" }],
    [{ address: "0xbb" }],
  ]);
  expect(node.asked).toEqual([]);
});

test("a contract that nobody has asked for yet is asked for together with the others", async () => {
  const { node, logsOf } = createNode();
  await logsOf(COORDINATOR);
  expect(await logsOf(OTHER)).toEqual([{ address: "0xcc" }]);
  expect(node.asked).toEqual([["0xaa"], ["0xaa", "0xcc"]]);
});

test("neither an error nor an empty answer is kept", async () => {
  const { node, logsOf } = createNode();
  node.isDown = true;
  await expect(logsOf(COORDINATOR)).rejects.toThrow("down");
  Object.assign(node, { isDown: false, logs: [] });
  expect(await logsOf(COORDINATOR)).toEqual([]);
  node.logs = [{ address: "0xaa" }];
  expect(await logsOf(COORDINATOR)).toEqual([{ address: "0xaa" }]);
});

test("other requests, and logs by range or topic, go to the node as they are", async () => {
  const { node, request } = createNode();
  await request("eth_blockNumber", []);
  for (const filter of [
    { fromBlock: "0x1", toBlock: "0x2", address: [COORDINATOR] },
    { blockHash: BLOCK, address: [COORDINATOR], topics: ["0x1"] },
  ])
    await request("eth_getLogs", [filter]);
  expect(node.asked).toEqual(["eth_blockNumber", [COORDINATOR], [COORDINATOR]]);
});
