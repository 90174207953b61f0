import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { startOracleProcess, startTycheProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, type TwoParties } from "./support/world.ts";

// A chain that mines by the clock, and processes of their own: on a busy machine all take their time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
const STATE_TIMEOUT = { timeout: 90_000, interval: 100 };

let server: PostgresServer;
let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
/** The one that dispatches, as each test begins, and the one that doesn't. */
let holder: TycheProcess;
let follower: TycheProcess;

beforeAll(async () => {
  [server, chain] = await Promise.all([startPostgres(), startIntervalAnvil()]);
  parties = prepareParties(chain, { databaseUrl: await server.createDatabase() });
  await deployByCommands(parties);
  [oracle, holder] = await Promise.all([startOracleProcess(parties.oracle), startReplica("one")]);
  follower = await startReplica("two");
});
afterAll(async () => {
  await Promise.all([holder, follower, oracle].map((one) => one?.stop("SIGKILL")));
  await Promise.all([chain?.close(), server?.remove()]);
  parties?.remove();
});

test("default: any replica takes any call, and one of them dispatches", async () => {
  const [first, second] = await Promise.all([readDispatcher(holder), readDispatcher(follower)]);
  expect([first, second]).toEqual([
    { isHere: true, replica: expect.stringMatching(/^rep_/) as string },
    { isHere: false, replica: first.replica },
  ]);
  const before = await countDeliveries(chain, parties);
  const answers = await Promise.all([holder, follower].map((one) => callPreset(one)));
  expect(answers.map(({ status, data }) => ({ status, data }))).toMatchObject([
    { status: 200, data: { success: true, err: "0x" } },
    { status: 200, data: { success: true, err: "0x" } },
  ]);
  const key = { "idempotency-key": "everywhere" };
  const [here, there] = await Promise.all([holder, follower].map((one) => callPreset(one, key)));
  expect(here!.headers.get("tyche-request-id")).toBe(there!.headers.get("tyche-request-id"));
  const counted = await countDeliveries(chain, parties);
  expect(counted).toEqual({ sent: before.sent + 3, delivered: before.delivered + 3 });
});

test("behaviour: a follower tells the timeline of what another replica dispatches, and why it waits", async () => {
  await oracle.stop();
  const [id] = await sendWave(follower, "watched", 1);
  await vi.waitFor(async () => {
    const { data } = await follower.call("GET", `/api/requests/${id}`);
    expect(data).toMatchObject({ state: "submitted" });
    expect(data.why).toMatch(/oracle not seen|confirmations|with the oracle/);
  }, STATE_TIMEOUT);
  oracle = await startOracleProcess(parties.oracle);
  const events = await fetch(`${follower.url}/api/requests/${id}`, {
    headers: { authorization: follower.apiKey, accept: "text/event-stream" },
  });
  // It ends with the request.
  const text = await events.text();
  expect(text.match(/^event: \w+$/gm)?.at(-1)).toBe("event: result");
});

test("behaviour: kill -9 of the replica that dispatches loses no request, and doubles none", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = [
    ...(await sendWave(holder, "killed-here", 4)),
    ...(await sendWave(follower, "killed-there", 4)),
  ];
  await holder.stop("SIGKILL");
  ids.push(...(await sendWave(follower, "alone", 4)));
  await untilDispatching(follower);
  await expectFulfilled(follower, ids);
  expect(new Set(ids).size).toBe(12);
  await expectCount(before, 12);
  [holder, follower] = [follower, await startReplica("one")];
});

test("behaviour: a replica that was stopped for longer than its lease stands down when it goes on", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = await sendWave(holder, "paused-here", 4);
  process.kill(holder.pid, "SIGSTOP");
  ids.push(...(await sendWave(follower, "paused-there", 4)));
  await untilDispatching(follower);
  process.kill(holder.pid, "SIGCONT");
  await vi.waitFor(
    async () => expect(await readDispatcher(holder)).toMatchObject({ isHere: false }),
    STATE_TIMEOUT,
  );
  ids.push(...(await sendWave(holder, "woken", 4)));
  await expectFulfilled(holder, ids);
  await expectFulfilled(follower, ids);
  await expectCount(before, ids.length);
  [holder, follower] = [follower, holder];
});

test("behaviour: a replica that is stopped cleanly passes on at once", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = [...(await sendWave(holder, "left-here", 3)), ...(await sendWave(follower, "left-there", 3))];
  const stopped = holder.stop();
  await untilDispatching(follower);
  expect(await stopped).toBe(0);
  await expectFulfilled(follower, ids);
  await expectCount(before, ids.length);
  holder = follower;
});

/** Starts a replica with a data directory of its own, and the master key that all of them have. */
async function startReplica(name: string): Promise<TycheProcess> {
  const { TYCHE_DATA_DIR, ...env } = parties.service;
  const dataDir = `${TYCHE_DATA_DIR}-${name}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const [file, text] of [
    ["tyche-data", ""],
    ["master-key", "1f".repeat(32)],
  ] as const)
    writeFileSync(path.join(dataDir, file), text, { mode: 0o600 });
  return await startTycheProcess({ dataDir, env, timeoutMs: 240_000 });
}

function callPreset(
  tyche: TycheProcess,
  headers: Readonly<Record<string, string>> = {},
): ReturnType<TycheProcess["call"]> {
  return tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, { body: {}, headers });
}

async function readDispatcher(tyche: TycheProcess): Promise<{ replica?: string; isHere: boolean }> {
  const { networks } = (await (await fetch(`${tyche.url}/readyz`)).json()) as {
    networks: Record<string, { dispatcher: { replica?: string; isHere: boolean } }>;
  };
  return networks[NETWORK]!.dispatcher;
}

async function untilDispatching(tyche: TycheProcess): Promise<void> {
  await vi.waitFor(
    async () => expect(await readDispatcher(tyche)).toMatchObject({ isHere: true }),
    STATE_TIMEOUT,
  );
}

/** Results may come before the last receipt is read: the chain is asked until it has what it must have, and then once more. */
async function expectCount(
  before: { readonly sent: number; readonly delivered: number },
  more: number,
): Promise<void> {
  const wanted = { sent: before.sent + more, delivered: before.delivered + more };
  await vi.waitFor(async () => expect(await countDeliveries(chain, parties)).toEqual(wanted), STATE_TIMEOUT);
  // What somebody sent a second time would be in the next blocks.
  await chain.mine(3);
  expect(await countDeliveries(chain, parties)).toEqual(wanted);
}
