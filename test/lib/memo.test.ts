import { expect, test, vi } from "vitest";
import { createMemo, keepReading, once, remember, shareByKey, shareRunning } from "../../src/lib/memo.ts";

function counted(results: readonly (number | Error)[]) {
  let calls = 0;
  const work = async (): Promise<number> => {
    const result = results[calls]!;
    calls += 1;
    if (result instanceof Error) throw result;
    return result;
  };
  return { work, calls: () => calls };
}

test("a memo begins work once for each key", async () => {
  const memo = createMemo<string>();
  const { work, calls } = counted([1, 2]);
  expect(await Promise.all([memo("a", work), memo("a", work), memo("b", work)])).toEqual([1, 1, 2]);
  expect(calls()).toBe(2);
});

test("a memo keeps a failure", async () => {
  const memo = createMemo<string>();
  const { work, calls } = counted([new Error("first"), 2]);
  await expect(memo("a", work)).rejects.toThrow("first");
  await expect(memo("a", work)).rejects.toThrow("first");
  expect(calls()).toBe(1);
});

test("once keeps even undefined", () => {
  let calls = 0;
  const get = once(() => {
    calls += 1;
  });
  get();
  get();
  expect(calls).toBe(1);
});

test("a key's promise is kept, unless it rejects", async () => {
  const promises = new Map<string, Promise<number>>();
  const { work, calls } = counted([new Error("first"), 2]);
  const get = () => shareByKey(promises, "a", work);
  expect(await Promise.allSettled([get(), get()])).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
  expect(calls()).toBe(2);
});

test("a promise that rejects after it was replaced leaves the other in place", async () => {
  const promises = new Map<string, Promise<number>>();
  const first = Promise.withResolvers<number>();
  const failing = shareByKey(promises, "a", () => first.promise);
  promises.clear();
  const second = shareByKey(promises, "a", async () => 2);
  first.reject(new Error("first"));
  await expect(failing).rejects.toThrow("first");
  expect(promises.get("a")).toBe(second);
});

test("calls share work under way, and begin anew after its end, whichever it was", async () => {
  const { work, calls } = counted([1, new Error("second"), 3]);
  const run = shareRunning(work);
  expect(await Promise.all([run(), run()])).toEqual([1, 1]);
  await expect(run()).rejects.toThrow("second");
  expect(await run()).toBe(3);
  expect(calls()).toBe(3);
});

test("a reading is shared while it is fresh, a failed one is not kept", async () => {
  const { work, calls } = counted([new Error("down"), 2, 3]);
  const read = remember(60_000, work);
  await expect(read()).rejects.toThrow("down");
  expect([await read(), await read()]).toEqual([2, 2]);
  expect(calls()).toBe(2);
  const stale = remember(0, work);
  expect(await stale()).toBe(3);
});

test("a reading of one subject is not given for another", async () => {
  const read = remember(60_000, async (of: string) => `of ${of}`);
  expect([await read("a"), await read("b"), await read("a")]).toEqual(["of a", "of b", "of a"]);
});

test("a kept reading answers at once, and is renewed behind the answer until it is too old", async () => {
  // A whole number: of two fractions, 6,000 and 1,000 ms later, the difference may fall short of 5,000.
  const monotonic = 10_000;
  const clock = vi.spyOn(performance, "now").mockReturnValue(monotonic);
  const { work, calls } = counted([1, 2, new Error("third"), 4]);
  const read = keepReading(work, { freshMs: 1_000, staleMs: 5_000 });
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  expect([await read(), calls()]).toEqual([1, 1]);
  clock.mockReturnValue(monotonic + 1_000);
  expect([await read(), calls()]).toEqual([1, 2]);
  expect(await read()).toBe(2);
  clock.mockReturnValue(monotonic + 6_000);
  await expect(read()).rejects.toThrow("third");
  expect(await read()).toBe(4);
  vi.restoreAllMocks();
});
