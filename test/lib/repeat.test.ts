import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { repeat } from "../../src/lib/repeat.ts";

const INTERVAL_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("work is done after each interval, until it is stopped", async () => {
  const work = vi.fn<() => Promise<void>>(async () => {});
  const stop = repeat(work, INTERVAL_MS, () => {});
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
  await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS);
  expect(work).toHaveBeenCalledTimes(2);
});

test("work that starts now is done again once it is over, never beside itself", async () => {
  const first = Promise.withResolvers<void>();
  const work = vi.fn<() => Promise<void>>(() => first.promise);
  const stop = repeat(work, INTERVAL_MS, () => {}, { startsNow: true });
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(5 * INTERVAL_MS);
  expect(work).toHaveBeenCalledTimes(1);
  first.resolve();
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});

test("work that fails is reported, and done again", async () => {
  const errors: unknown[] = [];
  const work = vi.fn<() => Promise<void>>(() => Promise.reject(new Error("not now")));
  const stop = repeat(work, INTERVAL_MS, (error) => errors.push(error), { startsNow: true });
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(errors).toEqual([new Error("not now"), new Error("not now")]);
  stop();
});
