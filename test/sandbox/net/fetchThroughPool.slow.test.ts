import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxNetwork, createSandboxPool } from "../../../sandbox/index.ts";
import type { RunLimits, SandboxPool } from "../../../sandbox/index.ts";
import { countSockets, echo, startServer } from "./servers.ts";

let abandoned = 0;
const server = await startServer((request, response) => {
  const path = new URL(request.url ?? "/", "http://server").pathname;
  if (path === "/slow") return response.on("close", () => (abandoned += 1));
  if (path === "/missing") return response.writeHead(404).end("nothing here");
  if (path === "/bytes") return response.end(Buffer.from([0, 255, 1]));
  if (path === "/cookie") return response.setHeader("set-cookie", "id=1").end();
  if (path === "/inside") return response.writeHead(302, { location: "http://10.0.0.1/" }).end();
  return void echo(request, response);
});

let pool: SandboxPool;
const network = createSandboxNetwork({ allowHosts: [server.host] });
beforeAll(async () => {
  pool = createSandboxPool({ concurrency: 1, hostCalls: network.hostCalls });
  await pool.ready();
});
afterAll(async () => {
  network.close();
  await pool.close();
});

const run = (source: string, limits: Partial<RunLimits> = {}) =>
  pool.run({ source, args: [server.origin], limits: { maxResponseBytes: 4_096, ...limits } });

/** Returns what a source returns as JSON, and the requests it made. */
async function valueOf(body: string, limits: Partial<RunLimits> = {}) {
  const result = await run(
    `const value = await (async () => { ${body} })(); return Functions.encodeString(JSON.stringify(value));`,
    limits,
  );
  if (!result.ok) throw new Error(result.error.message);
  return {
    value: JSON.parse(Buffer.from(result.bytes).toString()) as unknown,
    requests: result.httpRequests,
  };
}

/** Children that have ended so far; one that a busy machine held up is replaced, too, and counts as none. */
const deaths = () => ({ ...pool.stats().killed, killed: 0 });

test("fetch gives status, headers, body and the final URL, and the run counts it", async () => {
  const body =
    "const r = await fetch(args[0] + '/x?a=1'); return [r.status, r.ok, r.headers.get('content-type'), (await r.json()).url];";
  expect(await valueOf(body)).toEqual({ value: [200, true, "application/json", "/x?a=1"], requests: 1 });
});

test("method, headers and body arrive", async () => {
  const body =
    "const r = await fetch(args[0], { method: 'POST', headers: { 'x-a': 'é', host: 'evil' }, body: 'payload' }); return r.json();";
  const { value } = await valueOf(body);
  const { method, body: sent, headers } = value as { method: string; body: string; headers: string[] };
  expect([method, sent]).toEqual(["POST", "payload"]);
  expect(headers).toEqual(expect.arrayContaining(["x-a", "é", server.host]));
  expect(headers).not.toContain("evil");
});

test("bytes stay bytes", async () => {
  const body = "return [...new Uint8Array(await (await fetch(args[0] + '/bytes')).arrayBuffer())];";
  expect((await valueOf(body)).value).toEqual([0, 255, 1]);
});

test("Functions.makeHttpRequest with parameters and data", async () => {
  const body =
    "const r = await Functions.makeHttpRequest({ url: args[0] + '/p', method: 'post', params: { q: 'a b' }, data: { d: 1 } }); return [r.error, r.status, r.data.url, r.data.body];";
  expect(await valueOf(body)).toEqual({ value: [false, 200, "/p?q=a+b", '{"d":1}'], requests: 1 });
});

test("makeHttpRequest never throws", async () => {
  const missing =
    "const r = await Functions.makeHttpRequest({ url: args[0] + '/missing' }); return [r.error, r.code, r.message];";
  expect((await valueOf(missing)).value).toEqual([true, "404", "Not Found"]);
  const refused =
    "const r = await Functions.makeHttpRequest({ url: 'http://169.254.169.254/' }); return [r.error, r.code, r.message];";
  expect((await valueOf(refused)).value).toEqual([true, "400", "Bad Request"]);
  const late =
    "const r = await Functions.makeHttpRequest({ url: args[0] + '/slow', timeout: 50 }); return [r.error, typeof r.message];";
  expect((await valueOf(late)).value).toEqual([true, "string"]);
});

test("five requests a run, at once or in turn; the sixth is answered with 429", async () => {
  const body =
    "const all = await Promise.all([1, 2, 3, 4, 5, 6].map(() => fetch(args[0]))); return Promise.all(all.map(async (r) => r.status === 200 ? 200 : [r.status, await r.text()]));";
  const { value, requests } = await valueOf(body);
  expect(value).toEqual([200, 200, 200, 200, 200, [429, '{"error":"Exceeded maximum of 5 HTTP queries"}']]);
  expect(requests).toBe(5);
});

