import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTokenBuckets } from "../../src/lib/tokenBucket.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("a holder may take a burst, and then so many a second, up to a burst again", () => {
  const buckets = createTokenBuckets({ burst: 3, perSecond: 2 });
  const takeMany = (): number => Array.from({ length: 10 }, () => buckets.take("a")).filter(Boolean).length;
  expect(takeMany()).toBe(3);
  vi.advanceTimersByTime(499);
  expect(takeMany()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(takeMany()).toBe(1);
  vi.advanceTimersByTime(3_600_000);
  expect(takeMany()).toBe(3);
});

test("a look takes nothing, and each holder has a bucket of its own", () => {
  const buckets = createTokenBuckets({ burst: 1, perSecond: 1 });
  expect([buckets.has("a"), buckets.has("a"), buckets.take("a"), buckets.has("a")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(buckets.take("b")).toBe(true);
});

test("strangers without end don't give a holder its tokens back", () => {
  const buckets = createTokenBuckets({ burst: 1, perSecond: 1e-9 });
  buckets.take("offender");
  for (let round = 0; round < 6; round += 1) {
    for (let stranger = 0; stranger < 5_000; stranger += 1) buckets.has(`stranger ${round} ${stranger}`);
    expect(buckets.has("offender"), `after round ${round}`).toBe(false);
  }
});
