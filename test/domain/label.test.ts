import { describe, expect, test } from "vitest";
import {
  canonicalLabel,
  describeDraws,
  describeLabel,
  findLabelProblem,
  nameLabel,
  spelledLabel,
} from "../../src/domain/label.ts";

describe("canonicalLabel", () => {
  test.each([
    ["raffle-2026-12-24", "raffle-2026-12-24"],
    ["  Raffle \t one ", "raffle one"],
    ["Ä", "ä"],
    ["A\u0308", "ä"],
    ["ﬁnal", "final"],
    ["１２", "12"],
    ["İ", "i̇"],
    ["a\u00a0b", "a b"],
    ["❤️ ™\ufe0f ℹ\ufe0f\u0308", "❤ tm ï"],
  ])("%j stands as %j", (given, canonical) => {
    expect(canonicalLabel(given)).toBe(canonical);
    expect(canonicalLabel(canonical)).toBe(canonical);
  });
});

test.each([
  ["a", undefined],
  ["x".repeat(100), undefined],
  ["🎲".repeat(100), undefined],
  ["", "must have 1 to 100 characters; got 0"],
  [" \u3000 ", "must have 1 to 100 characters; got 0"],
  ["x".repeat(101), "must have 1 to 100 characters; got 101"],
  ["e\u0323\u0302".repeat(100), undefined],
  ["a\u202eb", "must not have characters that nobody sees, such as U+202E"],
  ["a\u200bb", "must not have characters that nobody sees, such as U+200B"],
  ["a\u1160", "must not have characters that nobody sees, such as U+1160"],
  ["a\ufe0f", "must not have characters that nobody sees, such as U+FE0F"],
  ["❤️", undefined],
  ["a\u0000", "must not have characters that nobody sees, such as U+0000"],
  ["a\nb", "must not have characters that nobody sees, such as U+000A"],
  ["a\tb", "must not have characters that nobody sees, such as U+0009"],
])("findLabelProblem(%j) is %j", (label, problem) => {
  expect(findLabelProblem(label)).toBe(problem);
});

test.each([
  ["Summer  Raffle", "Summer  Raffle"],
  ["Winter raffle", "summer raffle"],
  [undefined, "summer raffle"],
])("spelledLabel shows %j as %j, as it is on chain or reads as that", (givenLabel, shown) => {
  expect(spelledLabel({ label: "summer raffle", givenLabel })).toBe(shown);
});

test("findLabelProblem doesn't normalise what is far too long, which would take hours", () => {
  expect(findLabelProblem("\u0301\u0316".repeat(1_000_000))).toBe(
    "must have 1 to 100 characters; got 2000000 UTF-16 code units",
  );
});

