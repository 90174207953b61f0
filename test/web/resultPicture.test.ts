import { describe, expect, test } from "vitest";
import type { SharedResult } from "../../src/api/types.ts";
import { createResultPicture } from "../../src/web/resultPicture.ts";
import { decodePng } from "./support/png.ts";

const HASH = `0x${"12".repeat(32)}` as const;
const NUMBER = String(2n ** 256n - 1n);
const LOCAL = { title: "Ethereum Sepolia (local chain)", embedded: true };
const PUBLIC = { title: "Avalanche Fuji", embedded: false };
const GROUND = "#fbfaf7";
const ACCENT = "#0b6b5a";

const COMMON = { id: "req_1", network: "fuji", updatedAt: "2026-12-24T18:00:00.000Z" };
const END = {
  success: true,
  id: "req_1",
  network: "fuji",
  requestId: "0x02",
  result: "0x",
  parsedResult: "",
  value: null,
  err: "0x",
  url: `https://tyche.example.org/explorer/fuji/tx/${HASH}`,
  shareUrl: "https://tyche.example.org/r/req_1",
} as const;

/** A result of a preset whose caller said what it is for. */
function drawn(shown: SharedResult["shown"] & object, label = "raffle"): SharedResult {
  const outcome = { ...END, vrfv2Hash: HASH, vrfv2EventHash: "", label } as const;
  return {
    ...COMMON,
    preset: "x",
    title: "Draw winners from a list",
    params: { list: ["a", "b"] },
    shown,
    outcome,
  };
}
const list = (...entries: readonly string[]) => drawn({ as: "list", entries });
const ofFunction = (parsedResult: string, result: `0x${string}` = "0x"): SharedResult => ({
  ...COMMON,
  title: "Function: a price",
  outcome: { ...END, value: parsedResult, parsedResult, result },
});
const ofWords = (...randomNumber: readonly string[]): SharedResult => ({
  ...COMMON,
  outcome: { ...END, transactionHash: HASH, randomNumber: [...randomNumber], value: [...randomNumber] },
});

const wordsOf = (...of: Parameters<typeof createResultPicture>) => createResultPicture(...of)?.words;
const decode = async (...of: Parameters<typeof createResultPicture>) =>
  decodePng(await createResultPicture(...of)!.draw());

describe("the words of a result's picture", () => {
  test("say what it is for, what it is, the result, where it is on chain, and when it was stored", () => {
    expect(wordsOf(list("ann"), PUBLIC)).toBe(
      "raffle – Draw winners from a list: 1 of 2 entries – ann – Signed by the oracle on Avalanche Fuji (public chain), 2026-12-24",
    );
  });

  test.each([
    ["a coin", drawn({ as: "coin", side: "Heads", index: 0 }), "Heads"],
    ["dice", drawn({ as: "dice", rolls: ["4", "17", "33"], hasPips: false }), "4 · 17 · 33"],
    ["names", list("ann b", "bob"), "ann b · bob"],
    ["a text", ofFunction("median  20.6\n"), "median 20.6"],
    ["no text", ofFunction(""), "Empty text"],
    ["bytes that are no text", ofFunction("\uFFFD\0", "0xff00"), "0xff00"],
    ["a random number", ofWords(NUMBER), NUMBER],
    [
      "several",
      ofWords(...Array<string>(5).fill(NUMBER)),
      Array(5)
        .fill(`${NUMBER.slice(0, 35)}…`)
        .join(", "),
    ],
    [
      "letters of Europe",
      list("Žofia Ångström", "Анна", "Οδυσσέας", "Nguyễn"),
      "Žofia Ångström · Анна · Οδυσσέας · Nguyễn",
    ],
    ["letters and their accents apart", list("Zu\u0308rich"), "Zürich"],
    ["hidden characters", list("a\u202Eb"), "a[U+202E]b"],
  ])("show %s", (_, shared, result) => {
    expect(wordsOf(shared, PUBLIC)!.split(" – ").at(-2)).toBe(result);
  });

  test("say that nobody but the operator vouches for a local chain, or one that isn't served", () => {
    expect(wordsOf(list("ann"), LOCAL)).toMatch(
      / – Recorded on Ethereum Sepolia \(local chain\), 2026-12-24$/,
    );
    expect(wordsOf(list("ann"), undefined)).toMatch(/ – Recorded on fuji, 2026-12-24$/);
  });

  test("say of a function that the oracle has signed its result", () => {
    expect(wordsOf(ofFunction("7"), PUBLIC)).toMatch(/ – Signed by the oracle on Avalanche Fuji/);
  });
});

