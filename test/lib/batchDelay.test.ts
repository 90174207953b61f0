import { expect, test } from "vitest";
import { batchDelayMs } from "../../src/lib/batchDelay.ts";

test("whoever is alone, or nearly, does not wait", () => {
  expect([0, 1, 2].map(batchDelayMs)).toEqual([0, 0, 0]);
});

test("the wait grows with those that may join, up to 80 ms", () => {
  expect(batchDelayMs(50)).toBeCloseTo(20);
  expect([200, 5_000].map(batchDelayMs)).toEqual([80, 80]);
});
