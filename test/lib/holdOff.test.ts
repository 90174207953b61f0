import { expect, test } from "vitest";
import { createHoldOff } from "../../src/lib/holdOff.ts";

test("after a failure the same error comes back without a try, for twice as long each time", async () => {
  let now = 0;
  let tries = 0;
  const holdOff = createHoldOff({ now: () => now });
  const fail = () =>
    holdOff("a", async () => {
      tries += 1;
      throw new Error(`try ${tries}`);
    });
  const triedAt: number[] = [];
  for (; now < 200_000; now += 500) {
    const before = tries;
    await expect(fail()).rejects.toThrow(/^try \d+$/);
    if (tries > before) triedAt.push(now / 1000);
  }
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
});

test("another key is not held off, and a success ends it", async () => {
  let now = 0;
  const holdOff = createHoldOff({ now: () => now });
  const fail = () => holdOff("a", () => Promise.reject(new Error("no")));
  await expect(fail()).rejects.toThrow("no");
  expect(await holdOff("b", async () => 1)).toBe(1);
  now = 1_000;
  expect(await holdOff("a", async () => 2)).toBe(2);
  await expect(fail()).rejects.toThrow("no");
  now = 2_000;
  expect(await holdOff("a", async () => 3)).toBe(3);
});

test("what costs nothing is tried again after a second each time", async () => {
  let now = 0;
  let tries = 0;
  const holdOff = createHoldOff({ now: () => now, isFree: () => true });
  for (; now <= 5_000; now += 500)
    await holdOff("a", () => Promise.reject(new Error(`try ${(tries += 1)}`))).catch(() => {});
  expect(tries).toBe(6);
});
