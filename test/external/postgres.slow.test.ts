import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readSessionToken, signIn } from "../support/signIn.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

const STATE_TIMEOUT = { timeout: 60_000, interval: 100 };

let server: PostgresServer;
let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;

beforeAll(async () => {
  [server, chain] = await Promise.all([startPostgres(), startIntervalAnvil()]);
  parties = prepareParties(chain, { databaseUrl: await server.createDatabase() });
  await deployByCommands(parties);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(onSqlite(parties))]);
});
afterAll(async () => {
  await Promise.all([tyche, oracle].map((one) => one?.stop("SIGKILL")));
  await Promise.all([chain?.close(), server?.remove()]);
  parties?.remove();
});

/** Returns the same service before it had a PostgreSQL database. */
function onSqlite(present: TwoParties): TwoParties {
  const file = present.service["TYCHE_CONFIG"]!;
  const { networks } = JSON.parse(readFileSync(file, "utf8"));
  const earlier = `${file}.sqlite.json`;
  writeFileSync(earlier, JSON.stringify({ networks }));
  return { ...present, service: { ...present.service, TYCHE_CONFIG: earlier } };
}

test("a service that was copied from SQLite goes on with its key, requests and transactions", async () => {
  const ids = await sendWave(tyche, "before", 2);
  await expectFulfilled(tyche, ids);
  // Links contain the port, which changes with each start.
  const list = async (): Promise<object[]> =>
    JSON.parse(
      JSON.stringify((await tyche.call("GET", "/api/requests")).data.items).replaceAll(tyche.url, ""),
    );
  const before = await list();
  ids.push(...(await sendWave(tyche, "open", 2)));
  await tyche.stop();
  const copied = await parties.run(["database", "copy", "--to", "TYCHE_TEST_DATABASE"]);
  expect(copied).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^requests +4 rows {2}sha256 \w{64}$/m),
  });
  expect(copied.output).not.toContain("secret-password");
  tyche = await startService(parties);
  await expectFulfilled(tyche, ids);
  expect((await list()).slice(-2)).toEqual(before);
  const repeated = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
    body: {},
    headers: { "idempotency-key": "before-0" },
  });
  expect(repeated.headers.get("tyche-request-id")).toBe(ids[0]);
  const { sent } = await countDeliveries(chain, parties);
  expect(sent).toBe(ids.length);
});

test("a preset is answered, and the journal is PostgreSQL's", async () => {
  const { status, data } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
    body: {},
  });
  expect({ status, data }).toMatchObject({ status: 200, data: { success: true, err: "0x" } });
  expect(existsSync(path.join(tyche.dataDir, "tyche.sqlite"))).toBe(false);
  const odd = await tyche.call("GET", "/api/requests/req_%00");
  expect(odd.status).toBe(404);
});

test("commands beside the service find its database, and no output holds its password", async () => {
  const dapps = await parties.run(["dapp", "list"]);
  expect(dapps).toMatchObject({ code: 0, output: expect.stringContaining("dapp_") });
  const checked = await parties.run(["config", "check"]);
  expect(checked).toMatchObject({ code: 0, output: expect.stringContaining("TYCHE_TEST_DATABASE") });
  const backup = await parties.run(["backup", "nightly/"]);
  expect(backup).toMatchObject({ code: 1, output: expect.stringContaining("--file=nightly/tyche.dump") });
  expect(tyche.output() + dapps.output + checked.output + backup.output).not.toContain("secret-password");
});

test("kill -9 of the service loses no request and doubles none; a sign-in outlives the service", async () => {
  const before = await countDeliveries(chain, parties);
  const session = await signIn(tyche);
  const { port } = new URL(tyche.url);
  const ids = await sendWave(tyche, "killed", 4);
  await tyche.stop("SIGKILL");
  tyche = await startService(parties);
  // The cookie is named for the port, which is another one now.
  const cookie = session.cookie.replace(port, new URL(tyche.url).port);
  expect(await readSessionToken(tyche.url, { ...session, cookie })).toMatch(/^tyche_session_/);
  await expectFulfilled(tyche, ids);
  expect(await countDeliveries(chain, parties)).toEqual({
    sent: before.sent + ids.length,
    delivered: before.delivered + ids.length,
  });
});

test("while PostgreSQL is down calls get 503 with Retry-After; then waiting calls, streams and requests go on, none doubled", async () => {
  const before = await countDeliveries(chain, parties);
  // Nothing ends before the database is back.
  await chain.slowDown();
  await oracle.stop();
  const ids = await sendWave(tyche, "under way", 3);
  const waiting = callPreset("waiting");
  const stream = await fetch(`${tyche.url}/api/requests/${ids[0]}`, {
    headers: { authorization: tyche.apiKey, accept: "text/event-stream" },
  });
  await vi.waitFor(async () => {
    const { data } = await tyche.call("GET", "/api/requests");
    expect(data.items.filter(({ state }: { state: string }) => state === "submitted")).toHaveLength(4);
  }, STATE_TIMEOUT);
  await server.stop();
  await vi.waitFor(async () => expect(await readReadiness()).toMatchObject({ status: 503 }), STATE_TIMEOUT);
  const refused = await Promise.all([callPreset("refused"), tyche.call("GET", `/api/requests/${ids[0]}`)]);
  for (const { status, headers, data } of refused)
    expect({ status, data, retryAfter: headers.get("retry-after") }).toMatchObject({
      status: 503,
      data: { code: "overloaded" },
      retryAfter: "1",
    });
  await server.restart();
  await vi.waitFor(async () => expect(await readReadiness()).toMatchObject({ status: 200 }), STATE_TIMEOUT);
  oracle = await startOracleProcess(parties.oracle);
  ids.push(...(await sendWave(tyche, "afterwards", 2)));
  await expectFulfilled(tyche, ids);
  expect(await waiting).toMatchObject({ status: 200, data: { success: true, err: "0x" } });
  expect((await stream.text()).match(/^event: \w+$/gm)?.at(-1)).toBe("event: result");
  expect(await countDeliveries(chain, parties)).toEqual({
    sent: before.sent + ids.length + 1,
    delivered: before.delivered + ids.length + 1,
  });
  expect(tyche.output()).toMatch(/TYCHE_TEST_DATABASE names is away: .*TYCHE_TEST_DATABASE names is back/s);
  expect(tyche.output()).not.toContain("secret-password");
});

function callPreset(key: string): ReturnType<TycheProcess["call"]> {
  return tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
    body: {},
    headers: { "idempotency-key": key, prefer: "wait=120" },
  });
}

async function readReadiness(): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${tyche.url}/readyz`);
  return { status: response.status, text: await response.text() };
}
