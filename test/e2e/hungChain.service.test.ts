import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkChain, type CheckedNetwork } from "../faults/chainChecker.ts";
import { countEnds } from "../support/countEnds.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

const NETWORK = "fuji";
/** The product promises two seconds; the rest is for a busy machine. Without deadlines it takes 30 and more. */
const TRUTH_WITHIN_MS = 20_000;

let dataDir: string;
let tyche: TycheProcess;

const start = () => startTycheProcess({ dataDir, networks: [NETWORK, "sepolia"] });
beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await start();
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
});

/** Returns the process id of the network's Anvil. */
const anvilPid = (): number =>
  Number.parseInt(readFileSync(path.join(dataDir, "chains", NETWORK, "anvil.pid"), "utf8"), 10);
/** Sends a request and fails if the answer is late. */
const ask = async (target: string) => {
  const response = await fetch(`${tyche.url}${target}`, {
    headers: { authorization: tyche.apiKey },
    signal: AbortSignal.timeout(TRUTH_WITHIN_MS),
  });
  return { status: response.status, text: await response.text() };
};
const readiness = async () => {
  const { status, text } = await ask("/readyz");
  return { status, ...JSON.parse(text).networks[NETWORK] };
};
/** Runs for a second and a half: its result is ready after the chain has stopped. */
const SLOW_SOURCE =
  "const end = Date.now() + 1500; while (Date.now() < end); return Functions.encodeString(args[0])";
const find = async (id: string) => (await tyche.call("GET", `/api/requests/${id}`)).data;
const draw = (headers = {}) =>
  tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}`, { headers });

test("a chain that hangs is told of at once, started again, and loses nothing, what the oracle sends meanwhile included", async () => {
  expect((await draw()).status).toBe(200);
  const running = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    headers: { prefer: "respond-async, wait=0" },
    body: { network: NETWORK, source: SLOW_SOURCE, args: ["late"] },
  });
  // A slow test finds the result there already.
  await expect.poll(async () => (await find(running.data.id)).state).toMatch(/^(executing|fulfilled)$/);
  const pid = anvilPid();
  process.kill(pid, "SIGSTOP");
  const accepted = await draw({ prefer: "respond-async" });
  const [ready, metrics, request, page] = await Promise.all([
    readiness(),
    ask("/metrics"),
    ask(accepted.headers.get("location")!),
    ask(`/api/requests?network=${NETWORK}`),
  ]);
  expect(ready).toMatchObject({ status: 503, ready: false, rpcReachable: false, why: expect.any(String) });
  expect(metrics.text).toContain(`tyche_rpc_reachable{network="${NETWORK}"} 0`);
  expect(JSON.parse(request.text).data.why).toMatch(/\S/);
  expect([metrics.status, request.status, page.status]).toEqual([200, 200, 200]);
  // Other networks are not affected.
  const other = await tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=sepolia");
  expect(other.status).toBe(200);
  await vi.waitFor(async () => expect((await readiness()).ready).toBe(true), { interval: 500 });
  expect(anvilPid()).not.toBe(pid);
  const records = [];
  for (const { data } of [running, accepted]) {
    await expect.poll(() => find(data.id)).toMatchObject({ state: "fulfilled", outcome: { success: true } });
    records.push(await find(data.id));
  }
  expect(records.map(countEnds)).toEqual([1, 1]);
  const { data } = await tyche.call("GET", "/api/networks");
  const network: CheckedNetwork = data.items.find(({ name }: CheckedNetwork) => name === NETWORK);
  const all = (await tyche.call("GET", `/api/requests?network=${NETWORK}`)).data.items;
  expect(await checkChain(network, all)).toEqual([]);
  // The oracle also knows that nothing is left to do.
  await expect
    .poll(async () => (await readiness()).oracle)
    .toMatchObject({ pendingWords: 0, pendingFunctions: 0 });
});

test("a stop ends although a chain hangs; until the end the port says that it is closing", async () => {
  process.kill(anvilPid(), "SIGSTOP");
  const stopped = tyche.stop();
  await vi.waitFor(async () => expect((await ask("/readyz")).status).toBe(503));
  expect((await draw()).data).toMatchObject({ code: "overloaded" });
  expect([0, 1]).toContain(await stopped);
  tyche = await start();
  expect((await draw()).status).toBe(200);
});

test("a second signal ends the service at once", async () => {
  process.kill(anvilPid(), "SIGSTOP");
  const stopped = tyche.stop();
  await vi.waitFor(() => expect(tyche.output()).toContain("press again to stop at once"));
  process.kill(tyche.pid, "SIGTERM");
  expect(await stopped).toBe(143);
});