test("describeLabel says whether a draw is the only one, and where that was looked for", () => {
  const draws = ["0xa1", "0xb2", "0xc3"].map((transactionHash, i) => ({
    transactionHash,
    blockNumber: `${i + 5}`,
  }));
  const whole = { from: "0", to: "9", codeFrom: "0", omits: false, isWhole: true, provenFrom: "0" };
  const found = { dapp: "dapp_1", label: 'a "b"', searched: whole };
  expect(describeLabel({ ...found, draw: 1, draws: draws.slice(1, 2) })).toBe(
    String.raw`"a \"b\"" of dapp_1: the dapp's first request with this label, and the only one that the node lists (blocks 0 to 9; block hashes show that none is left out in 0 to 6).`,
  );
  for (const provenFrom of [null, "5"])
    expect(
      describeLabel({
        ...found,
        draw: 1,
        draws: draws.slice(1, 2),
        searched: { ...whole, provenFrom },
      }),
    ).toContain("dapp_1: of those that the node lists, no other has this label (blocks 0 to 9; ");
  expect(describeLabel({ ...found, draw: 2, draws, searched: { ...whole, provenFrom: null } })).toContain(
    "dapp_1: of those that the node lists, request 2 of 3 with this label, the others: 0xa1, 0xc3 (blocks 0 to 9; ",
  );
  const searched = { ...whole, from: "5", isWhole: false, provenFrom: null };
  expect(describeLabel({ ...found, draw: 2, draws, searched })).toBe(
    '"a \\"b\\"" of dapp_1: of those in blocks 5 to 9, request 2 of 3 with this label, the others: 0xa1, 0xc3 (other blocks were not searched; that none is left out is the node\'s word).',
  );
  expect(describeLabel({ ...found, draw: 1, draws, searched: { ...searched, from: "6" } })).toContain(
    "of those in blocks 6 to 9 and 5, request 1 of 3 with this label, the others",
  );
  const alone = { ...found, draw: 1, draws: draws.slice(1, 2) };
  expect(describeLabel({ ...alone, searched })).toContain(
    "dapp_1: of those in blocks 5 to 9, no other has this label (other blocks were not searched; ",
  );
  expect(describeLabel({ ...alone, searched: { ...searched, omits: true } })).toContain(
    "(not all requests in them may be listed; ",
  );
  expect(describeLabel({ ...alone, searched: { ...searched, codeFrom: null } })).toContain(
    "(other blocks were not searched, and the node doesn't show that the contract had no code before its deployment; ",
  );
  expect(
    describeLabel({ ...alone, searched: { ...whole, from: "5", codeFrom: "5", provenFrom: "5" } }),
  ).toContain(
    "the dapp's first request with this label, and the only one that the node lists (blocks 5 to 9; before, the contract had no code, says the node; ",
  );
  const unread = { ...searched, to: "4" };
  expect(describeLabel({ ...found, draw: 1, draws: draws.slice(1, 2), searched: unread })).toContain(
    "of those that are known, no other has this label (no block was searched; ",
  );
  expect(describeLabel(null)).toContain("picked from many");
});

test("a label that is read otherwise than it was given says how", () => {
  expect(nameLabel("raffle 1")).toBe('"raffle 1"');
  expect(nameLabel("Raffle  1")).toBe('"Raffle  1", read as "raffle 1",');
});

test.each([
  [1, { isWhole: true }, "The only draw with this label that this node knows."],
  [
    2,
    { isWhole: true },
    "2 draws bear this label, of those that this node knows; this is the first, the other is in 0x1.",
  ],
  [
    7,
    { isWhole: false },
    "7 draws bear this label, of those in the blocks that were searched; this is the first, the others are in 0x1, 0x2, 0x3, 0x4, 0x5, and 1 more.",
  ],
  [2, { isWhole: false, from: "10" }, "2 draws bear this label; this is the first, the other is in 0x1."],
  [1, { isWhole: false }, "The only draw with this label in the blocks that were searched."],
  [1, { isWhole: false, from: "10" }, "The only draw with this label that is known: no block was searched."],
])("describeDraws, for players, of %d draws, searched %j: %s", (count, searched, words) => {
  const draws = Array.from({ length: count }, (_, i) => ({ transactionHash: `0x${i}`, blockNumber: "5" }));
  const all = { from: "0", to: "9", codeFrom: "0", omits: false, provenFrom: null };
  const found = { dapp: "dapp_1", label: "a", draw: 1, draws, searched: { ...all, ...searched } };
  expect(describeDraws(found, "preset")).toBe(words);
});

test("describeDraws calls a function a request", () => {
  const searched = { from: "0", to: "9", codeFrom: "0", omits: false, provenFrom: null, isWhole: true };
  const found = (draws: readonly object[]) =>
    ({ dapp: "dapp_1", label: "a", draw: 1, draws, searched }) as Parameters<typeof describeDraws>[0];
  const [one, two] = [1, 2].map((i) => ({ transactionHash: `0x${i}`, blockNumber: "5" }));
  expect(describeDraws(found([one!]), "function")).toBe(
    "The only request with this label that this node knows.",
  );
  expect(describeDraws(found([one!, two!]), "function")).toMatch(/^2 requests bear this label, /);
});
