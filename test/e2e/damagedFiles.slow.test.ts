import { readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await startTycheProcess({ dataDir });
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
});

const random = async (network: string) =>
  (await tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${network}`)).data;
const readiness = async () => (await (await fetch(`${tyche.url}/readyz`)).json()) as any; // eslint-disable-line typescript/no-explicit-any
const halve = (file: string): void => truncateSync(file, Math.floor(statSync(file).size / 2));

test("each network makes the best of its damaged files, and nothing is deleted", async () => {
  const networks = ["sepolia", "fuji", "polygon_mumbai", "fantom_testnet"];
  const earlier = Object.fromEntries(
    await Promise.all(networks.map(async (network) => [network, await random(network)] as const)),
  );
  // Stopping stores each chain's state a second time.
  await tyche.stop();
  const chain = (...names: string[]): string => path.join(dataDir, "chains", ...names);
  halve(chain("sepolia", "state.json"));
  halve(chain("fuji", "state.json"));
  rmSync(chain("fuji", "state.previous.json"));
  writeFileSync(chain("polygon_mumbai", "history.sqlite"), "no database ".repeat(1_000));
  rmSync(chain("fantom_testnet"), { recursive: true });
  writeFileSync(chain("fantom_testnet"), "no folder");

  tyche = await startTycheProcess({ dataDir });
  const sentences = async () => {
    const { networks: found } = await readiness();
    return Object.fromEntries(networks.map((name) => [name, found[name].warnings.join("; ")]));
  };
  // On a busy machine, a reading that takes too long is without them.
  await expect.poll(sentences).toEqual({
    sepolia: expect.stringContaining("rebuilt from the state before it"),
    fuji: expect.stringContaining("the chain is lost, a new one has begun"),
    polygon_mumbai: expect.stringContaining("history.sqlite was damaged"),
    fantom_testnet: expect.stringContaining("was not a folder and is now"),
  });
  for (const network of networks) expect((await random(network)).success).toBe(true);
  // The rebuilt chain has everything it had, including its newest block.
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl } = data.items.find(({ name }: { name: string }) => name === "sepolia");
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "eth_getTransactionReceipt",
    params: [earlier["sepolia"].transactionHash],
  });
  const headers = { "content-type": "application/json" };
  expect(await (await fetch(rpcUrl, { method: "POST", headers, body })).json()).toMatchObject({
    result: { status: "0x1" },
  });
  const aside = readdirSync(chain()).filter((name) => name.includes("set-aside"));
  expect(aside.map((name) => name.replace(/\.set-aside-.*/, "")).toSorted()).toEqual([
    "fantom_testnet",
    "fuji",
  ]);
  expect(readFileSync(chain(aside.find((name) => name.startsWith("fantom"))!), "utf8")).toBe("no folder");
  // Files are set aside once: the next start finds everything intact.
  await tyche.stop();
  tyche = await startTycheProcess({ dataDir });
  for (const name of networks)
    expect((await readiness()).networks[name].warnings.join()).not.toContain("state.json");
});
