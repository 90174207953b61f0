import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countEnds } from "../support/countEnds.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;

beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await startTycheProcess({ dataDir });
});
afterEach(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
});

const rpc = async (method: string, ...params: readonly unknown[]) => {
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl } = data.items.find((one: { name: string }) => one.name === "fuji");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await response.json()) as { result?: any; error?: { message: string } }; // eslint-disable-line typescript/no-explicit-any
};
const draw = () =>
  tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji", {
    headers: { "idempotency-key": "drawn-once" },
  });
const find = async (id: string) => (await tyche.call("GET", `/api/requests/${id}`)).data;

test("behaviour: an answer whose block was taken comes again under the same id, and its key replays the newest", async () => {
  const first = await draw();
  const id = first.headers.get("tyche-request-id")!;
  await rpc("anvil_reorg", 2, []);
  const record = await vi.waitFor(
    async () => {
      const found = await find(id);
      expect(found.timeline.length).toBeGreaterThan(3);
      expect(found.state).toBe("fulfilled");
      return found;
    },
    { timeout: 10_000, interval: 300 },
  );
  expect(countEnds(record)).toBe(1);
  // The request is in another block, so its seed and words are others.
  expect(record.outcome.randomNumber).not.toEqual(first.data.randomNumber);
  const second = await draw();
  expect([second.headers.get("tyche-request-id"), second.data]).toEqual([id, record.outcome]);
  const { result } = await rpc("eth_getTransactionReceipt", record.outcome.transactionHash);
  expect(result).toMatchObject({ status: "0x1" });

  await tyche.stop("SIGKILL");
  tyche = await startTycheProcess({ dataDir });
  expect((await draw()).data.randomNumber).toEqual(record.outcome.randomNumber);
});
