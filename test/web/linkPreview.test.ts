import { expect, test } from "vitest";
import type { SharedResult } from "../../src/api/types.ts";
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
    url: "",
    shareUrl,
    label,
  },
});
const contentOf = (tags: string, name: string) =>
  new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(tags)?.[1];

test("names purpose, extent and result, with absolute addresses", () => {
  const { title, tags, summary } = createLinkPreview(shared("raffle", ["ann", "bob"]));
  expect(title).toBe("raffle · Tyche");
  expect(contentOf(tags, "og:title")).toBe("raffle");
  expect(contentOf(tags, "og:description")).toBe("Draw winners from a list: 2 of 2 entries: ann, bob");
  expect(contentOf(tags, "description")).toBe(contentOf(tags, "og:description"));
  expect(summary).toBe("<h1>raffle</h1><p>Draw winners from a list: 2 of 2 entries: ann, bob</p>");
  expect(contentOf(tags, "og:url")).toBe(shareUrl);
  expect(contentOf(tags, "og:image")).toBe("https://tyche.example.org/assets/preview.png");
});

test("lets no text of others end an attribute or an element, or reorder what follows", () => {
  const { title, tags, summary } = createLinkPreview(
    shared(`</title><script>alert("1")</script>`, [`"><b>`, "a\u202Eb"]),
  );
  expect(title).toBe(`&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; · Tyche`);
  expect(contentOf(tags, "og:description")).toContain("&quot;&gt;&lt;b&gt;, a[U+202E]b");
  expect(tags.match(/<(?!meta )/g)).toBeNull();
  expect(summary.match(/<(?!\/?(?:h1|p)>)/g)).toBeNull();
});

test("cuts a long result at a whole character", () => {
  const { tags } = createLinkPreview(shared("raffle", ["🎲".repeat(30_000)]));
  const description = contentOf(tags, "og:description")!;
  expect(Array.from(description)).toHaveLength(200);
  expect(description).toMatch(/🎲…$/u);
});

test("says of a request without a result what it waits for", () => {
  const { tags } = createLinkPreview({
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
  expect(contentOf(tags, "og:title")).toBe("raffle");
  expect(contentOf(tags, "og:url")).toBe(shareUrl);
  expect(contentOf(tags, "og:description")).toBe(
    "Draw winners from a list: 2 entries: waiting for drand's round 7",
  );
});

test("says of a request that failed that it did", () => {
  const { outcome, ...rest } = shared("raffle", []);
  const failed = { success: false, parsedResult: "", err: "no entries", result: "0x" } as const;
  const { tags } = createLinkPreview({ ...rest, outcome: { ...outcome, ...failed } });
  expect(contentOf(tags, "og:description")).toMatch(/: failed: no entries$/);
});
