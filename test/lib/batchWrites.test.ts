import { expect, test } from "vitest";
import { batchWrites } from "../../src/lib/batchWrites.ts";

test("what is given in one turn is written at once, in its order; what comes later is written later", async () => {
  const writes: (readonly number[])[] = [];
  const give = batchWrites<number>(async (items) => {
    writes.push(items);
  });
  await Promise.all([1, 2, 3].map(give));
  expect(writes).toEqual([[1, 2, 3]]);
  await give(4);
  expect(writes).toEqual([[1, 2, 3], [4]]);
});

test("where an error may be one item's alone, the others are written by themselves", async () => {
  const writes: (readonly number[])[] = [];
  const give = batchWrites<number>(
    async (items) => {
      writes.push(items);
      if (items.includes(2)) throw new Error("2 is taken");
    },
    (error) => (error as Error).message === "2 is taken",
  );
  expect((await Promise.allSettled([1, 2, 3].map(give))).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(writes).toEqual([[1, 2, 3], [1], [2], [3]]);
  await expect(give(2)).rejects.toThrow("2 is taken");
  expect(writes).toHaveLength(5);
});

test("all of a turn are refused with what the write rejects with, and the next turn is written", async () => {
  let isBroken = true;
  const give = batchWrites<number>(async () => {
    if (isBroken) throw new Error("the disk is full");
  });
  const outcomes = await Promise.allSettled([1, 2].map(give));
  expect(outcomes).toEqual(
    outcomes.map(() => ({ status: "rejected", reason: new Error("the disk is full") })),
  );
  isBroken = false;
  await expect(give(3)).resolves.toBeUndefined();
});
