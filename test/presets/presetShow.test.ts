import { describe, expect, test } from "vitest";
import { takeApart, type PresetShow } from "../../src/presets/presetShow.ts";

describe("a coin", () => {
  const coin = { as: "coin", sides: ["Tails", "Heads"] } as const;
  test.each([
    ["0", { as: "coin", side: "Tails", index: 0 }],
    ["1", { as: "coin", side: "Heads", index: 1 }],
    ["2", undefined],
    ["", undefined],
  ])("default: %j", (result, shown) => {
    expect(takeApart(coin, result, {})).toEqual(shown);
  });
});

describe("dice", () => {
  const dice: PresetShow = { as: "dice", faces: "numFaces" };
  test.each([
    ["[3,1]", { numFaces: "6" }, { as: "dice", rolls: ["3", "1"], hasPips: true }],
    ["[17]", { numFaces: "20" }, { as: "dice", rolls: ["17"], hasPips: false }],
    ["[7,0]", { numFaces: "6" }, { as: "dice", rolls: ["7", "0"], hasPips: false }],
    // The parameters were deleted.
    ["[3]", {}, { as: "dice", rolls: ["3"], hasPips: false }],
    ["[]", { numFaces: "6" }, undefined],
    ["[1,]", { numFaces: "6" }, undefined],
    ["[-1]", { numFaces: "6" }, undefined],
  ])("default: %s of %j", (result, params, shown) => {
    expect(takeApart(dice, result, params)).toEqual(shown);
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
  ])("default: %s of %j", (result, params, entries) => {
    expect(takeApart(list, result, params)).toEqual(entries && { as: "list", entries });
  });

  test("default: without a count, every separator ends an entry", () => {
    expect(takeApart({ as: "list", separator: "|" }, "a|b", {})).toEqual({ as: "list", entries: ["a", "b"] });
  });
});