test("the run's limits hold", async () => {
  const show = "const text = (r) => r.text();";
  const long = `${show} return text(await fetch(args[0] + '/' + 'x'.repeat(100)));`;
  expect((await valueOf(long, { maxHttpUrlLength: 50 })).value).toBe(
    '{"error":"Destination URL exceeds maximum length of 50"}',
  );
  const big = `${show} return text(await fetch(args[0], { method: 'POST', body: 'x'.repeat(11) }));`;
  expect((await valueOf(big, { maxHttpRequestBytes: 10 })).value).toBe(
    '{"error":"Request payload size exceeds 10 byte limit"}',
  );
  const answer = `${show} return text(await fetch(args[0]));`;
  expect((await valueOf(answer, { maxHttpResponseBytes: 10 })).value).toBe(
    '{"error":"Response payload size exceeds 10 byte limit"}',
  );
  const slow = `${show} return text(await fetch(args[0] + '/slow'));`;
  expect((await valueOf(slow, { maxHttpDurationMs: 60 })).value).toBe(
    '{"error":"HTTP query exceeded time limit of 60ms"}',
  );
});

test("inside hosts are answered with 400 and no socket, directly or by redirect", async () => {
  const sockets = countSockets();
  const direct =
    "const all = await Promise.all(['http://127.0.0.1/', 'http://[::1]/', 'http://2130706433/', 'http://localhost/', 'ftp://x/'].map((u) => fetch(u))); return Promise.all(all.map(async (r) => r.status + (await r.text())));";
  const answer = '400{"error":"Error during fetch request"}';
  expect((await valueOf(direct)).value).toEqual([answer, answer, answer, answer, answer]);
  expect(sockets.opened()).toBe(0);
  expect((await valueOf("return (await fetch(args[0] + '/inside')).status;")).value).toBe(400);
  sockets.restore();
  expect(sockets.opened()).toBe(1);
});

test("a failed run says why its request was refused", async () => {
  const result = await run(
    "const r = await fetch('http://10.0.0.1/'); if (!r.ok) throw new Error('no data');",
  );
  expect(result).toMatchObject({
    ok: false,
    error: {
      message: "no data",
      detail:
        "Refused: 10.0.0.1: private network. Only public hosts can be reached, and those the operator allows (TYCHE_ALLOW_HOSTS).",
    },
  });
});

test("an aborted fetch rejects and ends at the server; so does the run's end", async () => {
  const before = abandoned;
  const body =
    "const c = new AbortController(); setTimeout(() => c.abort(), 1000); return fetch(args[0] + '/slow', { signal: c.signal }).then(() => 'answered', (e) => e.name);";
  expect((await valueOf(body)).value).toBe("AbortError");
  await expect.poll(() => abandoned).toBe(before + 1);
  expect(
    await run(
      "fetch(args[0] + '/slow').catch(() => {}); await new Promise((r) => setTimeout(r, 1000)); return new Uint8Array(1)",
    ),
  ).toMatchObject({ ok: true });
  await expect.poll(() => abandoned).toBe(before + 2);
  expect(await run("await fetch(args[0] + '/slow')", { timeoutMs: 1_000 })).toMatchObject({
    error: { kind: "timeout" },
  });
  await expect.poll(() => abandoned).toBe(before + 3);
});

test("a run leaves nothing to the next, no cookie and no connection", async () => {
  const before = server.connections();
  await valueOf("await fetch(args[0] + '/cookie'); return 0;");
  const { value } = await valueOf("return (await fetch(args[0])).json();");
  expect((value as { headers: string[] }).headers).not.toContain("cookie");
  expect(server.connections() - before).toBe(2);
});

test("what a source sends too much of is answered by the limit it exceeds, and its child stays", async () => {
  const before = deaths();
  const source = `
    const post = (url, init) => fetch(url, init).then((r) => r.status);
    const statuses = [
      await post(URL + "/" + "x".repeat(3e5)),
      await post(URL, { method: "POST", body: "x".repeat(5e6) }),
      await post(URL, { headers: { "x-a": "y".repeat(3e5) } }),
    ];
    const more = await Promise.all(Array.from({ length: 200 }, () => post(URL, { method: "POST", body: "x".repeat(1e5) })));
    return Functions.encodeString([...statuses, ...new Set(more)].join());`;
  const result = await pool.run({
    source: source.replaceAll("URL", JSON.stringify(server.origin)),
    limits: { timeoutMs: 60_000 },
  });
  expect(result.ok ? Buffer.from(result.bytes).toString() : result.error).toBe("414,413,400,413,429");
  expect(deaths()).toEqual(before);
});

test("a source may make 1,000 host calls; further ones fail and its child stays", async () => {
  const before = deaths();
  const source = `let made = 0;
    try { for (;; made++) await import("npm:x").catch((e) => { if (/host calls/.test(e.message)) throw e; }); }
    catch (e) { return Functions.encodeString(made + " " + e.message); }`;
  const result = await pool.run({ source, limits: { timeoutMs: 60_000 } });
  expect(result.ok ? Buffer.from(result.bytes).toString() : result.error).toBe(
    "1000 Exceeded maximum of 1000 host calls",
  );
  expect(deaths()).toEqual(before);
});
