import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBalancer } from "../support/balancer.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { startOracleProcess, startTycheProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, type TwoParties } from "./support/world.ts";

const STATE_TIMEOUT = { timeout: 90_000, interval: 100 };

let server: PostgresServer;
let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
/** The replica that dispatches when a test begins, and the one that doesn't. */
let holder: TycheProcess;
let follower: TycheProcess;

beforeAll(async () => {
  [server, chain] = await Promise.all([startPostgres(), startIntervalAnvil()]);
  parties = prepareParties(chain, { databaseUrl: await server.createDatabase() });
  setDrainDelay(parties.service["TYCHE_CONFIG"]!);
  await deployByCommands(parties);
  [oracle, holder] = await Promise.all([startOracleProcess(parties.oracle), startReplica("one")]);
  follower = await startReplica("two");
});
afterAll(async () => {
  await Promise.all([holder, follower, oracle].map((one) => one?.stop("SIGKILL")));
  await Promise.all([chain?.close(), server?.remove()]);
  parties?.remove();
});

test("any replica takes any call, and one of them dispatches", async () => {
  const found = await vi.waitFor(async () => {
    const both = await Promise.all([holder, follower].map(readDispatcher));
    expect(both.filter(({ isHere }) => isHere)).toHaveLength(1);
    expect(both).toEqual(both.map(({ isHere }) => ({ isHere, replica: both[0]!.replica })));
    return both;
  }, STATE_TIMEOUT);
  expect(found[0]!.replica).toMatch(/^rep_/);
  // On a busy machine the first one's lease may have run out while the second one started.
  if (!found[0]!.isHere) [holder, follower] = [follower, holder];
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

test("a follower tells the timeline of what another replica dispatches, and why it waits", async () => {
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
  // The stream ends with the request.
  const text = await events.text();
  expect(text.match(/^event: \w+$/gm)?.at(-1)).toBe("event: result");
});

test("kill -9 of the replica that dispatches loses no request, and doubles none", async () => {
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

test("a replica that was stopped for longer than its lease stands down when it goes on", async () => {
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

test("both replicas are restarted one after the other behind a balancer, and no call fails", async () => {
  const before = await countDeliveries(chain, parties);
  const balancer = await startBalancer([holder.url, follower.url]);
  try {
    await vi.waitFor(() => expect(balancer.ready()).toHaveLength(2), STATE_TIMEOUT);
    const callers = callOnAndOn(balancer.url);
    for (let restarts = 0; restarts < 2; restarts += 1) {
      const [leaving, staying] = [holder, follower];
      const count = callers.answers.length;
      expect(await leaving.stop()).toBe(0);
      // The remaining replica takes the calls, and dispatches.
      await vi.waitFor(() => expect(callers.answers.length).toBeGreaterThan(count + 2), STATE_TIMEOUT);
      await untilDispatching(staying);
      const next = await startIn(leaving.dataDir);
      balancer.setServers([staying.url, next.url]);
      await vi.waitFor(() => expect(balancer.ready()).toHaveLength(2), STATE_TIMEOUT);
      [holder, follower] = [staying, next];
    }
    await callers.stop();
    expect(callers.answers).toEqual(callers.answers.map(() => ({ status: 200, err: "0x" })));
    await expectCount(before, callers.answers.length);
  } catch (error) {
    throw new Error(await describeTrouble([holder, follower]), { cause: error });
  } finally {
    await balancer.close();
  }
});

test("a replica that is stopped cleanly passes on at once", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = [...(await sendWave(holder, "left-here", 3)), ...(await sendWave(follower, "left-there", 3))];
  const stopped = holder.stop();
  await untilDispatching(follower);
  expect(await stopped).toBe(0);
  await expectFulfilled(follower, ids);
  await expectCount(before, ids.length);
  holder = follower;
});

/** Sets it to many times what the balancer needs to notice. */
function setDrainDelay(file: string): void {
  const config = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...config, http: { drainDelayMs: 4_000 } }));
}

/** Starts a replica with its own data directory and the shared master key. */
async function startReplica(name: string): Promise<TycheProcess> {
  const dataDir = `${parties.service["TYCHE_DATA_DIR"]}-${name}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const [file, text] of [
    ["tyche-data", ""],
    ["master-key", "1f".repeat(32)],
  ] as const)
    writeFileSync(path.join(dataDir, file), text, { mode: 0o600 });
  return await startIn(dataDir);
}

function startIn(dataDir: string): Promise<TycheProcess> {
  return startTycheProcess({
    dataDir,
    env: { ...parties.service, TYCHE_DATA_DIR: dataDir },
    timeoutMs: 240_000,
  });
}

/** Describes a failure of several replicas: the requests that have not ended, and each replica's log. */
async function describeTrouble(replicas: readonly TycheProcess[]): Promise<string> {
  const parts = await Promise.all(
    replicas.map(async (replica) => {
      const open = await replica
        .call("GET", "/api/requests?limit=100")
        .then(({ data }) =>
          data.items.filter(({ state }: { state: string }) => !/fulfilled|failed/.test(state)),
        )
        .catch((error: unknown) => String(error));
      const ready = await fetch(`${replica.url}/readyz`)
        .then((response) => response.text())
        .catch(String);
      return `${replica.dataDir}\nopen: ${JSON.stringify(open, null, 1)}\nready: ${ready}\n${replica.output()}`;
    }),
  );
  return parts.join("\n\n");
}

/** Starts two callers who repeat calls until `stop`, each waiting for a result before calling again. */
function callOnAndOn(url: string): { readonly answers: object[]; stop(): Promise<void> } {
  const { apiKey } = holder;
  const answers: object[] = [];
  let isOver = false;
  const lanes = Array.from({ length: 2 }, async () => {
    while (!isOver) {
      const response = await fetch(`${url}/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
        method: "POST",
        headers: { authorization: apiKey },
      });
      const text = await response.text();
      answers.push({ status: response.status, err: /"err":"([^"]*)"/.exec(text)?.[1] ?? text });
    }
  });
  return {
    answers,
    async stop() {
      isOver = true;
      await Promise.all(lanes);
    },
  };
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

/**
 * Checks the chain's counts. Results may come before the last receipt is read, so it polls until the counts match, and then checks again.
 */
async function expectCount(
  before: { readonly sent: number; readonly delivered: number },
  more: number,
): Promise<void> {
  const wanted = { sent: before.sent + more, delivered: before.delivered + more };
  await vi.waitFor(async () => expect(await countDeliveries(chain, parties)).toEqual(wanted), STATE_TIMEOUT);
  // Anything sent twice would be in the next blocks.
  await chain.mine(3);
  expect(await countDeliveries(chain, parties)).toEqual(wanted);
}
