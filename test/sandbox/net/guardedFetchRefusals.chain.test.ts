import { afterAll, beforeEach, expect, test } from "vitest";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import type { FetchRequest } from "../../../sandbox/host/net/guardedFetch.ts";
import type { Resolver } from "../../../sandbox/host/net/resolver.ts";
import { createRequestBudget } from "../../../sandbox/host/net/requestBudget.ts";
import { countSockets, startServer } from "./servers.ts";

// A listener on loopback: most of the tricks below spell its address, so it would notice one that got through.
const loopback = await startServer((_request, response) => response.end("reached"));
const PORT = loopback.port;

const sockets = countSockets();
afterAll(sockets.restore);
let openedBefore = 0;
beforeEach(() => {
  openedBefore = sockets.opened();
});

const MIXED_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  "loopback.example": ["127.0.0.1"],
  "loopback6.example": ["::1"],
  "private.example": ["10.1.2.3"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "azure.example": ["168.63.129.16"],
  "unspecified.example": ["0.0.0.0"],
  "good-then-bad.example": ["93.184.215.14", "127.0.0.1"],
  "bad-then-good.example": ["127.0.0.1", "93.184.215.14"],
  "good4-bad6.example": ["93.184.215.14", "::1"],
  "bad4-good6.example": ["192.168.1.1", "2a00:1450:4001:81b::200e"],
  "zone.example": ["fe80::1%lo"],
  "scoped-public.example": ["2a00:1450::1%lo"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "sixtofour.example": ["2002:7f00:1::"],
  "garbage.example": ["not-an-address"],
};

const resolve: Resolver = async (hostname) => {
  const answers = MIXED_ANSWERS[hostname] ?? ["127.0.0.1"];
  return answers.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

const fetcher = createGuardedFetch({ resolve });
const attempt = (request: FetchRequest) => fetcher.fetch(request, { budget: createRequestBudget() });

const SPELLED_ADDRESSES = [
  // IPv4, in every spelling that a URL parser accepts
  `http://127.0.0.1:${PORT}/`,
  `http://127.1:${PORT}/`,
  `http://127.0.1:${PORT}/`,
  `http://2130706433:${PORT}/`,
  `http://0x7f000001:${PORT}/`,
  `http://0X7F.0.0.1:${PORT}/`,
  `http://0x7f.1:${PORT}/`,
  `http://0177.0.0.1:${PORT}/`,
  `http://017700000001:${PORT}/`,
  `http://0177.0x0.0.01:${PORT}/`,
  `http://127.0.0.1.:${PORT}/`,
  `http://127.8.9.10:${PORT}/`,
  `http://%31%32%37.0.0.1:${PORT}/`,
  `http://１２７.０.０.１:${PORT}/`,
  `http://127。0。0。1:${PORT}/`,
  `http://①②⑦.0.0.1:${PORT}/`,
  `http://1\u00ad27.0.0.1:${PORT}/`,
  `http://\t127.0.0.1:${PORT}/`,
  `http:127.0.0.1:${PORT}/`,
  `http:/127.0.0.1:${PORT}/`,
  `http:\\\\127.0.0.1:${PORT}\\`,
  `HTTP://127.0.0.1:${PORT}/`,
  `https://127.0.0.1:${PORT}/`,
  `http://0:${PORT}/`,
  `http://0.0.0.0:${PORT}/`,
  `http://00000000:${PORT}/`,
  "http://10.0.0.1/",
  "http://0xa000001/",
  "http://172.16.0.1/",
  "http://172.31.255.254/",
  "http://192.168.0.1/",
  "http://192.168.257/",
  "http://100.64.0.1/",
  "http://169.254.0.1/",
  "http://192.0.0.8/",
  "http://198.18.0.1/",
  "http://203.0.113.7/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  // Metadata and host services of cloud providers
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/latest/meta-data/",
  "http://0xa9fea9fe/",
  "http://169.254.170.2/v2/credentials/",
  "http://[fd00:ec2::254]/latest/meta-data/",
  "http://[fd20:ce::254]/computeMetadata/v1/",
  "http://168.63.129.16/machine?comp=goalstate",
  "http://100.100.100.200/latest/meta-data/",
  "http://192.0.0.192/latest/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://METADATA.GOOGLE.INTERNAL./computeMetadata/v1/",
  "http://metadata/computeMetadata/v1/",
  "http://instance-data/latest/meta-data/",
  "http://kubernetes.default.svc.cluster.local/",
  // IPv6
  `http://[::1]:${PORT}/`,
  `http://[0:0:0:0:0:0:0:1]:${PORT}/`,
  `http://[0000::0001]:${PORT}/`,
  `http://[::]:${PORT}/`,
  `http://[::ffff:127.0.0.1]:${PORT}/`,
  `http://[::ffff:7f00:1]:${PORT}/`,
  `http://[0:0:0:0:0:ffff:7f00:0001]:${PORT}/`,
  `http://[::127.0.0.1]:${PORT}/`,
  `http://[::ffff:0:127.0.0.1]:${PORT}/`,
  `http://[::ffff:169.254.169.254]/`,
  `http://[::ffff:93.184.215.14]/`,
  `http://[64:ff9b::127.0.0.1]:${PORT}/`,
  `http://[64:ff9b::169.254.169.254]/`,
  "http://[64:ff9b:1::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
  "http://[2001:db8::1]/",
  "http://[fe80::1]/",
  "http://[fe80::1%25lo]/",
  "http://[fe80::1%lo]/",
  "http://[fec0::1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456:789a::1]/",
  "http://[ff02::1]/",
  "http://[100::1]/",
  "http://[5f00::1]/",
  "http://[2a00:1450::5efe:127.0.0.1]/",
  // Names that never leave the machine or the site
  `http://localhost:${PORT}/`,
  `http://LOCALHOST:${PORT}/`,
  `http://localhost.:${PORT}/`,
  `http://a.localhost:${PORT}/`,
  `http://ｌｏｃａｌｈｏｓｔ:${PORT}/`,
  `http://localhost.localdomain:${PORT}/`,
  `http://printer.local:${PORT}/`,
  `http://router.home.arpa:${PORT}/`,
  `http://1.0.0.127.in-addr.arpa:${PORT}/`,
  `http://intranet:${PORT}/`,
  `http://service.internal:${PORT}/`,
] as const;

test.each(SPELLED_ADDRESSES)("refuses %s without opening a socket", async (url) => {
  const outcome = await attempt({ url });
  expect(outcome).toMatchObject({ ok: false });
  expect(outcome).not.toMatchObject({ failure: { kind: "network" } });
  expect(sockets.opened()).toBe(openedBefore);
});

test.each(Object.entries(MIXED_ANSWERS))("refuses %s, which resolves to %j", async (host) => {
  const outcome = await attempt({ url: `http://${host}:${PORT}/` });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "refused", message: "fetch failed" } });
  expect(JSON.stringify(outcome)).not.toContain("127.0.0.1");
  expect(sockets.opened()).toBe(openedBefore);
});

