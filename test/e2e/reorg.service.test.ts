import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openUnixSocket } from "../../src/evm/connection.ts";
import { countEnds } from "../support/countEnds.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;

const start = () => startTycheProcess({ dataDir, networks: ["fuji"] });
beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await start();
});
afterEach(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
});

const findRpcUrl = async (): Promise<string> => {
  const { data } = await tyche.call("GET", "/api/networks");
  return data.items.find((one: { name: string }) => one.name === "fuji").rpcUrl;
};
const rpc = async (method: string, ...params: readonly unknown[]) => {
  const rpcUrl = await findRpcUrl();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await response.json()) as { result?: any; error?: { message: string } }; // eslint-disable-line typescript/no-explicit-any
};
/** Resets the chain through Anvil's own socket, past all refusals; the new chain soon outgrows the block that identifies ours. */
const reset = async (): Promise<void> => {
  const pidFile = path.join(dataDir, "chains", "fuji", "anvil.pid");
  const [, socket] = readFileSync(pidFile, "utf8").trim().split(" ");
  const connection = openUnixSocket(socket!, 5_000);
  // The service may end the process before it answers.
  await Promise.allSettled([
    connection.request("anvil_reset", []),
    connection.request("anvil_mine", ["0x13"]),
  ]);
  connection.close();
};
const draw = () =>
  tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji", {
    headers: { "idempotency-key": "drawn-once" },
  });
const find = async (id: string) => (await tyche.call("GET", `/api/requests/${id}`)).data;

test("an answer whose block was taken comes again under the same id, and its key replays the newest", async () => {
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
    { interval: 300 },
  );
  expect(countEnds(record)).toBe(1);
  // The request is in another block, so its seed and words differ.
  expect(record.outcome.randomNumber).not.toEqual(first.data.randomNumber);
  const second = await draw();
  expect([second.headers.get("tyche-request-id"), second.data]).toEqual([id, record.outcome]);
  const { result } = await rpc("eth_getTransactionReceipt", record.outcome.transactionHash);
  expect(result).toMatchObject({ status: "0x1" });

  await tyche.stop("SIGKILL");
  tyche = await start();
  expect((await draw()).data.randomNumber).toEqual(record.outcome.randomNumber);
});

// If a chain comes back a few blocks shorter, the service waits 15 s before it treats it as set back.
test("a chain that is reset under the service comes back, and what was in flight goes on", async () => {
  const first = await draw();
  const pending = await Promise.all(
    Array.from({ length: 5 }, () =>
      tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji&confirmations=100", {
        headers: { prefer: "respond-async" },
      }),
    ),
  );
  await reset();
  for (const { data } of pending) {
    const record = await vi.waitFor(
      async () => {
        const found = await find(data.id);
        expect({ state: found.state, why: found.why, error: found.error }).toEqual({
          state: "fulfilled",
          why: null,
          error: null,
        });
        return found;
      },
      { interval: 300 },
    );
    expect(countEnds(record)).toBe(1);
    const { result } = await rpc("eth_getTransactionReceipt", record.outcome.transactionHash);
    expect(result).toMatchObject({ status: "0x1" });
  }
  const { result } = await rpc("eth_getTransactionReceipt", first.data.transactionHash);
  expect(result).toMatchObject({ status: "0x1" });
});

test("a chain that is gone with all that was stored of it is not ready, and the next start makes a new one", async () => {
  await draw();
  rmSync(path.join(dataDir, "chains", "fuji", "state.json"));
  await reset();
  await vi.waitFor(
    async () => {
      const readiness = await (await fetch(`${tyche.url}/readyz`)).text();
      expect(readiness).toContain("its embedded chain has stopped; restart the service");
    },
    { interval: 300 },
  );
  const refused = await tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji");
  expect([refused.status, refused.data.code]).toEqual([502, "chain_unavailable"]);
  await tyche.stop();
  tyche = await start();
  expect((await tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji")).status).toBe(200);
});
