import { expect, test } from "vitest";
import { retry } from "../../src/lib/retry.ts";

/** Returns work that throws these errors one by one, and then succeeds. */
function failing(errors: readonly Error[]): {
  readonly work: () => Promise<string>;
  readonly calls: () => number;
} {
  let calls = 0;
  return {
    work: async () => {
      calls += 1;
      if (calls <= errors.length) throw errors[calls - 1]!;
      return "done";
    },
    calls: () => calls,
  };
}

const [FIRST, SECOND] = [new Error("first"), new Error("second")];

test("work that succeeds is done once", async () => {
  const { work, calls } = failing([]);
  expect(await retry(work, { attempts: 3, pauseMs: () => 0 })).toBe("done");
  expect(calls()).toBe(1);
});

test("pauses by the number of failures, and tells each error before its pause", async () => {
  const { work, calls } = failing([FIRST, SECOND]);
  const steps: unknown[] = [];
  const pauseMs = (failures: number): number => (steps.push(failures), 0);
  expect(await retry(work, { attempts: 3, pauseMs, onRetry: (error) => void steps.push(error) })).toBe(
    "done",
  );
  expect(calls()).toBe(3);
  expect(steps).toEqual([FIRST, 1, SECOND, 2]);
});

test("throws the error of the last attempt", async () => {
  const { work, calls } = failing([FIRST, SECOND]);
  await expect(retry(work, { attempts: 2, pauseMs: () => 0 })).rejects.toBe(SECOND);
  expect(calls()).toBe(2);
});

test("tries nothing again after a final error", async () => {
  const { work, calls } = failing([FIRST, SECOND]);
  const isFinal = (error: unknown): boolean => error === FIRST;
  await expect(retry(work, { attempts: 9, pauseMs: () => 0, isFinal })).rejects.toBe(FIRST);
  expect(calls()).toBe(1);
});

test("a signal ends the pause and the attempts", async () => {
  const { work, calls } = failing([FIRST]);
  const controller = new AbortController();
  const onRetry = (): void => queueMicrotask(() => controller.abort());
  const done = retry(work, { attempts: 2, pauseMs: () => 3_600_000, onRetry, signal: controller.signal });
  await expect(done).rejects.toBe(FIRST);
  expect(calls()).toBe(1);
});

test("what waits for something else counts as no attempt", async () => {
  const { work, calls } = failing([FIRST, FIRST, FIRST, SECOND, FIRST]);
  const isWait = (error: unknown): boolean => error === FIRST;
  expect(await retry(work, { attempts: 2, pauseMs: () => 0, isWait })).toBe("done");
  expect(calls()).toBe(6);
});