const SCHEMES = [
  ["ftp://example.com/", "Url scheme 'ftp' not supported"],
  ["file:///etc/passwd", "Url scheme 'file' not supported"],
  ["gopher://127.0.0.1:6379/_INFO", "Url scheme 'gopher' not supported"],
  ["ws://example.com/", "Url scheme 'ws' not supported"],
  ["unix:///var/run/docker.sock", "Url scheme 'unix' not supported"],
  ["http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "Url scheme 'http+unix' not supported"],
  ["jar:http://127.0.0.1!/", "Url scheme 'jar' not supported"],
  ["javascript:1", "Url scheme 'javascript' not supported"],
  ["about:blank", "Url scheme 'about' not supported"],
  ["//127.0.0.1/", "Invalid URL: '//127.0.0.1/'"],
  ["127.0.0.1", "Invalid URL: '127.0.0.1'"],
  ["", "Invalid URL: ''"],
  ["http://", "Invalid URL: 'http://'"],
  ["http://127.0.0.1:99999/", "Invalid URL: 'http://127.0.0.1:99999/'"],
  ["http://256.1.1.1/", "Invalid URL: 'http://256.1.1.1/'"],
  ["http://[::1/", "Invalid URL: 'http://[::1/'"],
] as const;

test.each(SCHEMES)("refuses %s with Deno's text", async (url, message) => {
  expect(await attempt({ url })).toMatchObject({ ok: false, failure: { message } });
  expect(sockets.opened()).toBe(openedBefore);
});

const CREDENTIALS = [
  "http://user:secret@example.com/",
  "http://user@example.com/",
  "http://:secret@example.com/",
  "http://example.com@127.0.0.1/",
  `http://127.0.0.1:${PORT}@example.com/`,
  "http://example.com:80\\@127.0.0.1/",
  "http://a%40b:c@example.com/",
];

test.each(CREDENTIALS)("refuses %s without opening a socket or repeating the secret", async (url) => {
  const outcome = await attempt({ url });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "refused" } });
  expect(JSON.stringify(outcome)).not.toContain("secret");
  expect(sockets.opened()).toBe(openedBefore);
});

