import { expect, test } from "vitest";
import { createFairQueue } from "../../../src/requests/dispatch/dispatcher.ts";

test("one caller's items keep their order", () => {
  const queue = createFairQueue<number>();
  for (const item of [1, 2, 3]) queue.add("a", item);
  expect(queue.take(2)).toEqual([1, 2]);
  expect([queue.size, queue.take(9), queue.size]).toEqual([1, [3], 0]);
});

test("callers take turns, whoever came first and however many items each has", () => {
  const queue = createFairQueue<string>();
  for (let i = 0; i < 100; i += 1) queue.add("a", `a${i}`);
  queue.add("b", "b0");
  queue.add("b", "b1");
  queue.add("c", "c0");
  expect(queue.take(4)).toEqual(["a0", "b0", "c0", "a1"]);
  queue.add("c", "c1");
  expect(queue.take(4)).toEqual(["b1", "a2", "c1", "a3"]);
  expect(queue.size).toBe(96);
});