test.each([
  ["has letters that can't be drawn", list("张伟")],
  ["has a name that can't be drawn", drawn({ as: "list", entries: ["ann"] }, "🎄")],
  ["has no entries", list()],
] as [string, Parameters<typeof createResultPicture>[0]][])(
  "there is none of a request that %s",
  (_, shared) => {
    expect(createResultPicture(shared, PUBLIC)).toBeUndefined();
  },
);

test.each([
  [
    "waits",
    {
      id: "req_1",
      state: "waiting",
      why: "it is due at 2026-12-24T18:00:00.000Z",
      kind: "preset",
      label: "raffle",
    },
    "raffle – Preset – Waiting – It is due at 2026-12-24 18:00:00 UTC",
    "#5c6470",
  ],
  [
    "failed on chain",
    { ...ofFunction(""), outcome: { ...ofFunction("").outcome, success: false, err: "no price" } },
    "Function: a price – Failed – no price",
    "#a4262c",
  ],
  [
    "failed before it was on chain",
    { id: "req_1", state: "failed", why: "" },
    "A request that failed before it was on chain – Failed – It isn't on chain: there is no result, and there will be none. What it asked for is not public.",
    "#a4262c",
  ],
] as [string, object, string, string][])(
  "says so of a request that %s, in another color",
  async (_, given, words, color) => {
    const shared = { createdAt: "", shareUrl: "", ...given } as Parameters<typeof createResultPicture>[0];
    expect(wordsOf(shared, PUBLIC)).toBe(words);
    const picture = await decode(shared, PUBLIC);
    expect(picture.count({ x: 300, y: 224, width: 600, height: 264 }).get(color)).toBeGreaterThan(1000);
    expect(picture.count({}).get(ACCENT) ?? 0).toBeLessThan(2000);
  },
);

test("its address names the transaction, so that another result after a reorg has another one", () => {
  expect(createResultPicture(list("ann"), PUBLIC)!.path).toBe(`/r/req_1/preview.png?tx=${HASH}`);
});

test("has the size that link previews have, and the result in large type and the accent color", async () => {
  const picture = await decode(drawn({ as: "coin", side: "Heads", index: 0 }), LOCAL);
  expect([picture.width, picture.height]).toEqual([1200, 630]);
  const result = { x: 300, y: 224, width: 600, height: 264 };
  expect(picture.count(result).get(ACCENT)).toBeGreaterThan(10_000);
  const other = await decode(drawn({ as: "coin", side: "Tails", index: 1 }), LOCAL);
  expect(other.count(result)).not.toEqual(picture.count(result));
  const above = { height: 224 };
  expect(other.count(above)).toEqual(picture.count(above));
});

test("has a tick only on a chain that isn't the operator's own", async () => {
  const below = { y: 520, height: 110 };
  expect((await decode(list("ann"), PUBLIC)).count(below).get(ACCENT)).toBeGreaterThan(50);
  expect((await decode(list("ann"), LOCAL)).count(below).get(ACCENT)).toBeUndefined();
});

test.each([
  ["wide letters", list(...Array<string>(40).fill("W".repeat(60)))],
  ["thousands of entries", list(...Array.from({ length: 5000 }, (_, i) => `Winner ${i}`))],
  ["a text of 24 KB", ofFunction("word ".repeat(5000))],
  ["a word of 24 KB", ofFunction("W".repeat(24_000))],
  ["a long name", drawn({ as: "list", entries: ["ann"] }, "W".repeat(500))],
  ["brackets and accents", ofFunction("Ǻ|Ặ}".repeat(60))],
])("keeps a margin with %s", async (_, shared) => {
  const picture = await decode(shared, { ...PUBLIC, title: "W".repeat(200) });
  const margins = [
    picture.count({ width: 75 }),
    picture.count({ x: 1125, width: 75 }),
    picture.count({ height: 45 }),
    picture.count({ y: 600, height: 30 }),
    // Between the result and what is above and below.
    picture.count({ y: 516, height: 30 }),
  ];
  for (const margin of margins) expect([...margin.keys()]).toEqual([GROUND]);
});
