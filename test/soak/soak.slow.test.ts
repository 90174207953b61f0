import { expect, test } from "vitest";
import { soak } from "./soak.ts";

test("seconds of kills lose nothing, double nothing and damage nothing", async () => {
  const { accepted, fulfilled, violations } = await soak({
    seconds: 6,
    seed: 7,
    callers: 4,
    say: () => {},
  });
  expect(violations).toEqual([]);
  expect(accepted).toBeGreaterThan(0);
  expect(fulfilled).toBe(accepted);
});
