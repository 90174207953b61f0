import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStageClock, type StageClock } from "../../../src/oracle/node/stageClock.ts";

let clock: StageClock;
const onOver = vi.fn<() => void>();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onOver.mockReset();
  clock = createStageClock();
  clock.onBlock(10n);
});
afterEach(() => {
  vi.useRealTimers();
});

test("a stage is over with the second block after its start", () => {
  clock.start(1, onOver);
  vi.advanceTimersByTime(12_000);
  clock.onBlock(11n);
  vi.advanceTimersByTime(12_000);
  expect(onOver).not.toHaveBeenCalled();
  clock.onBlock(12n);
  expect(onOver).toHaveBeenCalledOnce();
  clock.onBlock(14n);
  expect(onOver).toHaveBeenCalledOnce();
});

test("where blocks come fast, a stage takes two seconds", () => {
  clock.start(1, onOver);
  clock.onBlock(15n);
  vi.advanceTimersByTime(1_998);
  expect(onOver).not.toHaveBeenCalled();
  vi.advanceTimersByTime(3);
  expect(onOver).toHaveBeenCalledOnce();
});

test("where no blocks come, a stage takes 30 seconds", () => {
  clock.start(1, onOver);
  vi.advanceTimersByTime(29_998);
  expect(onOver).not.toHaveBeenCalled();
  vi.advanceTimersByTime(3);
  expect(onOver).toHaveBeenCalledOnce();
});

test("longer stages take so many more blocks, or up to ten minutes", () => {
  clock.start(2, onOver);
  vi.advanceTimersByTime(5_000);
  clock.onBlock(13n);
  expect(onOver).not.toHaveBeenCalled();
  clock.onBlock(14n);
  expect(onOver).toHaveBeenCalledOnce();
  clock.start(2 ** 60, onOver);
  vi.advanceTimersByTime(600_001);
  expect(onOver).toHaveBeenCalledTimes(2);
});

test("earlier blocks with logs that come late don't count, those of another branch do", () => {
  clock.start(1, onOver);
  vi.advanceTimersByTime(3_000);
  clock.onBlock(11n);
  clock.onBlock(10n);
  clock.onReorg(10n);
  clock.onBlock(10n);
  clock.onBlock(11n);
  expect(onOver).not.toHaveBeenCalled();
  clock.onBlock(12n);
  expect(onOver).toHaveBeenCalledOnce();
});

test("a stage that is cancelled is never over", () => {
  clock.start(1, onOver)();
  clock.onBlock(99n);
  vi.advanceTimersByTime(60_000);
  expect(onOver).not.toHaveBeenCalled();
});
