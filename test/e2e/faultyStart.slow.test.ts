import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { toHex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deriveNetworkKeys } from "../../src/app/network/networkKeys.ts";
import { makeDataDir, removeDataDir, runTyche, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess | undefined;
beforeEach(() => {
  dataDir = makeDataDir();
});
afterEach(async () => {
  await tyche?.stop("SIGKILL");
  tyche = undefined;
  removeDataDir(dataDir);
});

const random = (network: string) => `/api/vrfv2/requestRandomNumber?network=${network}`;
const readiness = async () => (await (await fetch(`${tyche!.url}/readyz`)).json()) as any; // eslint-disable-line typescript/no-explicit-any
const rpc = async (network: string, method: string, ...params: unknown[]) => {
  const { data } = await tyche!.call("GET", "/api/networks");
  const { rpcUrl } = data.items.find(({ name }: { name: string }) => name === network);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return await (await fetch(rpcUrl, { method: "POST", headers, body })).json();
};

test("a network that can't prepare a dapp serves the others, says why, and makes up for it", async () => {
  tyche = await startTycheProcess({ dataDir, networks: ["sepolia", "fuji"] });
  const masterKey = Buffer.from(readFileSync(path.join(dataDir, "master-key"), "utf8").trim(), "hex");
  const { operator } = deriveNetworkKeys(masterKey, "sepolia");
  await rpc("sepolia", "anvil_setBalance", operator.address, "0x0");
  // A dapp's subscriptions can't be created without coin, not even at the next start.
  const { output } = await runTyche(["dapp", "create", "late", "--json"], { TYCHE_DATA_DIR: dataDir });
  const { apiKey } = JSON.parse(output.slice(output.indexOf("{")));
  await vi.waitFor(async () =>
    expect((await readiness()).networks.sepolia.warnings.join()).toContain("1 of 2 dapps"),
  );
  await tyche.stop();
  tyche = await startTycheProcess({ dataDir });
  await expect
    .poll(async () => (await readiness()).networks.sepolia.warnings.join())
    .toContain("1 of 2 dapps have no subscriptions");
  const headers = { authorization: apiKey };
  expect((await tyche.call("POST", random("fuji"), { headers })).data.success).toBe(true);
  await rpc("sepolia", "anvil_setBalance", operator.address, toHex(10n ** 20n));
  await vi.waitFor(
    async () => expect((await readiness()).networks.sepolia.warnings.join()).not.toContain("dapps"),
    { interval: 200 },
  );
  expect((await tyche.call("POST", random("sepolia"), { headers })).data.success).toBe(true);
});

test("a start that can't succeed ends with 1, leaves no process, and a next one finds the folder free", async () => {
  // A file is in place of the chains folder: no network can start, and the port is free.
  const env = { PORT: "0", TYCHE_DATA_DIR: dataDir };
  await runTyche(["dapp", "list"], env);
  writeFileSync(path.join(dataDir, "chains"), "");
  const { code, output } = await runTyche(["start"], env);
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringContaining("no network could be started"),
  });
  rmSync(path.join(dataDir, "chains"));
  tyche = await startTycheProcess({ dataDir, networks: ["fuji"] });
});

test.each([
  ["master-key", "master-key is missing"],
  ["tyche.sqlite", "tyche.sqlite is missing"],
])("without %s nothing is made anew, and what is there stays", async (name, sentence) => {
  const chain = path.join(dataDir, "chains", "fuji");
  await runTyche(["dapp", "list"], { TYCHE_DATA_DIR: dataDir });
  mkdirSync(chain, { recursive: true });
  writeFileSync(path.join(chain, "state.json"), "precious");
  rmSync(path.join(dataDir, name));
  const { code, output } = await runTyche(["start"], { PORT: "0", TYCHE_DATA_DIR: dataDir });
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(sentence) });
  expect(readFileSync(path.join(chain, "state.json"), "utf8")).toBe("precious");
});

test("with the operator token outside, it signs in, and no file of the folder has it", async () => {
  const token = "outside-token-of-the-operator-0123456789";
  const env = { TYCHE_OPERATOR_TOKEN: token };
  tyche = await startTycheProcess({ dataDir, networks: ["fuji"], env });
  expect(tyche.output()).toContain("TYCHE_OPERATOR_TOKEN");
  expect(tyche.output()).not.toContain(token);
  expect(readdirSync(dataDir)).not.toContain("operator-token");
  const signIn = await fetch(`${tyche.url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operatorToken: token }),
  });
  expect([signIn.status, signIn.headers.get("set-cookie")]).toEqual([200, expect.any(String)]);
  const short = { PORT: "0", TYCHE_DATA_DIR: dataDir, TYCHE_OPERATOR_TOKEN: "short" };
  await tyche.stop();
  const { code, output } = await runTyche(["start"], short);
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("at least 32 characters") });
});

test("with the master key outside, no file of the folder has it or an API key", async () => {
  const secret = "5c".repeat(32);
  const env = { TYCHE_MASTER_KEY: secret };
  const child = await runTyche(["dapp", "create", "a", "--json"], { ...env, TYCHE_DATA_DIR: dataDir });
  const { apiKey } = JSON.parse(child.output.slice(child.output.indexOf("{")));
  for (const name of ["tyche-data", "tyche.sqlite"])
    expect(readFileSync(path.join(dataDir, name)).includes(apiKey)).toBe(false);
  const { code, output } = await runTyche(["dapp", "config"], { TYCHE_DATA_DIR: dataDir });
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("TYCHE_MASTER_KEY_FILE") });
  const again = await runTyche(["dapp", "config"], { ...env, TYCHE_DATA_DIR: dataDir });
  expect(again.output).toContain(apiKey);
});
