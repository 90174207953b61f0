import { expect, test } from "vitest";
import type { SharedResult } from "../../src/api/types.ts";
import { toHtml } from "../../src/lib/markup.ts";
import { createResultPage } from "../../src/web/resultPage.ts";

const HASH = `0x${"12".repeat(32)}` as const;
const REQUESTED = `0x${"34".repeat(32)}` as const;
const SHARE_URL = "https://tyche.example.org/r/req_1";
const LOCAL = { title: "Ethereum Sepolia (local chain)", embedded: true };

const DRAW: SharedResult = {
  id: "req_1",
  network: "sepolia",
  updatedAt: "2026-12-24T18:00:00.000Z",
  preset: "lotto",
  title: "Draw winners from a list",
  params: { numberOfWinners: "1", list: ["ann", `<b>"bob"</b>\u202E`] },
  parameterTitles: { numberOfWinners: "Winners", list: "Entries" },
  dappId: "dapp_1",
  requestedIn: REQUESTED,
  shown: { as: "list", entries: ["ann"] },
  outcome: {
    success: true,
    id: "req_1",
    network: "sepolia",
    vrfv2Hash: HASH,
    vrfv2EventHash: "",
    requestId: "0x02",
    result: "0x",
    parsedResult: "Winners: ann",
    value: ["ann"],
    err: "0x",
    url: `https://tyche.example.org/explorer/sepolia/tx/${HASH}`,
    shareUrl: SHARE_URL,
    label: "raffle",
  },
};

const pageOf = (...of: Parameters<typeof createResultPage>) => toHtml(createResultPage(...of));
const factsOf = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value]) => [name!, value!]),
  );

test("says of a result what it is for, what it is, where it is on chain, and how to check it", () => {
  const html = pageOf(DRAW, LOCAL);
  expect(html).toMatch(
    /^<h1>raffle<\/h1><p class="lead">Draw winners from a list: 1 of 2 entries, on Ethereum/,
  );
  expect(html.match(/raffle/g)).toHaveLength(1);
  expect(html).toContain('<ol class="big-result entries"><li>ann</li></ol>');
  expect(factsOf(html)).toEqual({
    Winners: "1",
    Entries: expect.stringContaining("<summary>2 entries</summary>"),
    Organiser: expect.stringContaining("dapp_1"),
    "Requested in": expect.stringContaining(`<a href="/explorer/sepolia/tx/${REQUESTED}">`),
    "Proof and result in": expect.stringContaining(`<a href="/explorer/sepolia/tx/${HASH}">`),
    "Request on chain": expect.stringContaining("0x02"),
    Stored: expect.stringContaining("2026-12-24 18:00:00 UTC"),
    "As JSON": '<a href="/api/explorer/results/req_1">/api/explorer/results/req_1</a>',
  });
  expect(html).toContain(
    "A contract has checked that the random numbers belong to this request and to no other (VRF). The nodes",
  );
  expect(html).toContain(`npx tyche verify ${SHARE_URL}<`);
});

test("lets no text of others become an element, or reorder what follows", () => {
  const hostile = `</noscript></title><script>"'\u202E`;
  const { outcome, ...draw } = DRAW;
  const named = {
    ...draw,
    title: hostile,
    dappId: hostile,
    params: { [hostile]: hostile, list: [hostile] },
    parameterTitles: { [hostile]: hostile },
    shown: { as: "list", entries: [hostile] },
  } as const;
  for (const end of [{ success: true }, { success: false, err: hostile }] as const) {
    const ended = { ...outcome, ...end, label: hostile, shareUrl: hostile } as typeof outcome;
    const html = pageOf({ ...named, outcome: ended }, LOCAL);
    expect(html).toContain("&lt;/noscript&gt;&lt;/title&gt;&lt;script&gt;&quot;'[U+202E]");
    expect(html).not.toMatch(/<script|<\/noscript|<\/title|\u202E/);
  }
});

test("lists a function's arguments as its source reads them, and the entries of those that are lists", () => {
  const { id, network, updatedAt, outcome } = DRAW;
  const args = ["eth", '["ann","<b>bob</b>"]', ""];
  const { Arguments: shown } = factsOf(pageOf({ id, network, updatedAt, outcome, args }, LOCAL));
  expect(shown).toContain(
    '<ul class="arguments"><li><code>args[0]</code> = <code class="hex">eth</code></li>',
  );
  expect(shown).toMatch(
    /<code>args\[1\]<\/code> = <details open.*<summary>2 entries<\/summary>.*<li>ann<\/li>/,
  );
  expect(shown).toContain("&lt;b&gt;bob&lt;/b&gt;");
  const none = pageOf({ id, network, updatedAt, outcome, args: [] }, LOCAL);
  expect(factsOf(none)).not.toHaveProperty("Arguments");
});

test("shows a function's bytes that are no text in hex", () => {
  const bytes = { ...DRAW.outcome, result: "0xff00", parsedResult: "\uFFFD\0" } as typeof DRAW.outcome;
  const { id, network, updatedAt } = DRAW;
  expect(pageOf({ id, network, updatedAt, outcome: bytes }, LOCAL)).toContain(
    '<p class="big-result">0xff00</p>',
  );
});

test("says of a public chain that it is one, and of a network that is not served its name", () => {
  expect(pageOf(DRAW, { title: "Avalanche Fuji", embedded: false })).toContain(
    "on Avalanche Fuji (public chain)</p>",
  );
  expect(pageOf(DRAW, undefined)).toContain("on sepolia</p>");
});

test("says of a draw that failed why, and that nothing will follow", () => {
  const failure = { success: false, err: "error", result: "0x", parsedResult: "", value: null } as const;
  const html = pageOf({ ...DRAW, outcome: { ...DRAW.outcome, ...failure } }, LOCAL);
  expect(html).toContain("The draw failed</p>");
  expect(html).toContain(
    "The source threw an error without a text. There is no result, and none will follow.",
  );
  expect(html).toContain("<dt>Proof and error in</dt>");
});

test("says of a request without a result what it waits for, or what that it failed means", () => {
  const request = { id: "req_1", createdAt: "2026-11-29T12:00:00.000Z", shareUrl: SHARE_URL } as const;
  const why = "waiting for drand's round 7, due at 2026-11-29T12:00:30.000Z";
  const beacon = { round: "7", time: "2026-11-29T12:00:30.000Z", chainHash: `0x${"56".repeat(32)}` } as const;
  const waiting = pageOf(
    { ...request, state: "waiting", why, network: "sepolia", kind: "preset", beacon },
    LOCAL,
  );
  expect(waiting).toContain(
    "All inputs and the program are on chain, where nobody can change them any more.",
  );
  expect(waiting).toContain(
    'until <time datetime="2026-11-30T12:00:30.000Z">2026-11-30 12:00:30 UTC</time>; then',
  );
  expect(waiting).toContain('<a href="/r/req_1">look again</a>');
  expect(waiting).toContain(
    `Waiting for drand's round 7, due at <time datetime="2026-11-29T12:00:30.000Z">2026-11-29 12:00:30 UTC</time>.`,
  );
  const failed = pageOf({ ...request, state: "failed", why: "it failed before it was on chain" }, undefined);
  expect(failed).toMatch(/^<h1>A request that failed before it was on chain<\/h1><div/);
  expect(failed.match(/failed before/gi)).toHaveLength(1);
  expect(failed).toContain("ask whoever gave you this address");
  expect(factsOf(failed)).toMatchObject({ Made: expect.stringContaining("2026-11-29 12:00:00 UTC") });
});
