import { expect, test } from "vitest";
import type { OperatorPart } from "../../src/http/operatorPart.ts";
import { createOperatorAccess } from "../../src/people/access.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import { API_KEY, DAPP } from "./exampleService.ts";
import { PATIENT, startHarness, type Harness } from "./harness.ts";

const PRESETS = "/api/vrfv2/presets";

/** Reads an event stream to its end, or to `until` events. */
async function readEvents(response: Response, until = Number.POSITIVE_INFINITY) {
  const events: { id?: string; event?: string; data?: unknown }[] = [];
  let text = "";
  const decoder = new TextDecoder();
  if (response.body === null) return { events, text };
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    events.length = 0;
    for (const block of text.split("\n\n").slice(0, -1)) {
      const fields = Object.fromEntries(
        block
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      if (fields["event"] !== undefined) events.push({ ...fields, data: JSON.parse(fields["data"] ?? "") });
    }
    if (events.length >= until) break;
  }
  return { events, text };
}

function stream(harness: Harness, path: string, headers: Readonly<Record<string, string>> = {}) {
  return fetch(harness.server.url + path, {
    method: path.startsWith("/api/requests") ? "GET" : "POST",
    headers: { Authorization: API_KEY, Accept: "text/event-stream", ...headers },
  });
}

test("respond-async answers 202 with the request's address, which has the result later", async () => {
  const { call, service } = await startHarness();
  service.behave("pend");
  const reply = await call("POST", PRESETS, { headers: { Prefer: "respond-async" } });
  expect(reply.status).toBe(202);
  const location = reply.headers.get("Location") ?? "";
  expect(location).toMatch(/^\/api\/requests\/req_[0-9a-z]{26}$/);
  expect(reply.headers.get("Preference-Applied")).toBe("respond-async");
  expect(reply.headers.get("Tyche-Request-Id")).toBe(location.split("/").at(-1));
  expect(reply.data).toMatchObject({ state: "received", outcome: null });
  expect((await call("GET", location)).data).toMatchObject({ state: "received" });
  service.advance(String(reply.data["id"]), "fulfilled");
  expect((await call("GET", location)).data).toMatchObject({
    state: "fulfilled",
    outcome: { success: true },
  });
});

test("past the wait limit 504 names the request's own address; the request goes on", async () => {
  const { call, service } = await startHarness({ limits: { waitTimeoutMs: 30 } });
  service.behave("pend");
  const reply = await call("POST", PRESETS);
  expect(reply.status).toBe(504);
  expect(reply.data).toMatchObject({ success: false, code: "still_pending" });
  expect(reply.headers.get("Retry-After")).toBe("5");
  const { pathname } = new URL(String(reply.data["statusUrl"]));
  service.advance(String(reply.data["id"]), "fulfilled");
  expect((await call("GET", pathname)).data).toMatchObject({ state: "fulfilled" });
});

test("wait=n bounds the wait, and with respond-async ends it in 202", async () => {
  const { call, service } = await startHarness();
  service.behave("pend");
  const pending = await call("POST", PRESETS, { headers: { Prefer: "wait=0" } });
  expect(pending.status).toBe(504);
  const started = performance.now();
  const accepted = await call("POST", PRESETS, { headers: { Prefer: "respond-async, wait=1" } });
  expect(accepted.status).toBe(202);
  expect(performance.now() - started).toBeGreaterThan(900);
});

test.each(["wait=99999999999999999999", 'Wait = "0" ; x=1', "other=wait, wait=0, wait=abc"])(
  "Prefer: %s is taken, and a longer wait than the limit ends at the limit",
  async (prefer) => {
    const { call, service } = await startHarness({ limits: { waitTimeoutMs: 30 } });
    service.behave("pend");
    const reply = await call("POST", PRESETS, { headers: { Prefer: prefer } });
    expect(reply.data).toMatchObject({ code: "still_pending" });
  },
);

test("a parameter of respond-async changes nothing", async () => {
  const { call, service } = await startHarness();
  service.behave("pend");
  const reply = await call("POST", PRESETS, { headers: { Prefer: "respond-async; x=1" } });
  expect(reply.status).toBe(202);
});

test("the same Idempotency-Key gets the same request, another body 409", async () => {
  const { call, service } = await startHarness();
  const headers = { "Idempotency-Key": "order-1" };
  const first = await call("POST", PRESETS, { headers });
  const second = await call("POST", PRESETS, { headers });
  expect(second.text).toBe(first.text);
  expect(second.headers.get("Tyche-Request-Id")).toBe(first.headers.get("Tyche-Request-Id"));
  expect(service.submitted).toHaveLength(1);
  const other = await call("POST", `${PRESETS}?network=fuji`, { headers });
  expect([other.status, other.data["code"]]).toEqual([409, "idempotency_conflict"]);
});

