import { request } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createExplorer } from "../../src/client/index.ts";
import { QUICKNET } from "../../src/beacon/drand.ts";
import { createLateBeacons } from "../../src/requests/lateBeacons.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { findLateBeacon } from "../../src/store/lateBeacons.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { pathOf, QUICKNET_HASH, QUICKNET_ROUNDS } from "../support/drandRelay.ts";
import { runCli } from "../cli/runCli.ts";
import { API_KEY, FUNCTIONS_ONLY_KEY } from "./exampleService.ts";
import { OPERATOR_TOKEN, startHarness, type Harness } from "./harness.ts";

const SIGNATURE = toHex(QUICKNET_ROUNDS.get(1000n)!).slice(2);
const NEXT = toHex(QUICKNET_ROUNDS.get(1001n)!).slice(2);
/** As drand's relays answered it. */
const ANSWER = {
  round: 1000,
  randomness: "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
  signature: SIGNATURE,
};
const PATH = `/beacon${pathOf(QUICKNET, 1000n)}`;

let folder: string;
let store: Store;
let lateBeacons: ReturnType<typeof createLateBeacons>;
let http: Harness;
let closing: AbortController;
/** What waits for round 1000. */
let waiting: Promise<Uint8Array>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tyche-beacon-"));
  store = await openStore(createSqliteDialect(join(folder, "db")));
  lateBeacons = createLateBeacons({ db: store.db, findChain: () => QUICKNET, onError: () => {} });
  http = await startHarness({ more: { lateBeacons } });
  closing = new AbortController();
  const round = { round: 1000n, chainHash: QUICKNET_HASH };
  waiting = lateBeacons.receive(round, closing.signal);
  waiting.catch(() => {});
  await vi.waitUntil(async () => (await findLateBeacon(store.db, round)) === null);
});
afterEach(async () => {
  closing.abort();
  await waiting.catch(() => {});
  await store.close();
  rmSync(folder, { recursive: true });
});

const call = (method: string, path = PATH, body?: unknown) => http.call(method, path, { key: null, body });

test("without a key, another relay's answer settles the round, and the service is a relay for it from then on", async () => {
  const early = await call("GET");
  expect(early).toMatchObject({ status: 404, data: { code: "not_found" } });
  expect(early.headers.get("cache-control")).toBe("no-store");
  const put = await call("PUT", PATH, ANSWER);
  expect(put).toMatchObject({
    status: 200,
    data: { round: "1000", chainHash: QUICKNET_HASH, signature: `0x${SIGNATURE}` },
  });
  expect(toHex(await waiting)).toBe(`0x${SIGNATURE}`);
  for (const path of [PATH, PATH.replace("/beacon/", "/beacon/0x")])
    expect(JSON.parse((await call("GET", path)).text)).toEqual(ANSWER);
  // Again, also with what would be refused.
  expect(await call("PUT", PATH, { signature: NEXT })).toMatchObject({ status: 200, data: put.data });
});

test("the client hands a round in as a request names it", async () => {
  const explorer = createExplorer({ baseUrl: http.server.url, retries: 0 });
  const round = { round: "1000", chainHash: QUICKNET_HASH };
  await expect(explorer.handInRound(round, NEXT)).rejects.toMatchObject({ code: "invalid_parameter" });
  expect(await explorer.handInRound(round, `0x${SIGNATURE}`)).toEqual({
    ...round,
    signature: `0x${SIGNATURE}`,
  });
});

test("an address has ten signatures checked a minute; what is refused unchecked doesn't count", async () => {
  const put = async (path: string, body: unknown) => (await call("PUT", path, body)).status;
  for (let i = 0; i < 12; i += 1) {
    expect(await put(`/beacon${pathOf(QUICKNET, 1001n)}`, { signature: NEXT })).toBe(404);
    expect(await put(PATH, { signature: "00" })).toBe(400);
  }
  const forged = await Promise.all(Array.from({ length: 12 }, () => put(PATH, { signature: NEXT })));
  expect(forged.filter((status) => status === 400)).toHaveLength(10);
  expect(forged.filter((status) => status === 429)).toHaveLength(2);
  const refused = await call("PUT", PATH, { signature: SIGNATURE });
  expect(refused).toMatchObject({
    status: 429,
    data: {
      code: "rate_limited",
      err: expect.stringContaining("More than 10 calls in 60 seconds from this address"),
    },
  });
  expect(refused.headers.get("retry-after")).toMatch(/^[0-9]+$/);
  // It counts for nothing else.
  expect((await call("GET")).status).toBe(404);
});

