import { expect, test } from "vitest";
import { describeMissingSubscription } from "../../../../src/browser/application/parts/missingSubscription.ts";

test.each([
  [true, "serving", "can't be read now"],
  [true, "unavailable", "can't be read now"],
  [false, "serving", "not created yet"],
  [false, undefined, "not created yet"],
  [false, "starting", "created once the network is serving"],
  [false, "unavailable", "created once the network is serving"],
] as const)("created %s, network %s: %s", (isCreated, status, text) => {
  expect(describeMissingSubscription({ isCreated, status })).toBe(text);
});
