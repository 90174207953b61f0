import { expect, test, vi } from "vitest";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { responseForFailure } from "../../../sandbox/host/net/fetchFailure.ts";
import { guardedConnect } from "../../../sandbox/host/net/guardedConnector.ts";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import type { FetchRequest } from "../../../sandbox/host/net/guardedFetch.ts";
import { FetchFailureError } from "../../../sandbox/host/net/fetchFailure.ts";
import { DEFAULT_LIMITS } from "../../../sandbox/limits.ts";
import { createRequestBudget } from "../../../sandbox/host/net/requestBudget.ts";
import { findFreePorts } from "../../support/freePorts.ts";
import { countSockets, echo, startServer } from "./servers.ts";

const EMPTY_GZIP_MEMBER = gzipSync("");
const ZEROS = Buffer.alloc(64 * 1_024 * 1_024);
/** Created in advance, with weak compression: while this thread compresses, a fetch's time runs out. */
const BOMBS = {
  gzip: gzipSync(ZEROS, { level: 1 }),
  br: brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const other = await startServer((request, response) => void echo(request, response));
const server = await startServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://server");
  const send = (encoding: string, body: Uint8Array) => {
    response.setHeader("content-encoding", encoding);
    response.end(body);
  };
  const redirect = (status: number, location: string) => {
    response.writeHead(status, { location });
    response.end();
  };
  switch (url.pathname) {
    case "/gzip":
      return send("gzip", gzipSync("hello gzip"));
    case "/br":
      return send("br", brotliCompressSync("hello br"));
    case "/deflate":
      return send("deflate", deflateSync("hello deflate"));
    case "/stacked":
      return send("gzip, gzip", gzipSync(gzipSync("twice")));
    case "/broken":
      return send("gzip", Buffer.from("not gzip"));
    case "/gzip-bomb":
      return send("gzip", BOMBS.gzip);
    case "/br-bomb":
      return send("br", BOMBS.br);
    case "/empty-members": {
      response.setHeader("content-encoding", "gzip");
      const members = Buffer.concat(Array.from({ length: 4_096 }, () => EMPTY_GZIP_MEMBER));
      const more = () => {
        while (!response.destroyed && response.write(members));
      };
      response.on("drain", more);
      return more();
    }
    case "/size":
      return response.end(Buffer.alloc(Number(url.searchParams.get("n")), 97));
    case "/cut":
      response.setHeader("content-length", "100");
      response.write("abc");
      return setTimeout(() => response.destroy(), 20);
    case "/slow":
      return undefined;
    case "/drip": {
      const timer = setInterval(() => response.write("."), 10);
      return response.on("close", () => clearInterval(timer));
    }
    case "/status":
      response.writeHead(Number(url.searchParams.get("s")), "Words of its own", {
        "set-cookie": ["a=1", "b=2"],
      });
      return response.end();
    case "/chain": {
      const left = Number(url.searchParams.get("n"));
      return redirect(302, left > 0 ? `/chain?n=${left - 1}` : "/echo");
    }
    case "/to":
      return redirect(Number(url.searchParams.get("s") ?? 302), url.searchParams.get("l") ?? "");
    default:
      return void echo(request, response);
  }
});

const fetcher = createGuardedFetch({ allowHosts: [server.host, other.host] });
const get = (request: FetchRequest, limits = {}) =>
  fetcher.fetch(request, { budget: createRequestBudget(limits) });

async function responseOf(request: FetchRequest) {
  const outcome = await get(request);
  if (!outcome.ok) throw new Error(outcome.failure.hint);
  return { ...outcome.response, text: Buffer.from(outcome.response.body).toString() };
}

async function echoed(request: FetchRequest) {
  const { text } = await responseOf(request);
  return JSON.parse(text) as { method: string; url: string; headers: string[]; body: string };
}

test("fetches an allowed host with Deno's headers and nothing else", async () => {
  const { headers, method } = await echoed({ url: `${server.origin}/echo` });
  expect(method).toBe("GET");
  const pairs = Object.fromEntries(
    headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : [])),
  );
  expect(pairs).toEqual({
    host: server.host,
    connection: "keep-alive",
    accept: "*/*",
    "accept-encoding": "gzip,br",
    "accept-language": "*",
    "user-agent": "Deno/2.9.6",
  });
});

test("sends method, body and headers", async () => {
  const request = { url: `${server.origin}/x?a=%20b`, method: "post", body: Buffer.from("payload") };
  const got = await echoed({
    ...request,
    headers: [
      ["X-A", "1"],
      ["x-a", "2"],
      ["user-agent", "mine"],
    ],
  });
  expect(got).toMatchObject({ method: "POST", url: "/x?a=%20b", body: "payload" });
  expect(got.headers.filter((text) => ["1", "2", "mine"].includes(text))).toEqual(["1", "2", "mine"]);
  expect(got.headers).not.toContain("Deno/2.9.6");
});

