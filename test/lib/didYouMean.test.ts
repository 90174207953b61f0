import { expect, test } from "vitest";
import { didYouMean } from "../../src/lib/didYouMean.ts";

const PRESETS = ["coinflip", "lotto", "nDice", "range"];

test.each([
  ["coinflp", "coinflip"],
  ["conflipp", "coinflip"],
  ["cionflip", "coinflip"],
  ["Ndice", "nDice"],
  ["rnage", "range"],
  ["lott", "lotto"],
])("asks whether %s means %s", (given, name) => {
  expect(didYouMean(given, PRESETS)).toBe(` (did you mean ${name}?)`);
});

test("asks for the nearest of several", () => {
  expect(didYouMean("testC", ["tesAB", "testCD"])).toBe(" (did you mean testCD?)");
});

test.each([["roulette"], ["flip"], [""], ["r".repeat(10_000)], [7], [null]])(
  "asks nothing of %j",
  (given) => {
    expect(didYouMean(given, PRESETS)).toBe("");
  },
);

test("asks for no short name that differs by half of its characters", () => {
  expect(didYouMean("ab", ["ac"])).toBe("");
});