test.each([
  1, 22, 25, 53, 110, 143, 389, 465, 587, 993, 2375, 3306, 5060, 5432, 6000, 6379, 6667, 10080, 11211, 27017,
])("refuses port %i of a public host", async (port) => {
  const message = `Fetch failed: Requests to port ${port} are blocked`;
  const outcome = await attempt({ url: `http://public.example:${port}/` });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "refused", message } });
  expect(sockets.opened()).toBe(openedBefore);
});

const INJECTIONS: readonly (readonly [string, Partial<FetchRequest>])[] = [
  ["CRLF in a header value", { headers: [["x", "a\r\nhost: evil"]] }],
  ["LF in a header value", { headers: [["x", "a\nb"]] }],
  ["NUL in a header value", { headers: [["x", "a\0b"]] }],
  ["a character past Latin-1 whose low byte is LF", { headers: [["x", "a\u010ab"]] }],
  ["CRLF in a header name", { headers: [["x\r\ny", "a"]] }],
  ["a blank in a header name", { headers: [["transfer-encoding ", "chunked"]] }],
  ["a colon in a header name", { headers: [["x:y", "a"]] }],
  ["an empty header name", { headers: [["", "a"]] }],
  ["17 KiB of headers", { headers: [["x", "a".repeat(17 * 1_024)]] }],
  ["CRLF in the method", { method: "GET / HTTP/1.1\r\nx: y\r\n\r\nGET" }],
  ["CONNECT", { method: "connect" }],
  ["TRACE", { method: "TRACE" }],
  ["TRACK", { method: "Track" }],
  ["an empty method", { method: "" }],
  ["a body on GET", { body: new Uint8Array(1) }],
];

test.each(INJECTIONS)("refuses %s even for an allowed host", async (_what, request) => {
  const allowed = createGuardedFetch({ allowHosts: [loopback.host] });
  const outcome = await allowed.fetch(
    { url: loopback.origin, ...request },
    { budget: createRequestBudget() },
  );
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "invalid" } });
  expect(sockets.opened()).toBe(openedBefore);
});

test("an allowance is for the host and port as written only", async () => {
  const allowed = createGuardedFetch({ allowHosts: [loopback.host], resolve });
  const others = [
    `http://localhost:${PORT}/`,
    `http://127.0.0.1:${PORT - 1}/`,
    `http://[::ffff:127.0.0.1]:${PORT}/`,
  ];
  for (const url of others) {
    expect(await allowed.fetch({ url }, { budget: createRequestBudget() })).toMatchObject({ ok: false });
  }
  expect(sockets.opened()).toBe(openedBefore);
});

test("the table holds at least 90 refusals, and none reached the listener", () => {
  const lists = [SPELLED_ADDRESSES, Object.keys(MIXED_ANSWERS), SCHEMES, CREDENTIALS, INJECTIONS];
  expect(lists.reduce((sum, list) => sum + list.length, 0)).toBeGreaterThanOrEqual(90);
  expect(new Set<string>(SPELLED_ADDRESSES).size).toBe(SPELLED_ADDRESSES.length);
  expect(loopback.connections()).toBe(0);
});