test("an event stream tells every state and ends with the result", async () => {
  const harness = await startHarness();
  harness.service.behave("pend");
  const response = await stream(harness, PRESETS);
  expect(response.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
  const id = response.headers.get("Tyche-Request-Id") ?? "";
  setTimeout(() => {
    for (const state of ["submitted", "randomness", "fulfilled"] as const) {
      harness.service.advance(id, state);
    }
  }, 20);
  const { events } = await readEvents(response);
  expect(events.map(({ id, event }) => [id, event])).toEqual([
    ["1", "state"],
    ["2", "state"],
    ["3", "state"],
    ["4", "state"],
    ["end", "result"],
  ]);
  expect(events[1]?.data).toMatchObject({
    data: { id, seq: 2, state: "submitted", url: expect.stringContaining("/tx/0x") as string },
  });
  expect(events[4]?.data).toMatchObject({ data: { success: true, parsedResult: "1" } });
});

test("Last-Event-ID resumes after that state; after the result there is nothing more", async () => {
  const harness = await startHarness();
  const { data } = await harness.call("POST", PRESETS, { headers: { Prefer: "respond-async" } });
  const id = String(data["id"]);
  const resumed = await readEvents(await stream(harness, `/api/requests/${id}`, { "Last-Event-ID": "1" }));
  expect(resumed.events.map((event) => event.id)).toEqual(["2", "end"]);
  const ended = await stream(harness, `/api/requests/${id}`, { "Last-Event-ID": "end" });
  expect(ended.status).toBe(204);
});

test("a stream keeps itself alive with comments, and ends when the server closes", async () => {
  const harness = await startHarness({ limits: { heartbeatMs: 10 } });
  harness.service.behave("pend");
  const response = await stream(harness, PRESETS);
  setTimeout(() => void harness.server.close(), 60);
  const { text, events } = await readEvents(response);
  expect(text).toContain(": waiting\n\n");
  expect(events.map(({ id }) => id)).toEqual(["1"]);
});

test.each(["API key", "session"])("a stream ends without its result once its %s has ended", async (what) => {
  const store = await openStore(createSqliteDialect(":memory:"));
  const access = await createOperatorAccess({
    operatorToken: "operator-token-of-these-tests-0123456789",
    store,
  });
  const secret = (await access.signInOnce(access.signInCode))!;
  const token = (await access.findToken(secret, access.pageKeyOf(secret)))!;
  const operator = { access, dapps: { get: async () => DAPP } } as unknown as OperatorPart;
  const harness = await startHarness({ limits: { heartbeatMs: 5 }, more: { operator } });
  harness.service.behave("pend");
  const credential = what === "session" ? token : API_KEY;
  const response = await stream(harness, PRESETS, { Authorization: credential, "Tyche-Dapp": DAPP.id });
  const id = response.headers.get("Tyche-Request-Id")!;
  if (what === "session") await access.signOut(secret);
  else harness.service.revoke(API_KEY);
  expect((await readEvents(response)).events.filter(({ event }) => event !== "state")).toEqual([]);
  harness.service.advance(id, "fulfilled");
  await store.close();
});

test("a request that fails ends its stream with the error that the call would have had", async () => {
  const harness = await startHarness();
  harness.service.behave({ fails: { code: "chain_unavailable", message: "sepolia does not answer" } });
  const { events } = await readEvents(await stream(harness, PRESETS));
  expect(events.at(-1)).toMatchObject({
    event: "failure",
    data: { data: { success: false, code: "chain_unavailable", err: "sepolia does not answer" } },
  });
});

test("a stream that a bad request asks for is an ordinary 400", async () => {
  const harness = await startHarness();
  const response = await stream(harness, `${PRESETS}?network=x`);
  expect(response.status).toBe(400);
  expect(response.headers.get("Content-Type")).toContain("application/json");
});

test("a caller that leaves loses nothing, and its place is free again", async () => {
  const { call, service, logged } = await startHarness({ limits: { maxConcurrent: 1 } });
  service.behave("pend");
  const left = new AbortController();
  const reply = call("POST", PRESETS, { signal: left.signal });
  await expect.poll(() => service.submitted.length, PATIENT).toBe(1);
  left.abort();
  await expect(reply).rejects.toThrow("aborted");
  await expect.poll(() => logged(), PATIENT).toContain('"status":499');
  const list = await call("GET", "/api/requests");
  expect(list.status).toBe(200);
  expect(list.data["items"]).toHaveLength(1);
});
