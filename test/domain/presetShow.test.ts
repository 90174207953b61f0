import { describe, expect, test } from "vitest";
import { readValue, takeApart, type PresetShow } from "../../src/domain/presetShow.ts";

test("without show, the text is the value", () => {
  expect(readValue(undefined, "-5", {})).toBe("-5");
  expect(takeApart(undefined, "-5", {})).toBeUndefined();
});

describe("a coin", () => {
  const coin = { as: "coin", sides: ["Tails", "Heads"] } as const;
  test.each([
    ["0", false, { as: "coin", side: "Tails", index: 0 }],
    ["1", true, { as: "coin", side: "Heads", index: 1 }],
    ["2", undefined, undefined],
    ["", undefined, undefined],
  ])("%j", (result, value, shown) => {
    expect(readValue(coin, result, {})).toBe(value);
    expect(takeApart(coin, value, {})).toEqual(shown);
  });
});

describe("dice", () => {
  const dice: PresetShow = { as: "dice", faces: "numFaces" };
  test.each([
    ["[3,1]", { numFaces: "6" }, [3, 1], { as: "dice", rolls: ["3", "1"], hasPips: true }],
    ["[17]", { numFaces: "20" }, [17], { as: "dice", rolls: ["17"], hasPips: false }],
    ["[7,0]", { numFaces: "6" }, [7, 0], { as: "dice", rolls: ["7", "0"], hasPips: false }],
    // The parameters were deleted.
    ["[3]", {}, [3], { as: "dice", rolls: ["3"], hasPips: false }],
    // The last whole number that JSON readers don't round, and the first that they do.
    [
      "[9007199254740991,9007199254740992]",
      {},
      [9007199254740991, "9007199254740992"],
      { as: "dice", rolls: ["9007199254740991", "9007199254740992"], hasPips: false },
    ],
    ["[]", { numFaces: "6" }, undefined, undefined],
    ["[1,]", { numFaces: "6" }, undefined, undefined],
    ["[-1]", { numFaces: "6" }, undefined, undefined],
  ])("%s of %j", (result, params, value, shown) => {
    expect(readValue(dice, result, params)).toEqual(value);
    expect(takeApart(dice, value, params)).toEqual(shown);
  });
});

describe("a list", () => {
  const list: PresetShow = { as: "list", before: "Winners: ", separator: ", ", count: "numberOfWinners" };
  test.each([
    ["Winners: Cy, Bob", { numberOfWinners: "2" }, ["Cy", "Bob"]],
    ["Winners: Cy", { numberOfWinners: "1" }, ["Cy"]],
    ["Winners: ", { numberOfWinners: "1" }, [""]],
    // An entry contains the separator, so the entries are ambiguous.
    ["Winners: é, ✓, x", { numberOfWinners: "2" }, undefined],
    ["Winners: Cy, Bob", {}, undefined],
    ["Losers: Cy", { numberOfWinners: "1" }, undefined],
  ])("%s of %j", (result, params, entries) => {
    expect(readValue(list, result, params)).toEqual(entries);
    expect(takeApart(list, entries, params)).toEqual(entries && { as: "list", entries });
  });

  test("without a count, every separator ends an entry", () => {
    expect(readValue({ as: "list", separator: "|" }, "a|b", {})).toEqual(["a", "b"]);
  });
});

describe("a list drawn from another", () => {
  const draw: PresetShow = { as: "list", separator: ", ", count: "n", from: "list" };
  test.each([
    ["Cy, Bob", { n: "2", list: ["Ann", "Bob", "Cy"] }, ["Cy", "Bob"]],
    ["é, ✓, x", { n: "2", list: ["x", "x", "é, ✓"] }, ["é, ✓", "x"]],
    ["x, x", { n: "2", list: ["x", "x", "x, x"] }, ["x", "x"]],
    ["x, x", { n: "1", list: ["x", "x", "x, x"] }, ["x, x"]],
    // The only other way would use the single ticket `a` twice.
    ["a, a, b", { n: "2", list: ["a", "a, b", "a, a", "b, c"] }, ["a", "a, b"]],
    [", , ", { n: "3", list: ["", "", ""] }, ["", "", ""]],
    ["a, ,  b", { n: "3", list: [" b", "a", ""] }, ["a", "", " b"]],
    ["a,, b", { n: "2", list: ["a,", "b"] }, ["a,", "b"]],
    ["a, b, c", { n: "2", list: ["a", "b, c", "a, b", "c"] }, undefined],
    ["Dee", { n: "1", list: ["Ann"] }, undefined],
    ["a, a", { n: "2", list: ["a", "b"] }, undefined],
    // The parameters were deleted.
    ["Cy", { n: "1" }, undefined],
  ])("%s of %j", (result, params, entries) => {
    expect(readValue(draw, result, params)).toEqual(entries);
  });

  test("as many short entries as fit a result are told apart", () => {
    const entries = Array.from({ length: 300 }, (_, i) => String(i % 10));
    const params = { n: "300", list: [...entries, "1, 2, 3"] };
    // 1, 2, 3 is one entry only if two others are missing.
    expect(readValue(draw, entries.join(", "), params)).toEqual(entries);
  });

  test("the search through a list made to be slow is given up", () => {
    // Every way to group 24 entries fits but for the last one.
    const entry = (length: number): string => Array.from({ length }, () => "a").join(", ");
    const lists = Array.from({ length: 24 }, (_, i) => Array.from({ length: 24 }, () => entry(i + 1)));
    const params = { n: "12", list: lists.flat() };
    expect(readValue(draw, `${entry(24)}, b`, params)).toBeUndefined();
  });
});
