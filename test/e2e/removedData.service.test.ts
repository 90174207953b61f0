import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
const start = () => startTycheProcess({ dataDir, networks: ["fuji", "sepolia"] });
beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await start();
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
});

/** Removes a folder. `rmSync` stops without an error if a file, such as one of the service's temporary ones, vanishes during its work. */
function remove(folder: string): void {
  do rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 25 });
  while (existsSync(folder));
}
const random = (network: string) =>
  tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${network}`, {
    headers: { prefer: "respond-async" },
  });

test("a chain's folder is removed, and its network takes no more requests; then all, and the service ends", async () => {
  remove(path.join(dataDir, "chains", "fuji"));
  await vi.waitFor(async () => {
    const { networks } = (await (await fetch(`${tyche.url}/readyz`)).json()) as any; // eslint-disable-line typescript/no-explicit-any
    expect(networks.fuji).toMatchObject({
      ready: false,
      why: expect.stringContaining("was removed or replaced"),
    });
  });
  const refused = await random("fuji");
  expect(refused).toMatchObject({ status: 502, data: { code: "chain_unavailable" } });
  expect(refused.data.err).not.toContain(dataDir);
  expect((await random("sepolia")).status).toBe(202);

  // What is in the log alone is copied to the database before the service ends.
  for (const suffix of ["-wal", "-shm"]) rmSync(path.join(dataDir, `tyche.sqlite${suffix}`));
  expect(await tyche.exited).toBe(1);
  expect(tyche.output()).toContain("was removed");
  tyche = await start();
  const { data } = await tyche.call("GET", "/api/requests?network=sepolia");
  expect(data.items).toHaveLength(1);

  remove(dataDir);
  // Nothing more is accepted: the database file is checked before each write.
  const statuses = await Promise.all(
    Array.from({ length: 5 }, () =>
      random("sepolia").then(
        ({ status }) => status,
        () => 0,
      ),
    ),
  );
  expect(statuses).not.toContain(202);
  await vi.waitFor(() => expect(tyche.output()).toContain("removed"));
  expect(await tyche.stop()).toBe(1);
});
