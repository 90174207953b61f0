import { expect, test, vi } from "vitest";
import { soakReplicas } from "./soakReplicas.ts";

vi.setConfig({ testTimeout: 900_000 });

test("two replicas lose and double nothing while each trouble strikes once", async () => {
  const { accepted, fulfilled, troubles, violations } = await soakReplicas({
    replicas: 2,
    seconds: 0,
    seed: 7,
    callers: 2,
    say: () => {},
  });
  expect(violations).toEqual([]);
  expect(Object.values(troubles)).toEqual(Array.from({ length: 9 }, () => 1));
  expect(accepted).toBeGreaterThan(0);
  expect(fulfilled).toBe(accepted);
});