test("drops host, hop-by-hop headers and those that connection names", async () => {
  const headers = [
    ["Host", "evil.example"],
    ["connection", "close, x-private"],
    ["x-private", "1"],
    ["keep-alive", "1"],
    ["proxy-authorization", "p"],
    ["proxy-connection", "p"],
    ["te", "trailers"],
    ["trailer", "x"],
    ["transfer-encoding", "chunked"],
    ["upgrade", "h2c"],
    ["http2-settings", "AA"],
    ["expect", "100-continue"],
    ["content-length", "3"],
    ["x-kept", "yes"],
  ] as const;
  const got = await echoed({ url: server.origin, method: "POST", body: Buffer.from("hello"), headers });
  const names = got.headers.filter((_text, i) => i % 2 === 0).sort();
  const expected = ["accept", "accept-encoding", "accept-language", "connection", "content-length", "host"];
  expect(names).toEqual([...expected, "user-agent", "x-kept"]);
  expect(got.headers).toContain(server.host);
  expect(got.body).toBe("hello");
});

test("gives status with its registered phrase, repeated headers and the URL without fragment", async () => {
  const response = await responseOf({ url: `${server.origin}/status?s=404#part` });
  expect(response).toMatchObject({ status: 404, statusText: "Not Found", redirected: false, text: "" });
  expect(response.url).toBe(`${server.origin}/status?s=404`);
  const cookies = response.headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  expect(cookies).toEqual(["a=1", "b=2"]);
});

test.each([
  ["204", "No Content"],
  ["299", ""],
  ["203", "Non Authoritative Information"],
  ["418", "I'm a teapot"],
])("status %s has Deno's phrase %j", async (status, statusText) => {
  expect(await responseOf({ url: `${server.origin}/status?s=${status}` })).toMatchObject({ statusText });
});

test("HEAD has no body", async () => {
  expect(await responseOf({ url: `${server.origin}/size?n=10`, method: "HEAD" })).toMatchObject({
    status: 200,
    text: "",
  });
});

test.each([
  ["gzip", "hello gzip"],
  ["br", "hello br"],
])("decodes %s and keeps the header", async (encoding, text) => {
  const response = await responseOf({ url: `${server.origin}/${encoding}` });
  expect(response.text).toBe(text);
  expect(response.headers).toContainEqual(["content-encoding", encoding]);
});

test("deflate and stacked encodings are handed over as they came, as in Deno", async () => {
  expect((await responseOf({ url: `${server.origin}/deflate` })).body).toEqual(deflateSync("hello deflate"));
  expect((await responseOf({ url: `${server.origin}/stacked` })).body).toEqual(gzipSync(gzipSync("twice")));
});

test.each(["broken", "cut"])("a %s body is a network failure", async (path) => {
  expect(await get({ url: `${server.origin}/${path}` })).toMatchObject({
    ok: false,
    failure: { kind: "network" },
  });
});

test.each(["gzip-bomb", "br-bomb", "empty-members"])("%s stops at the response limit", async (path) => {
  const rssBefore = process.memoryUsage().rss;
  const outcome = await get({ url: `${server.origin}/${path}` });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "responseSizeLimit" } });
  expect(process.memoryUsage().rss - rssBefore).toBeLessThan(160 * 1_024 * 1_024);
});

test("the response limit is exact", async () => {
  const limit = DEFAULT_LIMITS.maxHttpResponseBytes;
  expect((await responseOf({ url: `${server.origin}/size?n=${limit}` })).body.length).toBe(limit);
  const tooLarge = await get({ url: `${server.origin}/size?n=${limit + 1}` });
  expect(tooLarge).toMatchObject({ ok: false, failure: { kind: "responseSizeLimit" } });
});

test("request body and URL limits are exact", async () => {
  const post = { url: server.origin, method: "POST" };
  expect(await get({ ...post, body: new Uint8Array(30_720) })).toMatchObject({ ok: true });
  expect(await get({ ...post, body: new Uint8Array(30_721) })).toMatchObject({
    failure: { kind: "requestSizeLimit" },
  });
  const url = `${server.origin}/`.padEnd(2_048, "a");
  expect(await get({ url })).toMatchObject({ ok: true });
  expect(await get({ url: `${url}a` })).toMatchObject({ failure: { kind: "urlLengthLimit" } });
});

