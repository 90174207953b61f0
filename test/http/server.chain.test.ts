import { connect } from "node:net";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { API_KEY, PRESETS as PRESET_VIEWS } from "./exampleService.ts";
import { PATIENT, startHarness } from "./harness.ts";

const PRESETS = "/api/vrfv2/presets";
const head = (extra: string) =>
  `POST ${PRESETS} HTTP/1.1\r\nHost: x\r\nAuthorization: ${API_KEY}\r\nContent-Type: application/json\r\n${extra}\r\n`;

test("security headers on every answer, no trace of the software", async () => {
  const { call } = await startHarness();
  for (const path of ["/api/networks", "/healthz", "/docs", "/nowhere", "/api/nowhere"]) {
    const { headers } = await call("GET", path);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(headers.get("X-Powered-By")).toBeNull();
    expect(headers.get("Server")).toBeNull();
    expect(headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  }
  expect((await call("GET", "/api/networks")).headers.get("Cache-Control")).toBe("no-store");
});

test("a request id of the caller's is kept when it is harmless", async () => {
  const { call } = await startHarness();
  const kept = await call("GET", "/healthz", { headers: { "X-Request-Id": "order-17.b" } });
  expect(kept.headers.get("X-Request-Id")).toBe("order-17.b");
  const replaced = await call("GET", "/healthz", { headers: { "X-Request-Id": "a b" } });
  expect(replaced.headers.get("X-Request-Id")).not.toBe("a b");
});

test("pages of any origin may call the API with a key, without credentials", async () => {
  const { call } = await startHarness();
  const preflight = await call("OPTIONS", PRESETS, {
    key: null,
    headers: { Origin: "https://example.org", "Access-Control-Request-Method": "POST" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(preflight.headers.get("Access-Control-Allow-Methods")).toContain("POST");
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toContain("Idempotency-Key");
  expect(preflight.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  const refused = await call("POST", PRESETS, { key: null });
  expect(refused.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer realm="tyche"');
});

test("HEAD answers as GET does, without a body", async () => {
  const { call } = await startHarness();
  const reply = await call("HEAD", "/api/networks");
  expect([reply.status, reply.text]).toEqual([200, ""]);
  expect(Number(reply.headers.get("Content-Length"))).toBeGreaterThan(100);
  expect((await call("HEAD", PRESETS)).headers.get("Allow")).toBe("OPTIONS, POST");
});

test("a chunked body is read like any other, and limited like any other", async () => {
  const { raw } = await startHarness({ limits: { maxBodyBytes: 100 } });
  const chunked = (body: string) =>
    `${head("Transfer-Encoding: chunked\r\nConnection: close\r\n")}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  expect(await raw(chunked('{"preset":"coinflip"}'))).toContain("HTTP/1.1 200");
  expect(await raw(chunked(" ".repeat(101)))).toContain('"code":"body_too_large"');
});

test("Expect: 100-continue is served, anything else is 417 in the envelope", async () => {
  const { raw } = await startHarness();
  const continued = await raw(
    `${head("Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n")}{}`,
  );
  expect(continued).toMatch(/^HTTP\/1\.1 100 Continue/);
  expect(continued).toContain("HTTP/1.1 200");
  expect(await raw(head("Expect: coffee\r\nContent-Length: 0\r\n"))).toContain('"code":"expectation_failed"');
});

test.each([
  ["a body that is too large", head("Expect: 100-continue\r\nContent-Length: 300000\r\n"), "413"],
  [
    "a key that isn't known",
    head("Expect: 100-continue\r\nContent-Length: 2\r\n").replace(API_KEY, "x"),
    "401",
  ],
  ["an encoding", head("Expect: 100-continue\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n"), "415"],
  ["a path without a page", "GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", "404"],
])("%s is refused without 100, and the connection ends", async (_what, sent, status) => {
  const { raw } = await startHarness();
  const answer = await raw(sent);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toContain("Connection: close");
});

test("HTTP/1.0 gets no 100", async () => {
  const { raw } = await startHarness();
  const sent = head("Expect: 100-continue\r\nContent-Length: 2\r\n").replace("HTTP/1.1", "HTTP/1.0");
  expect(await raw(`${sent}{}`)).toMatch(/^HTTP\/1\.1 200/);
});

test.each([
  ["no HTTP at all", "hello\r\n\r\n", 400, "malformed_http"],
  ["two lengths that differ", head("Content-Length: 2\r\nContent-Length: 3\r\n"), 400, "malformed_http"],
  ["a length and chunks", head("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"), 400, "malformed_http"],
  ["a length that is no number", head("Content-Length: x\r\n"), 400, "malformed_http"],
  [
    "more body than the length says",
    `${head("Content-Length: 2\r\n")}{}garbage\r\n\r\n`,
    400,
    "malformed_http",
  ],
  ["headers past the limit", head(`X-Long: ${"x".repeat(20_000)}\r\n`), 431, "headers_too_large"],
])("%s", async (_what, bytes, status, code) => {
  const { raw } = await startHarness();
  const answer = await raw(bytes);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain(`"code":"${code}"`);
});

test.each(["GET /api/networks", "GET /explorer", "GET /healthz"])(
  "%s with two Host lines is 400",
  async (line) => {
    const { raw } = await startHarness();
    for (const second of ["a", "evil.example"])
      expect(await raw(`${line} HTTP/1.1\r\nHost: a\r\nhOST: ${second}\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 400 [^]*"code":"malformed_http"/,
      );
  },
);

test.each([
  "127.0.0.1:3000@evil.example",
  "127.0.0.1@evil.example",
  "[::1",
  "[::1%25eth0]:3000",
  "localhost:99999",
  "a b",
  "a/b",
  "a,b",
])("the Host %s is 400, and so is an X-Forwarded-Host of a proxy", async (host) => {
  const { raw } = await startHarness({ more: { trustProxy: true } });
  for (const lines of [`Host: ${host}`, `Host: a\r\nX-Forwarded-Host: ${host === "a,b" ? "a,b/c" : host}`])
    expect(await raw(`GET /healthz HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 [^]*"code":"malformed_http"/,
    );
});

test.each(["http://[", "http://:@/%zz", "http://a@b/x", "/\\\\Ôl@Y#", "/x#y", "javascript:1"])(
  "the target %s is 400, and no fault of ours",
  async (target) => {
    const { raw, logged } = await startHarness();
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 [^]*"code":"malformed_http"/,
    );
    expect(logged()).not.toContain('"internal"');
  },
);

test.each(["http://a/healthz", "http://[::1]:3000/healthz", "https://a/healthz?x=y"])(
  "the target %s is one that a forwarder may send",
  async (target) => {
    const { raw } = await startHarness();
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).toContain(
      "HTTP/1.1 200",
    );
  },
);

test("thousands of violations are counted, not listed", async () => {
  const { call } = await startHarness();
  const args = Array.from({ length: 60_000 }, () => 1);
  const reply = await call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source: "x", args },
  });
  expect(reply.status).toBe(400);
  const details = reply.data["details"] as { path: string; message: string }[];
  expect(details).toHaveLength(101);
  expect(details.at(-1)).toEqual({ path: "", message: "and 59900 more" });
  expect(reply.text.length).toBeLessThan(10_000);
});

test("thousands of parameters that no preset has are not all checked", async () => {
  const { call } = await startHarness();
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`netwrk${i}`, 1]));
  const reply = await call("POST", "/api/vrfv2/presets", { body: { preset: "none", ...unknown } });
  expect(reply.status).toBe(400);
  const details = reply.data["details"] as { path: string; message: string }[];
  expect(details.slice(-2)).toEqual([
    { path: "/netwrk99", message: expect.stringMatching(/^is not a parameter of any preset served here/) },
    { path: "", message: "and 9900 more not checked" },
  ]);
});

test("a caller that sends its headers too slowly is cut off", async () => {
  const { raw } = await startHarness({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 100 } });
  expect(await raw("POST /api/vrfv2/presets HTTP/1.1\r\nHost: x\r\n")).toContain('"code":"request_timeout"');
});

test.each([
  ["that sends its headers too slowly", "POST /api/vrfv2/presets HTTP/1.1\r\nHost: x\r\n"],
  ["that sends its body too slowly", head("Content-Length: 100\r\n")],
  ["that sends something else than HTTP", "\0\r\n\r\n"],
])("a caller %s, and never closes, holds no connection", async (_what, sent) => {
  const limits = { maxConnections: 1, headersTimeoutMs: 100, requestTimeoutMs: 100 };
  const { call, server } = await startHarness({ limits });
  // Half open: it reads the answer and the server's FIN, but doesn't close its own side.
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.resume().write(sent);
  await once(socket, "end");
  const status = (): Promise<number> =>
    call("GET", "/healthz").then(
      (reply) => reply.status,
      () => 0,
    );
  await expect.poll(status, PATIENT).toBe(200);
  socket.destroy();
});

test("a body shorter than its length is never acted upon", async () => {
  const { server, service, logged } = await startHarness();
  const socket = connect(server.port, "127.0.0.1");
  socket.end(`${head("Content-Length: 100\r\n")}{}`);
  socket.resume();
  await once(socket, "close");
  await expect.poll(() => logged(), PATIENT).toContain("/api/vrfv2/presets");
  expect(service.submitted).toEqual([]);
});

test("closing ends idle connections, lets a call finish and refuses new ones", async () => {
  const { call, service, server } = await startHarness({ limits: { closeGraceMs: 60_000 } });
  service.behave("pend");
  await call("GET", "/healthz");
  const pending = call("POST", PRESETS);
  await expect.poll(() => service.submitted.length, PATIENT).toBe(1);
  const started = performance.now();
  const closed = server.close();
  service.advance("req_00000000000000000000000001", "fulfilled");
  expect((await pending).status).toBe(200);
  await closed;
  // Well below the grace period: nothing waited for it.
  expect(performance.now() - started).toBeLessThan(30_000);
  await expect(call("GET", "/healthz")).rejects.toThrow("fetch failed");
});

test("until it has closed, it closes no idle connection, and each response is its connection's last", async () => {
  const { call, service, server } = await startHarness({ limits: { closeGraceMs: 60_000 } });
  service.behave("pend");
  const get = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";
  const idle = connect(server.port, "127.0.0.1");
  idle.write(get);
  await once(idle, "readable");
  const pending = call("POST", PRESETS);
  await expect.poll(() => service.submitted.length, PATIENT).toBe(1);
  const drained = server.drain();
  const { status, headers } = await call("GET", "/readyz", { key: null });
  expect([status, headers.get("Connection")]).toEqual([503, "close"]);
  // By now the connection of that call is closed; an idle one would be, too.
  await call("GET", "/readyz", { key: null });
  idle.write(get);
  expect((await text(idle)).match(/HTTP\/1\.1 \d+|Connection: \S+/g)).toEqual([
    "HTTP/1.1 200",
    "Connection: keep-alive",
    "HTTP/1.1 503",
    "Connection: close",
  ]);
  service.advance("req_00000000000000000000000001", "fulfilled");
  expect((await pending).headers.get("Connection")).toBe("close");
  await drained;
});

test("a call that outlasts the grace time is told where its result will be", async () => {
  const { call, service, server } = await startHarness({ limits: { closeGraceMs: 50 } });
  service.behave("pend");
  const pending = call("POST", PRESETS);
  await expect.poll(() => service.submitted.length, PATIENT).toBe(1);
  await server.close();
  expect((await pending).data).toMatchObject({ code: "still_pending" });
});

test("a port in use rejects with Node's own error", async () => {
  const first = await startHarness();
  await expect(startHarness({ more: { port: first.server.port } })).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
});

test("health, readiness and metrics need no key", async () => {
  const { call } = await startHarness();
  expect((await call("GET", "/healthz", { key: null })).text).toBe('{"status":"ok"}');
  const ready = await call("GET", "/readyz", { key: null });
  expect(JSON.parse(ready.text)).toEqual({
    ready: true,
    sandbox: { ready: true, layers: [] },
    networks: { sepolia: { ready: true, blockNumber: 7 } },
  });
  await call("POST", PRESETS);
  await call("POST", "/api/nowhere");
  const metrics = await call("GET", "/metrics", { key: null });
  expect(metrics.text).toContain(
    'tyche_http_request_duration_seconds_count{method="POST",route="/api/vrfv2/presets",status="200"} 1',
  );
  expect(metrics.text).toContain('route="unmatched",status="404"');
});

test("not ready is 503 with what each network says", async () => {
  const { call, service } = await startHarness();
  service.readiness = async () => ({
    ready: false,
    sandbox: { ready: true, layers: [] },
    networks: { fuji: { ready: false, why: "starting" } },
  });
  const reply = await call("GET", "/readyz");
  expect(reply.status).toBe(503);
  expect(JSON.parse(reply.text)).toMatchObject({ networks: { fuji: { why: "starting" } } });
});

test("the log tells id, route, status and time, and never the key", async () => {
  const { call, logged } = await startHarness();
  await call("POST", `${PRESETS}?apiKey=${API_KEY}`, {
    body: { secrets: { token: "hunter2" }, preset: "range" },
    headers: { "X-Request-Id": "id-1", "Idempotency-Key": "idem-secret" },
  });
  await call("GET", `/api/${API_KEY}`, { key: `Bearer ${API_KEY}` });
  await expect.poll(() => logged().split("\n").length, PATIENT).toBeGreaterThan(2);
  const [line] = logged()
    .split("\n")
    .map((text) => JSON.parse(text || "{}") as Record<string, unknown>);
  expect(line).toMatchObject({
    requestId: "id-1",
    method: "POST",
    route: PRESETS,
    status: 400,
    key: "key_1",
  });
  expect(line?.["ms"]).toBeTypeOf("number");
  for (const secret of [API_KEY, "hunter2", "idem-secret"]) expect(logged()).not.toContain(secret);
});

test("a preset that comes or goes is in the API at once", async () => {
  const { call, service } = await startHarness();
  const [coinflip] = PRESET_VIEWS;
  service.setPresets([...PRESET_VIEWS, { ...coinflip!, name: "roulette" }]);
  const openapi = await call("GET", "/openapi.json", { key: null });
  expect(openapi.text).toContain('"roulette"');
  const { text } = await call("GET", "/llms.txt", { key: null });
  expect(text).toContain("- `roulette`: ");
  expect(text).toContain("- `GET /api/requests/{id}`: ");
  expect(text).not.toContain("`POST /api/dapps`");
  expect((await call("POST", `${PRESETS}?preset=roulette`)).status).toBe(200);
  service.setPresets([]);
  const refused = await call("POST", PRESETS);
  expect(refused.status).toBe(400);
});