/** No point of the curve, so its check takes a tenth of another's time. */
const NO_POINT = { signature: "00".repeat(48) };
/** Starts a service behind a proxy, where callers without a key use up what all addresses together have. */
async function startStarved() {
  const { call, server } = await startHarness({
    more: { lateBeacons, trustProxy: true },
  });
  const put = (subnet: number, key: string | null = null, body: object = NO_POINT) =>
    call("PUT", PATH, {
      key,
      body,
      headers: { "X-Forwarded-For": `2001:db8:0:${subnet.toString(16)}::1` },
    });
  for (let i = 0; i < 100; i += 1) expect((await put(i)).status).toBe(400);
  return { put, url: server.url };
}

test("all addresses together have a hundred checked a minute", async () => {
  const { put } = await startStarved();
  const refused = await put(100);
  expect(refused).toMatchObject({
    status: 429,
    data: {
      code: "rate_limited",
      err: expect.stringContaining("from all addresses together: send an API key"),
    },
  });
  expect(refused.headers.get("retry-after")).toMatch(/^[0-9]+$/);
});

test("a key has ten checked a minute wherever it is sent from, and however many are sent without one", async () => {
  const { put } = await startStarved();
  for (const key of [API_KEY, `Bearer ${FUNCTIONS_ONLY_KEY}`, OPERATOR_TOKEN]) {
    for (let i = 0; i < 10; i += 1) expect((await put(i, key)).status).toBe(400);
    expect(await put(200, key)).toMatchObject({
      status: 429,
      data: { err: expect.stringContaining("More than 10 calls in 60 seconds from this key") },
    });
  }
  for (const key of [`${API_KEY}x`, "", "x".repeat(5_000)]) {
    expect(await put(300, key)).toMatchObject({
      status: 429,
      data: { err: expect.stringContaining("from all addresses together") },
    });
  }
});

test("the client and tyche beacon send the key that they are given", async () => {
  const { url } = await startStarved();
  const round = { round: "1000", chainHash: QUICKNET_HASH };
  const handIn = (apiKey: string) =>
    createExplorer({ baseUrl: url, retries: 0, apiKey }).handInRound(round, NEXT);
  await expect(handIn("")).rejects.toMatchObject({ code: "rate_limited" });
  await expect(handIn(API_KEY)).rejects.toMatchObject({ code: "invalid_parameter" });
  expect(
    await runCli(["beacon", "1000", SIGNATURE, "--url", url], "", { TYCHE_API_KEY: API_KEY }),
  ).toMatchObject({ code: 0, stdout: expect.stringContaining("is taken") });
  expect(toHex(await waiting)).toBe(`0x${SIGNATURE}`);
});

test.each([
  ["a hash that is too short", PATH.replace("/52", "/"), "/chainHash"],
  ["a hash that is no hex", PATH.replace("/52", "/5g"), "/chainHash"],
  ["round 0", PATH.replace("1000", "0"), "/round"],
  ["a negative round", PATH.replace("1000", "-1"), "/round"],
  ["the latest round", PATH.replace("1000", "latest"), "/round"],
  ["round 2^64", PATH.replace("1000", "18446744073709551616"), "/round"],
  ["round 10^30", PATH.replace("1000", `1${"0".repeat(30)}`), "/round"],
])("refuses %s", async (_what, path, member) => {
  for (const method of ["GET", "PUT"])
    expect(await call(method, path, method === "PUT" ? ANSWER : undefined)).toMatchObject({
      status: 400,
      data: { code: "invalid_parameter", details: [{ path: member }] },
    });
});

test("a round that is far in the future is none that anything waits for", async () => {
  const path = PATH.replace("1000", "18446744073709551615");
  expect(await call("PUT", path, ANSWER)).toMatchObject({ status: 404, data: { code: "not_found" } });
});

test.each([
  ["nothing", "", "malformed_json"],
  ["no JSON", "{", "malformed_json"],
  ["null", "null", "invalid_parameter"],
  ["an array", "[]", "invalid_parameter"],
  ["no signature", "{}", "invalid_parameter"],
  ["a number", '{"signature":1}', "invalid_parameter"],
  ["more than 4 kB", `"${"x".repeat(4_095)}"`, "body_too_large"],
])("refuses a body with %s", async (_what, body, code) => {
  expect((await call("PUT", PATH, body)).data).toMatchObject({ code });
});

test("refuses a body of 1 GB before it comes, and one that doesn't say its length after 4 kB", async () => {
  const put = (headers: Readonly<Record<string, string | number>>, body: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(http.server.url + PATH, { method: "PUT", headers }, (response) => {
        resolve(response.statusCode!);
        sent.destroy();
      });
      sent.on("error", reject);
      sent.write(body);
    });
  expect(await put({ "content-length": 1_000_000_000 }, " ")).toBe(413);
  expect(await put({ "transfer-encoding": "chunked" }, " ".repeat(5_000))).toBe(413);
});

test("other methods say which are allowed", async () => {
  const answer = await call("POST", PATH, ANSWER);
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS, PUT");
});
