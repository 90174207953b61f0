import { expect, test } from "vitest";
import { gatherDelayMs } from "../../src/evm/gatherDelay.ts";

test("whoever is alone, or nearly, does not wait", () => {
  expect([0, 1, 2].map(gatherDelayMs)).toEqual([0, 0, 0]);
});

test("the wait grows with those that may join, up to 80 ms", () => {
  expect(gatherDelayMs(50)).toBeCloseTo(20);
  expect([200, 5_000].map(gatherDelayMs)).toEqual([80, 80]);
});
