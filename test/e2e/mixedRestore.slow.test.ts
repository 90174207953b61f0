import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EMBEDDED_FINALITY_DEPTH } from "../../src/networks/profiles.ts";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let backup: string;
let tyche: TycheProcess;
beforeEach(async () => {
  dataDir = makeDataDir();
  backup = makeDataDir();
  tyche = await startTycheProcess({ dataDir, networks: ["fuji", "sepolia"] });
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
  removeDataDir(backup);
});

const send = (name: string) =>
  tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji", { headers: { "idempotency-key": name } });
const rpc = async (method: string, ...params: unknown[]) => {
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl } = data.items.find(({ name }: { name: string }) => name === "fuji");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return ((await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as any).result; // eslint-disable-line typescript/no-explicit-any
};
const readiness = async () => (await (await fetch(`${tyche.url}/readyz`)).json()) as any; // eslint-disable-line typescript/no-explicit-any
test("another course of the chain under a database: what it lost is sent again, however many blocks ago it ended", async () => {
  await send("early");
  await tyche.stop();
  cpSync(dataDir, backup, { recursive: true });
  tyche = await startTycheProcess({ dataDir });
  const first = (await send("first")).data;
  const second = (await send("second")).data;
  await tyche.stop();
  // The chain continues from the backup until both requests are final by their block numbers.
  tyche = await startTycheProcess({ dataDir: backup });
  const mined = EMBEDDED_FINALITY_DEPTH + 64;
  await rpc("anvil_mine", `0x${mined.toString(16)}`);
  await tyche.stop();
  rmSync(path.join(dataDir, "chains", "fuji"), { recursive: true });
  cpSync(path.join(backup, "chains", "fuji"), path.join(dataDir, "chains", "fuji"), { recursive: true });
  tyche = await startTycheProcess({ dataDir });
  for (const [name, before] of Object.entries({ first, second })) {
    const again = await vi.waitFor(
      async () => {
        const { data } = await send(name);
        expect(await rpc("eth_getTransactionReceipt", data.transactionHash)).toMatchObject({ status: "0x1" });
        return data;
      },
      { interval: 200 },
    );
    expect(again).toMatchObject({ success: true, requestId: expect.stringMatching(/^0x/) });
    expect(before.success).toBe(true);
  }
  // Newest first. Both results were on the chain that is gone, so both requests ended a second time, on this one.
  const ends = async () =>
    (await tyche.call("GET", "/api/requests")).data.items.map(
      ({ state, timeline }: { state: string; timeline: { state: string }[] }) =>
        `${state} ${timeline.filter((entry) => entry.state === "fulfilled").length}`,
    );
  await vi.waitFor(async () => expect(await ends()).toEqual(["fulfilled 2", "fulfilled 2", "fulfilled 1"]), {
    interval: 200,
  });
});

test("an old database under a new chain: nothing is sent until the operator has spoken", async () => {
  await send("early");
  await tyche.stop();
  cpSync(dataDir, backup, { recursive: true });
  tyche = await startTycheProcess({ dataDir });
  await send("late");
  await tyche.stop();
  for (const name of ["tyche.sqlite-wal", "tyche.sqlite-shm"])
    rmSync(path.join(dataDir, name), { force: true });
  cpSync(path.join(backup, "tyche.sqlite"), path.join(dataDir, "tyche.sqlite"));

  tyche = await startTycheProcess({ dataDir });
  // A network that a busy machine doesn't read in time isn't ready for the moment.
  await expect.poll(readiness).toMatchObject({
    ready: false,
    networks: {
      fuji: {
        why: expect.stringMatching(
          /database is older than the chain of fuji: it lacks 1 transaction with .*TYCHE_ACCEPT_CHAINS=fuji/,
        ),
      },
      sepolia: { ready: true },
    },
  });
  await vi.waitFor(() =>
    expect(tyche.output()).toMatch(
      /Ready in [\d.]+ s, but fuji can't serve[^]+✗ fuji {12}the database is older than the chain[^\n]+1 transaction with[^]+TYCHE_ACCEPT_CHAINS=fuji to continue/,
    ),
  );
  expect(tyche.output()).not.toMatch(/"level"|^ +at /m);
  expect(await send("late")).toMatchObject({ status: 502, data: { code: "chain_unavailable" } });
  await tyche.stop();

  tyche = await startTycheProcess({ dataDir, env: { TYCHE_ACCEPT_CHAINS: "fuji" } });
  expect((await send("late")).data.success).toBe(true);
  await tyche.stop();
  tyche = await startTycheProcess({ dataDir });
  await expect.poll(async () => (await readiness()).networks.fuji.ready).toBe(true);
});
