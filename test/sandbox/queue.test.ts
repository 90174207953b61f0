import { expect, test } from "vitest";
import { createFairQueue } from "../../sandbox/host/queue.ts";

const any = { mayTake: () => true, max: 1, belongs: () => false };

test("callers take turns, each in its own order", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.push(item[0] as string, item);
  const taken = Array.from({ length: 6 }, () => queue.take(any)?.[0]);
  expect(taken).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  expect(queue.take(any)).toBeUndefined();
  expect(queue.size).toBe(0);
});

test("a caller that may not be served keeps its turn and its items", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "b1"]) queue.push(item[0] as string, item);
  expect(queue.take({ ...any, mayTake: (caller) => caller !== "a" })).toEqual(["b1"]);
  expect(queue.take({ ...any, mayTake: (caller) => caller !== "a" })).toBeUndefined();
  expect([queue.size, queue.sizeOf("a"), queue.sizeOf("b")]).toEqual([2, 2, 0]);
  expect(queue.take(any)).toEqual(["a1"]);
});

test("what belongs together is taken together, up to the most allowed", () => {
  const queue = createFairQueue<string>();
  for (const item of ["x1", "x2", "x3", "y1", "x4"]) queue.push("a", item);
  const together = {
    mayTake: () => true,
    max: 2,
    belongs: (first: string, next: string) => first[0] === next[0],
  };
  expect(queue.take(together)).toEqual(["x1", "x2"]);
  expect(queue.take({ ...together, max: 9 })).toEqual(["x3", "x4"]);
  expect(queue.take(together)).toEqual(["y1"]);
  expect(queue.size).toBe(0);
});

test("items leave when they are taken back or all are cleared", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "b1"]) queue.push(item[0] as string, item);
  expect([queue.remove("a", "a1"), queue.remove("a", "a1"), queue.remove("z", "a2")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(queue.clear()).toEqual(["a2", "b1"]);
  expect(queue.size).toBe(0);
});
