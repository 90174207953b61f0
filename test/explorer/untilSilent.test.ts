import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { untilSilent } from "../../src/explorer/untilSilent.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<string>(() => {});
const silent = () => new Error("silent");

test("work on a node that doesn't answer is given up after 2.5 seconds", async () => {
  const ended = untilSilent(never, () => true, silent).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(2_499);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await ended).toBe("silent");
  expect(vi.getTimerCount()).toBe(0);
});

test("work on a node that is slow, or answers between two looks, takes as long as it takes", async () => {
  let looks = 0;
  const slow = new Promise<string>((resolve) => setTimeout(resolve, 60_000, "done"));
  const ended = untilSilent(slow, () => ++looks % 2 === 0, silent);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await ended).toBe("done");
});

test("what becomes of work that was given up is nobody's concern", async () => {
  const failing = new Promise<string>((_resolve, reject) => setTimeout(reject, 60_000, new Error("late")));
  const ended = untilSilent(failing, () => true, silent).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await ended).toBe("silent");
});