test("a run has five requests, failed ones included, redirects not counted", async () => {
  const budget = createRequestBudget();
  const urls = [`${server.origin}/chain?n=5`, "foo", "http://10.0.0.1/", server.origin, server.origin];
  for (const url of urls)
    expect(await fetcher.fetch({ url }, { budget })).not.toMatchObject({
      failure: { kind: "requestCountLimit" },
    });
  expect(budget.used).toBe(5);
  const sixth = await fetcher.fetch({ url: server.origin }, { budget });
  expect(sixth).toMatchObject({ ok: false, failure: { kind: "requestCountLimit" } });
  expect(budget.used).toBe(5);
});

test.each(["slow", "drip"])("/%s ends at the time limit", async (path) => {
  const outcome = await get({ url: `${server.origin}/${path}` }, { maxHttpDurationMs: 150 });
  expect(outcome).toMatchObject({
    failure: { kind: "timeLimit", message: "HTTP query exceeded time limit of 150ms" },
  });
});

test("a name lookup that never ends is stopped by the time limit, and opens nothing", async () => {
  const sockets = countSockets();
  const stuck = createGuardedFetch({ resolve: () => new Promise(() => undefined) });
  const outcome = await stuck.fetch(
    { url: "http://a.example/" },
    { budget: createRequestBudget({ maxHttpDurationMs: 50 }) },
  );
  sockets.restore();
  expect(outcome).toMatchObject({ failure: { kind: "timeLimit" } });
  expect(sockets.opened()).toBe(0);
});

test("the end of the run ends the request", async () => {
  const run = new AbortController();
  const pending = fetcher.fetch(
    { url: `${server.origin}/slow` },
    { budget: createRequestBudget(), signal: run.signal },
  );
  setTimeout(() => run.abort(), 30);
  expect(await pending).toMatchObject({ failure: { kind: "aborted" } });
  const late = await fetcher.fetch(
    { url: server.origin },
    { budget: createRequestBudget(), signal: run.signal },
  );
  expect(late).toMatchObject({ failure: { kind: "aborted" } });
});

