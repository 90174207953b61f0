import { expect, test } from "vitest";
import type { SharedResult } from "../../src/api/types.ts";
import { toHtml } from "../../src/lib/markup.ts";
import { createLinkPreview } from "../../src/web/linkPreview.ts";

const shareUrl = "https://tyche.example.org/r/req_1";
const shared = (label: string, entries: readonly string[]): SharedResult => ({
  id: "req_1",
  network: "sepolia",
  updatedAt: "2026-12-24T18:00:00.000Z",
  preset: "lotto",
  title: "Draw winners from a list",
  params: { list: entries },
  shown: { as: "list", entries },
  outcome: {
    success: true,
    id: "req_1",
    network: "sepolia",
    vrfv2Hash: "0x01",
    vrfv2EventHash: "",
    requestId: "0x02",
    result: "0x",
    parsedResult: "",
    value: null,
    err: "0x",
    url: "https://tyche.example.org/explorer/sepolia/tx/0x03",
    shareUrl,
    label,
  },
});
const contentOf = (tags: string, name: string) =>
  new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(tags)?.[1];

const NETWORK = { title: "Ethereum Sepolia (local chain)", embedded: true };
const tagsOf = (one: Parameters<typeof createLinkPreview>[0]) => toHtml(createLinkPreview(one, NETWORK));

test("names purpose, extent and result, with absolute addresses", () => {
  const tags = tagsOf(shared("raffle", ["ann", "bob"]));
  expect(contentOf(tags, "og:title")).toBe("ann, bob – raffle");
  expect(contentOf(tags, "twitter:card")).toBe("summary_large_image");
  expect(contentOf(tags, "og:description")).toBe(
    "Draw winners from a list: 2 of 2 entries: ann, bob – on Ethereum Sepolia (local chain), 2026-12-24",
  );
  expect(contentOf(tags, "description")).toBe(contentOf(tags, "og:description"));
  expect(contentOf(tags, "og:url")).toBe(shareUrl);
});

test("begins with the result whatever its length: of many winners with the first, of a long text with its beginning", () => {
  const titleOf = (one: SharedResult) => contentOf(tagsOf(one), "og:title");
  const winners = ["Katarzyna Nowak", "Maximiliana Hohenstein", "Ann"];
  expect(titleOf(shared("raffle", winners))).toBe("Katarzyna Nowak and 2 more – raffle");
  const { outcome, ...rest } = shared("", []);
  const code = titleOf({
    ...rest,
    preset: undefined,
    shown: undefined,
    params: undefined,
    title: "Function “return 1”",
    outcome: { ...outcome, label: undefined, parsedResult: "A text\nof more than thirty characters" },
  } as object as SharedResult);
  expect(code).toBe("A text of more than thirty ch… – Function result");
});

test("has the result's picture, and what it says for whoever can't see it", () => {
  const tags = tagsOf(shared("raffle", ["ann", "bob"]));
  expect(contentOf(tags, "og:image")).toBe("https://tyche.example.org/r/req_1/preview.png?tx=0x03");
  expect(contentOf(tags, "og:image:alt")).toMatch(/^raffle – .* – ann · bob – Recorded on Ethereum Sepolia/);
});

test("has the common picture for a result in letters that can't be drawn", () => {
  const tags = tagsOf(shared("raffle", ["张伟"]));
  expect(contentOf(tags, "og:image")).toBe("https://tyche.example.org/assets/preview.png");
  expect(contentOf(tags, "og:image:alt")).toBe("A result that you can check");
});

test("lets no text of others end an attribute, or reorder what follows", () => {
  const tags = tagsOf(shared(`</title><script>alert("1")</script>`, [`"><b>`, "a\u202Eb"]));
  expect(contentOf(tags, "og:title")).toContain(
    "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;",
  );
  expect(contentOf(tags, "og:description")).toContain("&quot;&gt;&lt;b&gt;, a[U+202E]b");
  expect(tags.match(/<(?!meta )/g)).toBeNull();
});

test("cuts a long result at a whole character", () => {
  const tags = tagsOf(shared("raffle", ["🎲".repeat(30_000)]));
  const description = contentOf(tags, "og:description")!;
  expect(Array.from(description)).toHaveLength(200);
  expect(description).toMatch(/🎲… – on Ethereum Sepolia \(local chain\), 2026-12-24$/u);
});

