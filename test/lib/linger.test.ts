import { expect, test } from "vitest";
import { lingerMs } from "../../src/lib/linger.ts";

test("default: whoever is alone, or nearly, does not wait", () => {
  expect([0, 1, 2].map(lingerMs)).toEqual([0, 0, 0]);
});

test("behaviour: the wait grows with those that may join, up to 80 ms", () => {
  expect(lingerMs(50)).toBeCloseTo(20);
  expect([200, 5_000].map(lingerMs)).toEqual([80, 80]);
});