test("a closed port and an unknown name are network failures that say so", async () => {
  const closed = createGuardedFetch({ allowHosts: ["127.0.0.1"] });
  const [free] = await findFreePorts(1);
  const refused = await closed.fetch({ url: `http://127.0.0.1:${free}/` }, { budget: createRequestBudget() });
  expect(refused).toMatchObject({ failure: { kind: "network", message: "fetch failed" } });
  const unknown = createGuardedFetch({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
  const outcome = await unknown.fetch({ url: "http://nowhere.example/" }, { budget: createRequestBudget() });
  expect(outcome).toMatchObject({
    failure: { kind: "network", hint: expect.stringContaining("nowhere.example") as string },
  });
});

test("follows 20 redirects and refuses the 21st", async () => {
  expect(await responseOf({ url: `${server.origin}/chain?n=19` })).toMatchObject({
    redirected: true,
    url: `${server.origin}/echo`,
  });
  const message = "Fetch failed: Maximum number of redirects (20) reached";
  expect(await get({ url: `${server.origin}/chain?n=20` })).toMatchObject({
    failure: { kind: "redirect", message },
  });
});

test.each([
  [301, "POST", "GET"],
  [302, "POST", "GET"],
  [303, "PUT", "GET"],
  [307, "POST", "POST"],
  [308, "PUT", "PUT"],
  [302, "PUT", "PUT"],
])("%i turns %s into %s", async (status, method, expected) => {
  const url = `${server.origin}/to?s=${status}&l=/echo`;
  const headers = [["content-type", "text/plain"]] as const;
  const got = await echoed({ url, method, headers, body: Buffer.from("b") });
  expect(got).toMatchObject({ method: expected, body: expected === "GET" ? "" : "b" });
  expect(got.headers.includes("content-type")).toBe(expected !== "GET");
});

test("credentials don't follow a redirect to another origin", async () => {
  const headers = [
    ["authorization", "key"],
    ["cookie", "c=1"],
    ["x-kept", "1"],
  ] as const;
  const away = await echoed({ url: `${server.origin}/to?l=${other.origin}/echo`, headers });
  expect(away.headers).toContain("x-kept");
  expect(away.headers).not.toContain("key");
  expect(away.headers).not.toContain("c=1");
  expect((await echoed({ url: `${server.origin}/to?l=/echo`, headers })).headers).toContain("key");
});

test("redirect modes manual and error", async () => {
  const url = `${server.origin}/to?l=/echo`;
  expect(await responseOf({ url, redirect: "manual" })).toMatchObject({ status: 302, statusText: "Found" });
  expect(await get({ url, redirect: "error" })).toMatchObject({ failure: { kind: "redirect" } });
});

test("a redirect status without location is an answer", async () => {
  expect(await responseOf({ url: `${server.origin}/status?s=302` })).toMatchObject({
    status: 302,
    redirected: false,
  });
});

test.each([
  "http://10.0.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::1]/",
  "http://2130706433/",
  "http://localhost/",
  "http://user:pass@example.com/",
  "http://example.com:25/",
  "file:///etc/passwd",
  "data:text/plain,hi",
  "ftp://example.com/",
  "http://[::bad",
  "//metadata.google.internal/",
])("a redirect to %s is refused before a second socket", async (location) => {
  const sockets = countSockets();
  const outcome = await get({ url: `${server.origin}/to?l=${encodeURIComponent(location)}` });
  sockets.restore();
  expect(outcome).toMatchObject({ ok: false });
  expect(outcome).not.toMatchObject({ failure: { kind: "network" } });
  expect(sockets.opened()).toBe(1);
});

test("the socket is pinned to the answers that were checked, asked for once", async () => {
  let asked = 0;
  const rebinding = createGuardedFetch({
    allowHosts: [`rebind.example:${server.port}`],
    // Nothing listens at the second answer's address: a second lookup between check and connect would fail.
    resolve: async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.77", family: 4 }],
  });
  const outcome = await rebinding.fetch(
    { url: `http://rebind.example:${server.port}/echo` },
    { budget: createRequestBudget() },
  );
  expect(outcome).toMatchObject({ ok: true });
  expect(asked).toBe(1);
});

test("the address that was reached is checked again and the socket destroyed", async () => {
  let checks = 0;
  const policy = {
    assertUrl: () => undefined,
    isAllowed: () => false,
    assertAddresses: () => {
      checks += 1;
      if (checks === 2) throw new FetchFailureError("refused", "fetch failed");
    },
  };
  const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
  const target = { host: "a.example", port: server.port, tls: false };
  const connecting = guardedConnect(target, { policy, resolve, signal: new AbortController().signal });
  await expect(connecting).rejects.toThrow(FetchFailureError);
  expect(checks).toBe(2);
});

test("requests share no connection and no cookie", async () => {
  const before = server.connections();
  await responseOf({ url: `${server.origin}/status?s=200` });
  const { headers } = await echoed({ url: server.origin });
  expect(server.connections() - before).toBe(2);
  expect(headers).not.toContain("cookie");
});

test("shared requests have few connections and one name lookup, until their signal ends them", async () => {
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return [{ address: "127.0.0.1", family: 4 as const }];
  };
  const host = `many.example:${server.port}`;
  const ending = new AbortController();
  const shared = createGuardedFetch({ allowHosts: [host], resolve }).share(ending.signal);
  const get = (path: string) =>
    shared.fetch({ url: `http://${host}${path}` }, { budget: createRequestBudget() });
  const before = server.connections();
  for (let round = 0; round < 3; round += 1) {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => get("/status?s=200")));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(20);
  }
  expect(server.connections() - before).toBeLessThanOrEqual(6);
  expect(lookups).toBe(1);
  ending.abort();
  expect(await get("/status?s=200")).toMatchObject({ ok: false });
});

test("proxies of the environment are not used", async () => {
  const before = other.connections();
  vi.stubEnv("HTTP_PROXY", other.origin);
  vi.stubEnv("http_proxy", other.origin);
  await responseOf({ url: `${server.origin}/echo` });
  expect(other.connections()).toBe(before);
});

test("a star allows everything, for a developer's own machine", async () => {
  const open = createGuardedFetch({ allowHosts: ["*"] });
  expect(
    await open.fetch({ url: `http://localhost:${server.port}/echo` }, { budget: createRequestBudget() }),
  ).toMatchObject({ ok: true });
});

test.each([
  ["requestCountLimit", 429, "Exceeded maximum of 5 HTTP queries"],
  ["missingUrl", 400, "Missing target URL parameter"],
  ["urlLengthLimit", 414, "Destination URL exceeds maximum length of 2048"],
  ["requestSizeLimit", 413, "Request payload size exceeds 30720 byte limit"],
  ["responseSizeLimit", 413, "Response payload size exceeds 2097152 byte limit"],
  ["timeLimit", 400, "HTTP query exceeded time limit of 9000ms"],
  ["refused", 400, "Error during fetch request"],
  ["network", 400, "Error during fetch request"],
] as const)("%s becomes the response the nodes' proxy gives", (kind, status, error) => {
  const response = responseForFailure({ kind, message: "", hint: "" }, DEFAULT_LIMITS);
  expect(response.status).toBe(status);
  expect(JSON.parse(Buffer.from(response.body).toString())).toEqual({ error });
});
