import { expect, test } from "vitest";
import { createCallCounter, createSharedCallCounter } from "../../src/lib/rateLimit.ts";
import { API_KEY, FUNCTIONS_ONLY_KEY } from "./exampleService.ts";
import { PATIENT, startHarness } from "./harness.ts";
import { TycheError } from "../../src/lib/errors.ts";
import { withOwnErrors } from "../../src/requests/accept/sandboxRuns.ts";
import { createSandboxPool } from "../../sandbox/index.ts";

const PRESETS = "/api/vrfv2/presets";

test("200 concurrent calls of one key all succeed, each its own request", async () => {
  const { call, service } = await startHarness();
  const replies = await Promise.all(Array.from({ length: 200 }, () => call("POST", PRESETS)));
  expect(replies.every(({ status }) => status === 200)).toBe(true);
  expect(service.submitted).toHaveLength(200);
});

test("every answer says what is left of the rate", async () => {
  const { call } = await startHarness({ limits: { rateLimit: 5, rateWindowSeconds: 3_000 } });
  const first = await call("GET", "/api/networks");
  expect(first.headers.get("RateLimit-Policy")).toBe('"key";q=5;w=3000');
  expect(first.headers.get("RateLimit")).toBe('"key";r=4;t=3000');
  const second = await call("POST", `${PRESETS}?network=x`);
  expect(second.headers.get("RateLimit")).toMatch(/^"key";r=3;/);
});

test("past the rate 429 with Retry-After, for that key alone", async () => {
  const { call } = await startHarness({ limits: { rateLimit: 2, rateWindowSeconds: 3_000 } });
  await call("GET", "/api/networks");
  await call("GET", "/api/networks");
  const refused = await call("POST", PRESETS);
  expect([refused.status, refused.data["code"]]).toEqual([429, "rate_limited"]);
  expect(refused.data["err"]).toBe("More than 2 calls in 3000 seconds from this key");
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(2_500);
  expect(refused.headers.get("RateLimit")).toMatch(/^"key";r=0;/);
  expect((await call("GET", "/api/networks", { key: FUNCTIONS_ONLY_KEY })).status).toBe(200);
});

