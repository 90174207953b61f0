import { expect, test } from "vitest";
import { createSteadyCheck } from "../../src/lib/steadyClock.ts";

test("a clock is not steady at first and after it jumped ahead; set back, it is", () => {
  let clock = 1_800_000_000_000;
  const isSteady = createSteadyCheck(() => clock);
  expect(isSteady()).toBe(false);
  expect(isSteady()).toBe(true);
  clock += 30 * 86_400_000;
  expect(isSteady()).toBe(false);
  expect(isSteady()).toBe(true);
  clock -= 30 * 86_400_000;
  expect(isSteady()).toBe(true);
});