test("says of a request without a result what it waits for", () => {
  const tags = tagsOf({
    id: "req_1",
    state: "waiting",
    why: "waiting for drand's round 7",
    createdAt: "2026-11-29T12:00:00.000Z",
    shareUrl,
    kind: "preset",
    title: "Draw winners from a list",
    label: "raffle",
    preset: "lotto",
    params: { numberOfWinners: 1, list: ["ann", "bob"] },
  });
  expect(contentOf(tags, "og:title")).toBe("Waiting: raffle");
  expect(contentOf(tags, "twitter:card")).toBe("summary_large_image");
  expect(contentOf(tags, "og:image")).toBe("https://tyche.example.org/r/req_1/preview.png?state=waiting");
  expect(contentOf(tags, "og:image:alt")).toMatch(/ – Waiting – Waiting for drand/);
  expect(contentOf(tags, "og:url")).toBe(shareUrl);
  expect(contentOf(tags, "og:description")).toBe(
    "Draw winners from a list: 2 entries: Waiting for drand's round 7",
  );
});

test("leaves a time in a result as it is", () => {
  const tags = tagsOf(shared("raffle", ["2026-01-01T00:00:00.999Z"]));
  expect(contentOf(tags, "og:description")).toMatch(/: 2026-01-01T00:00:00.999Z – on /);
});

test("writes a result of several lines in one", () => {
  const tags = tagsOf(shared("raffle", ["a\n  b\r\nc"]));
  expect(contentOf(tags, "og:description")).toMatch(/: a b c – on /);
});

test("says of a request that failed that it did, as its picture does", () => {
  const { outcome, ...rest } = shared("raffle", []);
  const failed = { success: false, parsedResult: "", err: "no entries", result: "0x" } as const;
  const tags = tagsOf({ ...rest, outcome: { ...outcome, ...failed } });
  expect(contentOf(tags, "og:description")).toMatch(/: 0 of 0 entries: no entries – on /);
  expect(contentOf(tags, "og:title")).toBe("Failed: raffle");
  expect(contentOf(tags, "og:image:alt")).toMatch(/^raffle – .* – Failed – no entries$/);
});

test("has no picture of a request without a result whose name can't be drawn", () => {
  const tags = tagsOf({ id: "req_1", state: "waiting", why: "x", createdAt: "", shareUrl, label: "抽奖" });
  expect(contentOf(tags, "twitter:card")).toBe("summary");
  expect(contentOf(tags, "og:image")).toBeUndefined();
});

test("says of random numbers how each begins, and from what they were drawn", () => {
  const { outcome, ...rest } = shared("audit", []);
  const words = ["9".repeat(77), "7"];
  const numbers = { transactionHash: "0x03", randomNumber: words, value: words } as const;
  const { id, network, updatedAt } = rest;
  const { success, requestId, url, label } = outcome;
  const tags = tagsOf({
    id,
    network,
    updatedAt,
    givenLabel: "Audit",
    outcome: {
      success,
      id,
      network,
      requestId,
      url,
      shareUrl,
      ...numbers,
      randomNumber: [...words],
      value: [...words],
      ...(label === undefined ? {} : { label }),
    },
  });
  expect(contentOf(tags, "og:description")).toBe(
    `2 random numbers: ${"9".repeat(11)}…, 7 (each from 0 to 2^256 − 1) – on Ethereum Sepolia (local chain), 2026-12-24`,
  );
  expect(contentOf(tags, "og:title")).toBe(`${"9".repeat(19)}… and 1 more – Audit`);
});

test("shows a label as its caller spelled it only if that reads as what is on chain", () => {
  const titleOf = (givenLabel: string) =>
    contentOf(tagsOf({ ...shared("raffle 1", ["a"]), givenLabel }), "og:title");
  expect(titleOf("Raffle\u00A01")).toBe("a – Raffle\u00A01");
  expect(titleOf("Raffle 2")).toBe("a – raffle 1");
});

test("says of a request that failed before it was on chain what that means, and in other words than its title", () => {
  const tags = tagsOf({
    id: "req_1",
    state: "failed",
    why: "it failed before it was on chain",
    createdAt: "2026-11-29T12:00:00.000Z",
    shareUrl,
  });
  expect(contentOf(tags, "og:title")).toBe("A request that failed before it was on chain");
  expect(contentOf(tags, "og:description")).toMatch(/^It isn't on chain: there is no result/);
});