test("past 200 gifts of the faucet 429, for that dapp and network alone", async () => {
  const { call } = await startHarness();
  const ask = (key: string, network: string) =>
    call("POST", "/api/faucet", { key, body: { network, address: `0x${"00".repeat(19)}11` } });
  const given = await Promise.all(Array.from({ length: 200 }, () => ask(API_KEY, "sepolia")));
  expect(new Set(given.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await ask(API_KEY, "sepolia");
  expect([refused.status, refused.data["code"]]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(3_000);
  expect((await ask(FUNCTIONS_ONLY_KEY, "sepolia")).status).toBe(200);
  expect((await ask(API_KEY, "fuji")).status).toBe(200);
});

test("past 60 lists of requests with a text 429, and those without one go on", async () => {
  const { call } = await startHarness({ limits: { anonymousRateLimit: 1_000 } });
  const list = (query: string) => call("GET", `/api/explorer/requests${query}`);
  const listed = await Promise.all(Array.from({ length: 60 }, () => list("?text=zzz")));
  expect(new Set(listed.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await list("?text=zzz");
  expect([refused.status, refused.data["code"]]).toEqual([429, "rate_limited"]);
  expect((await list("")).status).toBe(200);
});

test("past the calls under way 429; the place comes back with the answer", async () => {
  const { call, service } = await startHarness({ limits: { maxConcurrent: 2 } });
  service.behave("pend");
  const [first, second] = [call("POST", PRESETS), call("POST", PRESETS)];
  await expect.poll(() => service.submitted.length, PATIENT).toBe(2);
  const refused = await call("POST", PRESETS);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("Retry-After")).toBe("1");
  for (const request of [1, 2]) service.advance(`req_${String(request).padStart(26, "0")}`, "fulfilled");
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
  await expect.poll(async () => (await call("GET", "/api/networks")).status, PATIENT).toBe(200);
});

test("calls without a valid key are limited by address, and keys are not touched by it", async () => {
  const { call } = await startHarness({ limits: { anonymousRateLimit: 3 } });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    statuses.push((await call("GET", "/api/networks", { key: "wrong" })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect((await call("GET", "/api/networks")).status).toBe(200);
});

test("behind a proxy the address that it saw counts, whatever a caller writes before it", async () => {
  const { call } = await startHarness({ limits: { anonymousRateLimit: 2 }, more: { trustProxy: true } });
  const statusFrom = async (addresses: string): Promise<number> => {
    const headers = { "X-Forwarded-For": addresses };
    return (await call("GET", "/api/networks", { key: "wrong", headers })).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) statuses.push(await statusFrom(`10.0.0.${count}, 192.0.2.1`));
  expect(statuses).toEqual([401, 401, 429]);
  expect(await statusFrom("192.0.2.1, 192.0.2.2")).toBe(401);
});

test("what needs no key is limited by address, apart from the API", async () => {
  const { call } = await startHarness({ limits: { pageRateLimit: 2 } });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await call("GET", "/metrics")).status);
  expect(statuses).toEqual([200, 200, 429]);
  for (const path of ["/healthz", "/readyz", "/readyz", "/readyz"])
    expect((await call("GET", path)).status).toBe(200);
  expect((await call("GET", "/api/networks")).status).toBe(200);
});

test("servers with one counter share the quota and the calls under way of a key", async () => {
  const limits = { rateLimit: 3, maxConcurrent: 1 };
  const more = { counter: createCallCounter() };
  const [first, second] = [await startHarness({ limits, more }), await startHarness({ limits, more })];
  first.service.behave("pend");
  const waiting = first.call("POST", PRESETS);
  await expect.poll(() => first.service.submitted.length, PATIENT).toBe(1);
  const busy = await second.call("POST", PRESETS);
  expect([busy.status, busy.headers.get("RateLimit")]).toEqual([429, expect.stringMatching(/^"key";r=1;/)]);
  expect(busy.data["err"]).toContain("1 calls in progress");
  first.service.advance(`req_${"1".padStart(26, "0")}`, "fulfilled");
  expect((await waiting).status).toBe(200);
});

test("where the counter of all replicas doesn't answer, calls with a key are 503, and others counted here", async () => {
  const gone = () =>
    Promise.reject(
      new TycheError("gone", { code: "overloaded", blame: "us", details: { retryAfterMs: 1000 } }),
    );
  const { call } = await startHarness({
    limits: { pageRateLimit: 1, anonymousRateLimit: 1 },
    more: { counter: createSharedCallCounter({ take: gone, begin: gone }) },
  });
  const refused = await call("GET", "/api/networks");
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect((await call("GET", "/api/networks", { key: "wrong" })).status).toBe(429);
});

test("a caller who leaves while the call is counted leaves nothing under way", async () => {
  const counter = createCallCounter();
  const { promise: asked, resolve: tellAsked } = Promise.withResolvers<void>();
  const { promise: left, resolve: tellLeft } = Promise.withResolvers<void>();
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<void>();
  const { call } = await startHarness({
    more: {
      counter: {
        take: (one) => counter.take(one),
        async begin(one, places) {
          tellAsked();
          await left;
          return { ...(await counter.begin(one, places)), end: tellEnded };
        },
      },
    },
  });
  const leaving = new AbortController();
  const reply = call("GET", "/api/networks", { signal: leaving.signal }).catch(() => "left");
  await asked;
  leaving.abort();
  expect(await reply).toBe("left");
  tellLeft();
  await ended;
});

test("an overloaded service is 503 with Retry-After", async () => {
  const { call, service } = await startHarness();
  const details = { retryAfterMs: 2500 };
  service.behave({ throws: new TycheError("queue at 5000", { code: "overloaded", blame: "us", details }) });
  const reply = await call("POST", PRESETS);
  expect(reply.status).toBe(503);
  expect(reply.headers.get("Retry-After")).toBe("3");
  expect(reply.data).toEqual({
    success: false,
    err: "The service is at capacity, can't currently run sources or reach its database, or is shutting down.",
    code: "overloaded",
  });
});

test("a full sandbox is 503 too, without a word of the sandbox", async () => {
  const { call, service } = await startHarness();
  const pool = createSandboxPool({ concurrency: 1 });
  await pool.close();
  const refusal = await withOwnErrors(pool)
    .run({ source: "return 1" })
    .catch((error: unknown) => error);
  service.behave({ throws: refusal });
  const reply = await call("POST", "/api/oracleFunctions/simulate", { body: { source: "return 1" } });
  expect([reply.status, reply.data["code"]]).toEqual([503, "overloaded"]);
  expect(reply.headers.get("Retry-After")).toBe("1");
  expect(reply.text).not.toContain("sandbox");
});
